"""Reads the Terraform files of a stack by directory, each once: what each module declares, before anything is evaluated."""

import json
import posixpath
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tree_sitter import Node

from gateway.core.errors import CodeInvalid
from gateway.terraform.config.listings import Asked, Listing, asked_listings, read_listings
from gateway.terraform.config.templates import read_templates, template_names
from gateway.terraform.file_tree import DEFAULT_WORKSPACE, EditedFiles, FileTree, file_tree, read_workspace
from gateway.terraform.json_syntax.view import parse_json
from gateway.terraform.lang.expression import LiteralValue, bare
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document, file_bytes, parse

Kept = dict[tuple[Path, bytes], Document]
_KEPT: ContextVar[Kept | None] = ContextVar("documents that were parsed", default=None)


@contextmanager
def parsed_once() -> Iterator[None]:
    """Until the block ends, a file is parsed only once, in all tasks and threads that the block starts.

    Documents are kept by name and bytes and never change, so a file with other bytes is another document.
    """
    token = _KEPT.set({}) if _KEPT.get() is None else None
    try:
        yield
    finally:
        if token is not None:
            _KEPT.reset(token)


def parsed(path: Path, source: bytes) -> Document:
    """The document of a file. Raises `CodeInvalid`."""
    kept = _KEPT.get()
    if kept is None:
        return parse(path, source)
    found = kept.get((path, source))
    if found is None:
        found = kept[path, source] = parse(path, source)
    return found


DIRECTORY = ".terraform/modules"
_MANIFEST = "modules.json"
_LOCAL = ("./", "../")


def read_downloaded(files: FileTree) -> Mapping[str, Mapping[str, str]]:
    """The directory of each downloaded module, relative to the root: by the directory of its caller, then by the call's name.

    Empty if nothing was downloaded. A module is only found while its files are there. Raises `errors.CodeInvalid`.
    """
    if _MANIFEST not in files.names(DIRECTORY):
        return {}
    try:
        entries = json.loads(files.read(f"{DIRECTORY}/{_MANIFEST}"))["Modules"]
        rows = {str(entry["Key"]): (str(entry.get("Source", "")), _directory(entry)) for entry in entries}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = (
            f"{DIRECTORY}/{_MANIFEST}:1: The list of downloaded modules cannot be read; run `terraform init` again."
        )
        raise CodeInvalid(message) from error
    found: dict[str, dict[str, str]] = {}
    for key, (source, directory) in rows.items():
        caller, _, name = key.rpartition(".")
        if key and caller in {"", *rows} and not source.startswith(_LOCAL) and any(files.names(directory)):
            found.setdefault(rows[caller][1] if caller else ".", {})[name] = directory
    return found


def _directory(entry: Mapping[str, Any]) -> str:
    """Where a module is, seen from the root; terraform names a data directory elsewhere by its own path."""
    directory, key = posixpath.normpath(str(entry["Dir"])), str(entry["Key"])
    _, found, rest = directory.partition(f"/modules/{key}") if key else ("", "", "")
    return posixpath.join(DIRECTORY, f"{key}{rest}") if found else directory


_DEPTH = 40
_CODE = (".tf", ".tf.json")
_OVERRIDE = re.compile(r"(.*_)?override\.tf(\.json)?")
_LABELS = {"variable": 2, "output": 2, "module": 2, "provider": 2, "resource": 3, "data": 3}

