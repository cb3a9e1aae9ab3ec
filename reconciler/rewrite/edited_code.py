"""The code while whole blocks and entries are added and removed: one edit after the other, each judged by what it changes."""

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from gateway.core.model.json import Json
from gateway.core.model.path import AttributePath
from gateway.terraform.config.earlier_version import EarlierVersion
from gateway.terraform.config.edit_reach import AllDefinitions, all_definitions, module_after_edit
from gateway.terraform.config.module import Module, informed, load_module
from gateway.terraform.config.policy_document import TYPE as POLICY_DOCUMENT
from gateway.terraform.json_syntax.view import parse_json
from gateway.terraform.lang.hcl import Document, data_document, file_bytes, parse, parse_template
from gateway.terraform.lang.values import EvaluationFailed, Unknown
from reconciler.model import Edit, Edited, Left, Wanted, unified_diff
from reconciler.rewrite.editors.alignment import realign
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.rewrite.editors.splice import Splice
from reconciler.rewrite.footprint.changes import footprint_changes
from reconciler.rewrite.footprint.values import Footprint, differences
from reconciler.rewrite.json_syntax.write import write_as_json
from reconciler.rewrite.surroundings import Surroundings
from reconciler.rewrite.value_parts import declared_at, declares

_SHOWN = 5
"""How many changes that nobody asked for are named."""
_UNSET: tuple[Json, ...] = (None, "", [], {})
"""What an attribute is that nobody set."""
_NONE: tuple[Footprint, ...] = (None, [])
Live = Mapping[str, Mapping[str, Json]]


@dataclass(frozen=True, slots=True, kw_only=True)
class EditedCode:
    """The code of a stack after the edits so far."""

    root: Path
    sources: Mapping[Path, bytes]
    """The files that differ from the disk, by path relative to the root."""
    module: Module
    definitions: AllDefinitions
    edits: tuple[Edit, ...] = ()
    carried: tuple[EarlierVersion | None, ...] = ()
    """What each of the edits carried over; None if that is not known."""
    around: Surroundings = field(default_factory=Surroundings)
    """Which code outside of the stack's own directory may be edited."""
    expected: Live = field(default_factory=dict)
    """Values by address and attribute that the code shall declare too: an edit may give them."""
    known: Live = field(default_factory=dict)
    """Attributes by address, as they are live, of what the code refers to."""

    def document(self, path: Path) -> Document:
        """A file of the code as it is now."""
        return self.module.documents()[path]

    def addresses(self) -> frozenset[str]:
        """The address of every resource instance whose key is known."""
        return frozenset(instance.address for instance in self.module.instances())

    def after(self, document: Document, change: Splice, wanted: Wanted, chain: tuple[str, ...] = ()) -> "EditedCode":
        """The code after a change of one file. Raises `CannotEdit`, and `CodeInvalid` if the file no longer parses."""
        path = document.path
        self.around.refuse(self.root, path)
        if document.is_data or any(document.around):
            self.around.refuse_named_elsewhere(self.root, path)
        refuse_unknown_calls(self.module, path)
        now = self.with_files({path: document_after(document, change.apply(document.source))})
        made = _as_edit(path, file_bytes(document), now.sources[path], wanted, chain)
        return replace(now, edits=(*self.edits, made), carried=(*self.carried, now.module.carried))

    def with_files(self, files: Mapping[Path, Document]) -> Self:
        """The code with other files; only what these can reach will be evaluated, unless they change which modules there are."""
        sources = {**self.sources, **{path: file_bytes(document) for path, document in files.items()}}
        changed = module_after_edit(self.module, self.definitions, files)
        module = load_module(self.root, sources, self.module) if changed is None else changed[0]
        definitions = all_definitions(module) if changed is None else changed[1]
        return replace(self, sources=sources, module=module, definitions=definitions)

    def edited_since(self, first: "EditedCode", left: Sequence[Left]) -> Edited:
        """The files that differ from the code before the edits, the edits, and what is left."""
        return Edited(files=self.changed_since(first), edits=self.edits, left=tuple(left))

    def changed_since(self, first: "EditedCode") -> Mapping[Path, bytes]:
        """The files that differ from the code as it was."""
        return {path: source for path, source in self.sources.items() if first.sources.get(path) != source}

    def diff_since(self, first: "EditedCode") -> str:
        """The changes since the code as it was, as a unified diff."""
        changed = self.changed_since(first)
        return "".join(
            unified_diff(path, first.original(path) or b"", source) for path, source in sorted(changed.items())
        )

    def gives_more_than(self, other: "EditedCode") -> bool:
        """Whether it declares an expected value that another version of it does not."""
        addresses = self.addresses()
        return any(
            address in addresses and self.gives(address, path) and not other.gives(address, path)
            for address, own in self.expected.items()
            for path in own
        )

    def gives(self, address: str, path: str) -> bool:
        """Whether the code declares an expected value. What nobody set is as good as an empty one."""
        value = self.expected[address][path]
        instance = informed(self.module, self.known).instance(address)
        if instance is None:
            return False
        try:
            now = declared_at(instance, AttributePath(path))
            return (now in _UNSET and value in _UNSET) or declares(instance, AttributePath(path), value)
        except EvaluationFailed:
            return value in _UNSET
        except Unknown:
            return False

    def original(self, path: Path) -> bytes | None:
        """The bytes of a file as it is now; None if it does not exist."""
        if path in self.sources:
            return self.sources[path]
        file = self.root / path
        return file.read_bytes() if file.is_file() else None


