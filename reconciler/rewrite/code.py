"""The code while whole blocks and entries are added and removed: one edit after the other, each judged by what it changes."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gateway.terraform.config.changed import AllDefinitions, all_definitions, changed_module
from gateway.terraform.config.module import Module, load_module
from gateway.terraform.lang.hcl import Document, parse
from reconciler.model import Edit, Wanted
from reconciler.rewrite.editors.align import aligned
from reconciler.rewrite.editors.splice import Splice
from reconciler.rewrite.editors.text import CannotEdit
from reconciler.rewrite.footprint import differences, footprint_changes


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """The code of a stack after the edits so far."""

    root: Path
    sources: Mapping[Path, bytes]
    """The files that differ from the disk, by path relative to the root."""
    module: Module
    definitions: AllDefinitions
    edits: tuple[Edit, ...] = ()

    def document(self, path: Path) -> Document:
        """A file of the code as it is now."""
        return self.module.documents()[path]

    def addresses(self) -> frozenset[str]:
        """The address of every resource instance whose key is known."""
        return frozenset(instance.address for instance in self.module.instances())

    def after(self, document: Document, change: Splice, wanted: Wanted, chain: tuple[str, ...] = ()) -> "Code":
        """The code after a change of one file. Raises `CannotEdit`, and `CodeInvalid` if the file no longer parses."""
        path = document.path
        if path.parts[:1] == ("..",):
            raise CannotEdit(f"{path} lies outside the stack's directory, where other stacks may share it.")
        content = _formatted(document, change)
        sources = {**self.sources, path: content}
        changed = changed_module(self.module, self.definitions, path, content)
        module = load_module(self.root, sources, self.module) if changed is None else changed[0]
        definitions = all_definitions(module) if changed is None else changed[1]
        made = _as_edit(path, document.source, content, wanted, chain)
        return Code(root=self.root, sources=sources, module=module, definitions=definitions, edits=(*self.edits, made))


def read_code(root: Path, sources: Mapping[Path, bytes]) -> Code:
    """The code at a directory; `sources` replace files on disk. Raises `gateway.errors.CodeInvalid`."""
    module = load_module(root, sources)
    return Code(root=root, sources=dict(sources), module=module, definitions=all_definitions(module))


def refuse_side_effects(before: Code, after: Code, may_change: frozenset[str]) -> None:
    """Raise `CannotEdit` if an edit changes an attribute of a resource, a data source or a module that is in neither set."""
    for change in footprint_changes(before.module, after.module):
        shown = change.address.removeprefix("?")
        if change.address in may_change or change.before is None or change.after is None:
            continue
        for path in differences(dict(change.before), dict(change.after)):
            raise CannotEdit(f"The edit would also change {shown}.{'.'.join(path)}.")
    if after.module.carried is not None:
        after.module.carried.release()


def _formatted(document: Document, change: Splice) -> bytes:
    """The file after a change, realigned if it was aligned before. Raises `CodeInvalid`."""
    after = parse(document.path, change.apply(document.source))
    return aligned(after) if aligned(document) == document.source else after.source


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