Declared = tuple[Document, Node]
Overriding = tuple[Declared, frozenset[str]]
"""A block, with the names of its arguments and nested blocks."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Source:
    """One directory of Terraform files."""

    directory: str
    """Relative to the stack's root, with `/`; `.` for the root itself."""
    documents: Mapping[Path, Document] = field(default_factory=dict)
    """Every file of code read, by path relative to the root."""
    variables: Mapping[str, Declared] = field(default_factory=dict)
    """`variable` blocks."""
    locals: Mapping[str, Declared] = field(default_factory=dict)
    """Attributes inside `locals` blocks."""
    resources: Mapping[str, Declared] = field(default_factory=dict)
    """`resource` blocks by `type.name`."""
    data: Mapping[str, Declared] = field(default_factory=dict)
    """`data` blocks by `type.name`."""
    calls: Mapping[str, Declared] = field(default_factory=dict)
    """`module` blocks."""
    outputs: Mapping[str, Declared] = field(default_factory=dict)
    """`output` blocks."""
    providers: tuple[Declared, ...] = ()
    """`provider` blocks."""
    given: Mapping[str, Declared] = field(default_factory=dict)
    """Values of variables from tfvars files, only the one in effect."""
    overrides: tuple[Document, ...] = ()
    """Override files."""
    overriding: "Mapping[tuple[str, ...], tuple[Overriding, ...]]" = field(default_factory=dict)
    """The blocks of override files by the header of the block that they change, in Terraform's order."""
    downloaded: Mapping[str, str] = field(default_factory=dict)
    """The directories of called modules that are not local, by the call's name, where `terraform init` downloaded them."""
    workspace: str = DEFAULT_WORKSPACE
    """The Terraform workspace."""
    contents: Mapping[Path, bytes] = field(default_factory=dict)
    """The bytes of every Terraform file of the directory, as they were read."""
    templates: Mapping[Path, bytes] = field(default_factory=dict)
    """The bytes of the templates that the directory names, by path relative to the root."""
    listings: Mapping[Asked, Listing] = field(default_factory=dict)
    """What its calls of `fileset` find."""

    @property
    def texts(self) -> Iterator[bytes]:
        """The HCL of every file that the directory's documents come from."""
        return (document.source for document in self._every())

    def texts_of(self, paths: Collection[Path]) -> Iterator[bytes]:
        """The HCL of those files."""
        return (document.source for document in self._every() if document.path in paths)

    def _every(self) -> Iterator[Document]:
        given = {document.path: document for document, _ in self.given.values()}
        return iter((*self.documents.values(), *self.overrides, *given.values()))

    def overridden_in(self, header: tuple[str, ...]) -> frozenset[str]:
        """Names of attributes and blocks that an override file sets in the block with this header."""
        return frozenset[str]().union(*(names for _, names in self.overriding.get(header, ())))

    def holder(self, declared: Declared, name: str) -> Declared:
        """The block that sets an argument or the nested blocks of one type in a declared block: itself, or the last override of it that names them."""
        blocks = self.overriding.get(declared[0].header(declared[1]), ()) if self.overriding else ()
        return next((block for block, names in reversed(blocks) if name in names), declared)

    def argument(self, declared: Declared, name: str) -> Declared | None:
        """An argument of a declared block with the document that sets it; None if none does."""
        document, block = self.holder(declared, name)
        found = document.attributes(block).get(name)
        return None if found is None else (document, found)

    def layers(self, declared: Declared) -> "Iterator[Overriding]":
        """A declared block and the overrides of it, each with the names that it sets for good. For the block itself these are all that are left."""
        later = frozenset[str]()
        blocks = self.overriding.get(declared[0].header(declared[1]), ()) if self.overriding else ()
        for block, names in reversed(blocks):
            yield block, names - later
            later |= names
        yield declared, names_in_block(*declared) - later

    def called_directory(self, name: str) -> str | None:
        """The directory of a called module relative to the root; None if it is neither local nor downloaded."""
        document, block = self.calls[name]
        attribute = document.attributes(block).get("source")
        written = None if attribute is None else bare(read_attribute(document, attribute))
        if not isinstance(written, LiteralValue) or not isinstance(written.value, str):
            return None
        if "source" in self.overridden_in(("module", name)):
            return None
        if not written.value.startswith(("./", "../")):
            return self.downloaded.get(name)
        return posixpath.normpath(posixpath.join(self.directory, written.value))


def load_sources(
    root: Path | FileTree, overlay: Mapping[Path, bytes], known: Mapping[Path, Document]
) -> dict[str, Source]:
    """The root's directory (`.`) and those of all local modules it calls. Raises `CodeInvalid`.

    A document in `known` is reused if its file still has the same bytes.
    """
    files = _Files(file_tree(root), overlay, known)
    loaded: dict[str, Source] = {}
    edited = EditedFiles(files.base, {posixpath.normpath(path.as_posix()): each for path, each in overlay.items()})
    downloaded = read_downloaded(files.base)
    workspace = read_workspace(files.base)
    todo = ["."]
    while todo:
        directory = todo.pop()
        if directory in loaded:
            continue
        if directory.count("/") > _DEPTH:
            raise CodeInvalid(f"{directory}: The modules are nested too deeply; nothing was read.")
        read = _load_directory(files, directory)
        listings = read_listings(edited, directory, read.texts)
        templates = read_templates(files.base, overlay, directory, read.texts, listings)
        source = replace(
            read,
            downloaded=downloaded.get(directory, {}),
            workspace=workspace,
            templates=templates,
            listings=listings,
        )
        loaded[directory] = source
        for name, (document, block) in source.calls.items():
            called = source.called_directory(name)
            if called is not None:
                if not any(files.names(called)):
                    raise CodeInvalid(
                        f"{document.at(block)}: The module {name} should be in {called}, but no Terraform file is there."
                    )
                todo.append(called)
    _refuse_cycles(loaded)
    return loaded


