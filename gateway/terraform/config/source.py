"""Reads the Terraform files of a stack by directory: what each module declares, before anything is evaluated."""

import json
import posixpath
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tree_sitter import Node

from gateway.errors import CodeInvalid
from gateway.model.json import Json
from gateway.terraform.config.downloaded import read_downloaded
from gateway.terraform.config.templates import read_templates, template_names
from gateway.terraform.config.workspace import DEFAULT, read_workspace
from gateway.terraform.files import FileTree, file_tree
from gateway.terraform.lang.expression import LiteralValue, bare
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document, file_bytes, parse

_DEPTH = 40
_LABELS = {"variable": 2, "output": 2, "module": 2, "provider": 2, "resource": 3, "data": 3}

Declared = tuple[Document, Node]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Source:
    """One directory of Terraform files."""

    directory: str
    """Relative to the stack's root, with `/`; `.` for the root itself."""
    documents: Mapping[Path, Document] = field(default_factory=dict)
    """Every `.tf` file read, by path relative to the root."""
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
    given: Mapping[str, tuple[Document | None, Node | None, Json]] = field(default_factory=dict)
    """Values of variables from tfvars files, only the one in effect: document and attribute, or the value from JSON."""
    overrides: tuple[Document, ...] = ()
    """Override files."""
    overridden: Mapping[tuple[str, ...], frozenset[str]] = field(default_factory=dict)
    """Names of attributes and blocks that override files set, by block header. Their values are not known."""
    downloaded: Mapping[str, str] = field(default_factory=dict)
    """The directories of called modules that are not local, by the call's name, where `terraform init` downloaded them."""
    workspace: str = DEFAULT
    """The Terraform workspace."""
    contents: Mapping[Path, bytes] = field(default_factory=dict)
    """The bytes of every Terraform file of the directory, as they were read."""
    templates: Mapping[Path, bytes] = field(default_factory=dict)
    """The bytes of the templates that the directory names, by path relative to the root; none if the code is not read from disk."""

    def overridden_in(self, header: tuple[str, ...]) -> frozenset[str]:
        """Names of attributes and blocks that an override file sets in the block with this header."""
        return self.overridden.get(header, frozenset())

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
        source = replace(read, downloaded=downloaded.get(directory, {}), workspace=workspace)
        if isinstance(root, Path):
            source = replace(source, templates=read_templates(root, overlay, directory, source.contents))
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


def changed_sources(sources: Mapping[str, Source], files: Mapping[Path, Document]) -> Mapping[str, Source] | None:
    """The directories of some files after these were changed or added, their other files as they were read.

    None if no source has one of the directories, or if its modules are called from other directories now, or if templates change. Raises `CodeInvalid`.
    """
    if any(path in source.templates for source in sources.values() for path in files):
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
    )
    return after if _called(after) == _called(before) and _same_templates(before, after, changed) else None


def _same_templates(before: Source, after: Source, paths: Collection[Path]) -> bool:
    """Whether a directory names the templates that it named before; its other files are only looked at if the changed ones do not."""
    was, now = (
        template_names({path: each.contents[path] for path in paths if path in each.contents})
        for each in (before, after)
    )
    return was == now or template_names(before.contents) == template_names(after.contents)


def _called(source: Source) -> Mapping[str, str | None]:
    return {name: source.called_directory(name) for name in source.calls}


def _given_documents(source: Source) -> Mapping[Path, Document]:
    return {document.path: document for document, _, _ in source.given.values() if document is not None}


@dataclass(frozen=True, slots=True)
class _Read:
    """The files of one directory, in memory."""

    contents: Mapping[Path, bytes]

    def check(self) -> None:
        """Nothing: the directory was read before."""

    def names(self, directory: str) -> Collection[str]:  # noqa: ARG002  there is only one directory
        """The names of the files."""
        return [path.name for path in self.contents]

    def read(self, path: str) -> bytes:
        """The bytes of a file."""
        return self.contents[Path(path)]


def _refuse_cycles(loaded: Mapping[str, Source]) -> None:
    """Raise `CodeInvalid` if a module calls itself, directly or not."""

    def visit(directory: str, above: tuple[str, ...]) -> None:
        for name, (document, block) in loaded[directory].calls.items():
            called = loaded[directory].called_directory(name)
            if called in (*above, directory):
                raise CodeInvalid(f"{document.at(block)}: The module {name} calls itself.")
            if called is not None:
                visit(called, (*above, directory))

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
        return known if known is not None and known.source == source else parse(path, source)


def _load_directory(files: _Files, directory: str) -> Source:
    paths = [Path(posixpath.normpath(posixpath.join(directory, name))) for name in files.names(directory)]
    contents = {path: files.read(path) for path in paths}
    files = _Files(_Read(contents), {}, files.known)
    documents: dict[Path, Document] = {}
    overrides: list[Document] = []
    for path in paths:
        if path.name.endswith(".tf.json"):
            raise CodeInvalid(f"{path}: Terraform code in JSON syntax is not read; write it as HCL.")
        if path.name.endswith(".tf"):
            document = files.document(path)
            if path.name == "override.tf" or path.name.endswith("_override.tf"):
                overrides.append(document)
            else:
                documents[path] = document
    given = _given(files, paths) if directory == "." else {}
    return replace(_collect(directory, documents, overrides, given), contents=contents)


def _collect(
    directory: str,
    documents: Mapping[Path, Document],
    overrides: list[Document],
    given: Mapping[str, tuple[Document | None, Node | None, Json]],
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
        overridden=_overridden(overrides),
    )


def _add(table: dict[str, Declared], what: str, key: str, declared: Declared) -> None:
    if key in table:
        first = table[key][0].at(table[key][1])
        raise CodeInvalid(f"{declared[0].at(declared[1])}: The {what} is already declared at {first}.")
    table[key] = declared


def _overridden(overrides: list[Document]) -> dict[tuple[str, ...], frozenset[str]]:
    overridden: dict[tuple[str, ...], frozenset[str]] = {}
    for document in overrides:
        for block in document.blocks(document.root):
            header = document.header(block)
            inner = {document.header(nested)[0] for nested in document.blocks(block)}
            dynamic = {document.header(nested)[-1] for nested in document.blocks(block, "dynamic")}
            names = frozenset(document.attributes(block)) | inner | dynamic
            overridden[header] = overridden.get(header, frozenset()) | names
    return overridden


def _given(files: _Files, paths: list[Path]) -> dict[str, tuple[Document | None, Node | None, Json]]:
    """Values by variable. Later files win, in Terraform's order: terraform.tfvars, terraform.tfvars.json, *.auto.tfvars by name."""
    first = [path for name in ("terraform.tfvars", "terraform.tfvars.json") for path in paths if path.name == name]
    later = [path for path in paths if path.name.endswith((".auto.tfvars", ".auto.tfvars.json"))]
    given: dict[str, tuple[Document | None, Node | None, Json]] = {}
    for path in first + later:
        if path.suffix == ".json":
            given.update({name: (None, None, value) for name, value in _json(path, files.read(path)).items()})
            continue
        document = files.document(path)
        if document.blocks(document.root):
            raise CodeInvalid(f"{path}: A file of variable values cannot have blocks.")
        given.update({name: (document, node, None) for name, node in document.attributes(document.root).items()})
    return given


def _json(path: Path, source: bytes) -> Mapping[str, Json]:
    try:
        value = json.loads(source)
    except ValueError as error:
        raise CodeInvalid(f"{path}: This is not valid JSON: {error}.") from None
    if not isinstance(value, dict):
        raise CodeInvalid(f"{path}: A file of variable values must be one JSON object.")
    return value
