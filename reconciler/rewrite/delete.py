"""Removes from the code what is gone in AWS: blocks, calls of modules, or the entries that instances come from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tree_sitter import Node

from gateway.errors import CodeInvalid
from gateway.terraform.address import parse_address
from gateway.terraform.config.module import Module
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import Unknown
from reconciler.model import Edited, Left, Wanted
from reconciler.rewrite.code import Code, read_code, refuse_side_effects
from reconciler.rewrite.dangling import Removed, without_references
from reconciler.rewrite.editors import block as whole_block
from reconciler.rewrite.editors.text import CannotEdit
from reconciler.rewrite.fewer import fewer

Key = str | int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unit:
    """Instances of one block, a resource or a call of a module, that are gone."""

    module: str
    """The address of the module instance that the block belongs to."""
    directory: str
    header: tuple[str, ...]
    """`("resource", "aws_sqs_queue", "jobs")` or `("module", "jobs")`."""
    gone: Mapping[Key, frozenset[str]]
    """The addresses of each instance that is gone, by key."""
    whole: bool
    """Whether no other instance of the block is left."""

    @property
    def addresses(self) -> frozenset[str]:
        """Every address that goes with it."""
        return frozenset[str]().union(*self.gone.values())


def delete(root: Path, gone: Sequence[Wanted], sources: Mapping[Path, bytes] | None = None) -> Edited:
    """The files without the resources at the addresses of `gone`, the edits, and what is left because something else needs it.

    Nothing is written to disk. Raises `CodeInvalid` if the code cannot be read.
    """
    first = code = read_code(root, sources or {})
    by_address = {each.address: each for each in gone}
    todo = list(_units(first.module, frozenset(by_address)))
    missed: list[tuple[_Unit, Exception]] = []
    while todo:
        missed, made = [], False
        for unit in todo:
            try:
                code, made = _without(code, unit, frozenset(by_address), by_address[min(unit.addresses)]), True
            except (CannotEdit, CodeInvalid, Unknown) as error:
                missed.append((unit, error))
        # What one needs may be gone with another that needed it.
        todo = [unit for unit, _ in missed] if made else []
    left = [
        Left(wanted=by_address[address], reason=f"{address} is gone in AWS, and its code stays: {error}")
        for unit, error in missed
        for address in sorted(unit.addresses)
    ]
    known = first.addresses()
    left += [
        Left(wanted=each, reason=f"No block in the code declares {each.address}, or not with a key that is known.")
        for each in gone
        if each.address not in known
    ]
    changed = {path: source for path, source in code.sources.items() if first.sources.get(path) != source}
    return Edited(files=changed, edits=code.edits, left=tuple(left))


def _without(code: Code, unit: _Unit, gone: frozenset[str], wanted: Wanted) -> Code:
    """The code without one unit. Raises `CannotEdit`."""
    if list(unit.gone) != [None]:
        try:
            return _without_keys(code, unit, gone, wanted)
        except CannotEdit:
            if not unit.whole:
                raise
    return _without_block(code, unit, gone, wanted)


def _without_block(code: Code, unit: _Unit, gone: frozenset[str], wanted: Wanted) -> Code:
    before = code.addresses()
    name = unit.header[1:]
    root, steps = ("module", (name[0],)) if unit.header[0] == "module" else (name[0], (name[1],))
    after = without_references(code, Removed(unit.directory, root, steps), wanted)
    document, block = _block(after, unit)
    chain = (f"{'.'.join(unit.header[-2:])} is declared at {document.at(block)}",)
    after = after.after(document, whole_block.remove(document, block), wanted, chain)
    removed = before - after.addresses()
    if not unit.addresses <= removed or not removed <= gone:
        raise CannotEdit(f"its block also makes {', '.join(sorted(removed - gone)[:3])}, which is there.")
    refuse_side_effects(code, after, removed)
    return after


def _without_keys(code: Code, unit: _Unit, gone: frozenset[str], wanted: Wanted) -> Code:
    """The code without single instances: of a `count` the last ones first."""
    for key in sorted(
        (key for key in unit.gone if key is not None), key=lambda key: (isinstance(key, str), key), reverse=True
    ):
        if unit.gone[key] <= code.addresses():
            module = _module(code, unit)
            code = fewer(code, module, _block(code, unit), key, own=unit.gone[key], gone=gone, wanted=wanted)
        name = unit.header[1:]
        root, steps = ("module", (name[0],)) if unit.header[0] == "module" else (name[0], (name[1],))
        code = without_references(code, Removed(unit.directory, root, steps, key), wanted)
    return code


def _module(code: Code, unit: _Unit) -> Module:
    """The module instance of a unit in the code as it is now. Raises `CannotEdit`."""
    found = next((each for each in code.module.modules() if each.address == unit.module), None)
    if found is None:
        raise CannotEdit(f"{unit.module} is no longer in the code.")
    return found


def _block(code: Code, unit: _Unit) -> tuple[Document, Node]:
    source = code.module.sources[unit.directory]
    table, name = (
        (source.calls, unit.header[1]) if unit.header[0] == "module" else (source.resources, ".".join(unit.header[1:]))
    )
    if name not in table:
        raise CannotEdit("its block is no longer in the code.")
    return table[name]


def _units(module: Module, gone: frozenset[str]) -> Iterator[_Unit]:
    """What is gone, as large as possible: a whole instance of a module before the resources in it."""
    for name in module.source.calls:
        yield from _called(module, name, gone)
    for name in module.source.resources:
        instances = {_key(each.address): frozenset({each.address}) for each in module.instances_of(name)}
        dead = {key: own for key, own in instances.items() if own <= gone}
        if dead:
            yield _Unit(
                module=module.address,
                directory=module.source.directory,
                header=("resource", *name.split(".", 1)),
                gone=dead,
                whole=len(dead) == len(instances),
            )


def _called(module: Module, name: str, gone: frozenset[str]) -> Iterator[_Unit]:
    try:
        children = module.children(name)
    except Unknown:
        return
    within = {key: frozenset(each.address for each in child.instances()) for key, child in children.items()}
    dead = {key: own for key, own in within.items() if own and own <= gone}
    if dead:
        yield _Unit(
            module=module.address,
            directory=module.source.directory,
            header=("module", name),
            gone=dead,
            whole=len(dead) == len(children),
        )
    for key, child in children.items():
        if key not in dead:
            yield from _units(child, gone)


def _key(address: str) -> Key:
    parsed = parse_address(address)
    return None if parsed is None else parsed.key