def sources_after_edit(sources: Mapping[str, Source], files: Mapping[Path, Document]) -> Mapping[str, Source] | None:
    """The directories of some files after these were changed or added, their other files as they were read.

    None if no source has one of the directories, or if its modules are called from other directories now, or if templates and data files
    change or come. Raises `CodeInvalid`.
    """
    if any(
        each.is_data or any(path in source.templates for source in sources.values()) for path, each in files.items()
    ):
        return None
    by_directory: dict[str, dict[Path, Document]] = {}
    for path, document in files.items():
        by_directory.setdefault(posixpath.normpath(path.parent.as_posix()), {})[path] = document
    changed: dict[str, Source] = {}
    for directory, own in by_directory.items():
        after = _changed_source(sources[directory], own) if directory in sources else None
        if after is None:
            return None
        changed[directory] = after
    return changed


def _changed_source(before: Source, changed: Mapping[Path, Document]) -> Source | None:
    contents = {**before.contents, **{path: file_bytes(document) for path, document in changed.items()}}
    known = {**before.documents, **_given_documents(before), **changed}
    after = replace(
        _load_directory(_Files(_Read(contents), {}, known), before.directory),
        downloaded=before.downloaded,
        workspace=before.workspace,
        templates=before.templates,
        listings=before.listings,
    )
    return after if _called(after) == _called(before) and _same_templates(before, after, changed) else None


def _same_templates(before: Source, after: Source, paths: Collection[Path]) -> bool:
    """Whether a directory names the templates that it named before; its other files are only looked at if the changed ones do not."""
    was, now = (_named(before.directory, list(each.texts_of(paths))) for each in (before, after))
    return was == now or _named(before.directory, list(before.texts)) == _named(before.directory, list(after.texts))


def _named(directory: str, texts: Collection[bytes]) -> tuple[frozenset[str], frozenset[Asked]]:
    return template_names(directory, texts), asked_listings(directory, texts)


def _called(source: Source) -> Mapping[str, str | None]:
    return {name: source.called_directory(name) for name in source.calls}


def _given_documents(source: Source) -> Mapping[Path, Document]:
    return {document.path: document for document, _ in source.given.values()}


@dataclass(frozen=True, slots=True)
class _Read:
    """The files of one directory, in memory."""

    contents: Mapping[Path, bytes]

    def check(self) -> None:
        """Nothing: the directory was read before."""

    def names(self, directory: str) -> Collection[str]:  # noqa: ARG002  there is only one directory
        """The names of the files."""
        return [path.name for path in self.contents]

    def folders(self, directory: str) -> Collection[str] | None:  # noqa: ARG002  there is only one directory
        """None: only the files were read."""
        return None

    def read(self, path: str) -> bytes:
        """The bytes of a file."""
        return self.contents[Path(path)]

    def small(self, path: str, most: int) -> bytes | None:
        """The bytes of a file that is not large; None if there is none."""
        content = self.contents.get(Path(path))
        return None if content is None or len(content) > most else content


_DEEPEST = 100
"""Modules around a module."""


def _refuse_cycles(loaded: Mapping[str, Source]) -> None:
    """Raise `CodeInvalid` if a module calls itself, directly or not, or if calls are nested more than `_DEEPEST` levels deep.

    Each directory is looked at once, however often it is called: where calls below it end once, they always do.
    """
    heights: dict[str, int] = {}
    """How many levels of calls each directory has below it."""

    def visit(directory: str, above: tuple[str, ...]) -> int:
        height = 0
        for name, (document, block) in loaded[directory].calls.items():
            called = loaded[directory].called_directory(name)
            if called in (*above, directory):
                raise CodeInvalid(f"{document.at(block)}: The module {name} calls itself.")
            if called is None:
                continue
            if called not in heights:
                heights[called] = visit(called, (*above, directory)) if len(above) < _DEEPEST else 0
            height = max(height, 1 + heights[called])
            if len(above) + height > _DEEPEST:
                raise CodeInvalid(
                    f"{document.at(block)}: The modules call each other more than {_DEEPEST} levels deep, so they were not read."
                )
        return height

    visit(".", ())