def read_code(
    root: Path,
    sources: Mapping[Path, bytes],
    around: Surroundings | None = None,
    *,
    expected: Live | None = None,
    known: Live | None = None,
) -> EditedCode:
    """The code at a directory; `sources` replace files on disk. The others as in `EditedCode`. Raises `gateway.core.errors.CodeInvalid`."""
    module = load_module(root, sources)
    return EditedCode(
        expected=expected or {},
        known=known or {},
        root=root,
        sources=dict(sources),
        module=module,
        definitions=all_definitions(module),
        around=around or Surroundings(),
    )


class AlsoChanges(CannotEdit):
    """An edit would change attributes that nobody asked for."""

    def __init__(self, changes: Sequence[tuple[str, str, str]]) -> None:
        """`changes` are addresses, attributes, and where the code declares them, as `file:line`; empty if that is not known."""
        address, path, _ = changes[0]
        super().__init__(f"The edit would also change {address}.{path}.")
        self.changes = changes

    @property
    def referring(self) -> str:
        """The changes in words: what still refers to something that the edit takes away."""
        places = {f"{address}.{path}" + (f" ({place})" if place else ""): None for address, path, place in self.changes}
        return ", ".join(places)


def _place(module: Module, address: str, path: str) -> str:
    """Where an attribute of an instance is written; of one that its block does not write itself, where the block is."""
    instance = module.instance(address)
    if instance is None:
        return ""
    written = instance.document.attributes(instance.block).get(path.partition(".")[0])
    return instance.document.at(instance.block if written is None else written)


def refuse_side_effects(before: EditedCode, after: EditedCode, may_change: frozenset[str]) -> None:
    """Raise `AlsoChanges` if the edits between two versions change an attribute of anything that is not at one of the addresses.

    Nor may they change anything in another root.
    """
    edits = after.carried[len(before.carried) :]
    also: list[tuple[str, str]] = []
    for change in footprint_changes(before.module, after.module, edits):
        shown = change.address.removeprefix("?")
        if change.address in may_change or change.before is None or change.after is None:
            continue
        if is_policy_block(change.address):
            continue
        for path in differences(dict(change.before), dict(change.after)):
            if len(path) == 1 and change.before.get(path[0]) in _NONE and change.after.get(path[0]) in _NONE:
                continue  # a dynamic block that generates nothing, where there was no block
            if _is_expected(after, change.address, path):
                continue
            also.append((shown, ".".join(path)))
    if also:
        raise AlsoChanges([(address, path, _place(before.module, address, path)) for address, path in also[:_SHOWN]])
    for carried in edits:
        if carried is not None:
            carried.release()
    after.around.refuse_changes(after.root, before.sources, after.sources)


def is_policy_block(address: str) -> bool:
    """Whether a changed block, by its address in a footprint, only makes a policy document: what refers to it has all that it says in its own footprint."""
    return address.startswith("?") and f".data.{POLICY_DOCUMENT}." in f".{address.removeprefix('?')}."


def _is_expected(code: EditedCode, address: str, path: tuple[str, ...]) -> bool:
    """Whether the code declares a value that it shall declare too, and the path leads into that."""
    wanted = code.expected.get(address, {})
    above = next((str(each) for each in AttributePath.of(path).enclosing if str(each) in wanted), None)
    return above is not None and code.gives(address, above)


def refuse_unknown_calls(module: Module, path: Path) -> None:
    """Raise `CannotEdit` if a file belongs to a module with a call whose instances are not known: what an edit does there cannot be seen."""
    directories = {source.directory for source in module.sources.values() if path in source.templates}
    directories = directories or {posixpath.normpath(path.parent.as_posix())}
    if directories == {module.source.directory}:
        return
    for each in module.modules():
        for name in each.source.calls:
            called = each.source.called_directory(name)
            if called is not None and not directories.isdisjoint(_below(module, called)):
                try:
                    each.children(name)
                except Unknown as error:
                    raise CannotEdit(
                        f"{path} belongs to a module that is used by module.{name}, whose instances are not known: {error}."
                    ) from None


def _below(module: Module, directory: str) -> frozenset[str]:
    """A directory of a module, and those of the modules that it calls."""
    found: set[str] = set()
    todo = [directory]
    while todo:
        here = todo.pop()
        if here not in found and here in module.sources:
            found.add(here)
            calls = module.sources[here].calls
            todo += [called for name in calls if (called := module.sources[here].called_directory(name)) is not None]
    return frozenset(found)


def _as_edit(path: Path, before: bytes, after: bytes, wanted: Wanted, chain: tuple[str, ...]) -> Edit:
    """The edit as the smallest run of whole lines that differs."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    start = sum(len(line) for line in old[:head])
    was, becomes = b"".join(old[head : len(old) - tail]), b"".join(new[head : len(new) - tail])
    return Edit(path=path, start=start, end=start + len(was), old=was, new=becomes, wanted=wanted, chain=chain)


def document_after(document: Document, source: bytes) -> Document:
    """The document whose source became `source`, realigned if it was aligned before.

    Raises `CodeInvalid` if it no longer parses, and `CannotEdit` if JSON code cannot say it.
    """
    if document.is_data:
        return data_document(document.path, source)
    if document.written is not None:
        return parse_json(document.path, write_as_json(document, source))
    if any(document.around):
        return parse_template(document.path, file_bytes(document, source))
    return realign(document, parse(document.path, source))