@dataclass(frozen=True, slots=True)
class _Files:
    """The files of a stack; those in the overlay replace or add to them."""

    base: FileTree
    overlay: Mapping[Path, bytes]
    known: Mapping[Path, Document]

    def names(self, directory: str) -> Iterator[str]:
        """Names of the Terraform files in a directory, of the stack or in the overlay."""
        overlaid = {path.name for path in self.overlay if posixpath.normpath(path.parent.as_posix()) == directory}
        for name in sorted({*self.base.names(directory), *overlaid}):
            ignored = name.startswith(".") or name.endswith("~") or (name.startswith("#") and name.endswith("#"))
            if not ignored and name.endswith((".tf", ".tf.json", ".tfvars", ".tfvars.json")):
                yield name

    def read(self, path: Path) -> bytes:
        """The bytes of a file. Raises `CodeInvalid`."""
        for overlaid, source in self.overlay.items():
            if posixpath.normpath(overlaid.as_posix()) == path.as_posix():
                return source
        return self.base.read(path.as_posix())

    def document(self, path: Path) -> Document:
        """The document of a file. Raises `CodeInvalid`."""
        source = self.read(path)
        known = self.known.get(path)
        if known is not None and file_bytes(known) == source:
            return known
        return parse_json(path, source) if path.suffix == ".json" else parsed(path, source)


def _load_directory(files: _Files, directory: str) -> Source:
    paths = [Path(posixpath.normpath(posixpath.join(directory, name))) for name in files.names(directory)]
    contents = {path: files.read(path) for path in paths}
    files = _Files(_Read(contents), {}, files.known)
    documents: dict[Path, Document] = {}
    overrides: list[Document] = []
    for path in paths:
        if path.name.endswith(_CODE):
            document = files.document(path)
            if _OVERRIDE.fullmatch(path.name):
                overrides.append(document)
            else:
                documents[path] = document
    given = _given(files, paths) if directory == "." else {}
    return replace(_collect(directory, documents, overrides, given), contents=contents)


def _collect(
    directory: str,
    documents: Mapping[Path, Document],
    overrides: list[Document],
    given: Mapping[str, Declared],
) -> Source:
    tables: dict[str, dict[str, Declared]] = {kind: {} for kind in _LABELS}
    local: dict[str, Declared] = {}
    providers: list[Declared] = []
    for document in documents.values():
        for block in document.blocks(document.root):
            kind, *labels = document.header(block)
            if kind == "locals":
                for name, attribute in document.attributes(block).items():
                    _add(local, f"local {name}", name, (document, attribute))
            elif kind == "provider":
                providers.append((document, block))
            elif kind in _LABELS:
                if len(labels) != _LABELS[kind] - 1:
                    raise CodeInvalid(f"{document.at(block)}: A {kind} block has {_LABELS[kind] - 1} label(s).")
                _add(tables[kind], f"{kind} {'.'.join(labels)}", ".".join(labels), (document, block))
    for document in overrides:
        for block in document.blocks(document.root, "locals"):
            local |= {name: (document, node) for name, node in document.attributes(block).items() if name in local}
    return Source(
        directory=directory,
        documents=documents,
        variables=tables["variable"],
        locals=local,
        resources=tables["resource"],
        data=tables["data"],
        calls=tables["module"],
        outputs=tables["output"],
        providers=tuple(providers),
        given=given,
        overrides=tuple(overrides),
        overriding=_overriding(overrides),
    )


def _add(table: dict[str, Declared], what: str, key: str, declared: Declared) -> None:
    if key in table:
        first = table[key][0].at(table[key][1])
        raise CodeInvalid(f"{declared[0].at(declared[1])}: The {what} is already declared at {first}.")
    table[key] = declared


def _overriding(overrides: list[Document]) -> dict[tuple[str, ...], tuple[Overriding, ...]]:
    found: dict[tuple[str, ...], tuple[Overriding, ...]] = {}
    for document in overrides:
        for block in document.blocks(document.root):
            header = document.header(block)
            found[header] = (*found.get(header, ()), ((document, block), names_in_block(document, block)))
    return found


def names_in_block(document: Document, block: Node) -> frozenset[str]:
    """The names of the arguments and nested blocks directly in a block; a dynamic block has that of the blocks which it generates."""
    return frozenset(document.attributes(block)) | {block_type(document, each) for each in document.blocks(block)}


def block_type(document: Document, block: Node) -> str:
    """The type of a nested block; for a dynamic block, the type of the blocks it generates."""
    header = document.header(block)
    return header[1] if header[0] == "dynamic" and len(header) > 1 else header[0]


def _given(files: _Files, paths: list[Path]) -> dict[str, Declared]:
    """Values by variable. Later files win, in Terraform's order: terraform.tfvars, terraform.tfvars.json, *.auto.tfvars by name."""
    first = [path for name in ("terraform.tfvars", "terraform.tfvars.json") for path in paths if path.name == name]
    later = [path for path in paths if path.name.endswith((".auto.tfvars", ".auto.tfvars.json"))]
    given: dict[str, Declared] = {}
    for path in first + later:
        document = files.document(path)
        if document.blocks(document.root):
            raise CodeInvalid(f"{path}: A file of variable values cannot have blocks.")
        given.update({name: (document, node) for name, node in document.attributes(document.root).items()})
    return given
