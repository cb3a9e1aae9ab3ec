"""Removes resources from the code that are gone in AWS, with the outputs, `depends_on` and blocks that refer to them."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tree_sitter import Node

from gateway.core.errors import CodeInvalid
from gateway.terraform.address import parse_address
from gateway.terraform.config.module import Module, informed
from gateway.terraform.lang import expression as e
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import EvaluationScope, value_of
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import Unknown
from reconciler.model import Edited, Left, Wanted
from reconciler.rewrite.edited_code import EditedCode, Live, read_code, refuse_side_effects
from reconciler.rewrite.editors.hcl_text import CannotEdit, inline
from reconciler.rewrite.editors.list_items import remove_item
from reconciler.rewrite.editors.splice import Splice, line_end, newline
from reconciler.rewrite.editors.top_level_block import remove_block
from reconciler.rewrite.gone_instances import remove_instance
from reconciler.rewrite.renumbered_instances import REFRESH, renumber
from reconciler.rewrite.surroundings import Surroundings

_MOST_NUMBERED = 1_000
"""Numbers of instances that others may name."""
_GO_WITH_IT = ("output", "import", "moved", "removed")
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


def delete_resources(
    root: Path,
    gone: Sequence[Wanted],
    sources: Mapping[Path, bytes] | None = None,
    around: Surroundings | None = None,
    *,
    expected: Live | None = None,
    known: Live | None = None,
    giving: bool = False,
) -> Edited:
    """The files without the resources at the addresses of `gone`, the edits, and what is left because something else needs it.

    `expected` and `known` as in `EditedCode`; `giving`: only what gives one of the expected values with it is removed.
    Nothing is written to disk. Raises `CodeInvalid` if the code cannot be read.
    """
    first = code = read_code(root, sources or {}, around, expected=expected, known=known)
    by_address = {each.address: each for each in gone}
    todo = list(_units(first.module, frozenset(by_address)))
    missed: list[tuple[_Unit, Exception]] = []
    while todo:
        missed, made = [], False
        for unit in todo:
            try:
                after = _without(code, unit, frozenset(by_address), by_address[min(unit.addresses)])
            except (CannotEdit, CodeInvalid, Unknown) as error:
                missed.append((unit, error))
            else:
                if giving and not after.gives_more_than(code):
                    missed.append((unit, CannotEdit("nothing that is wanted comes with it.")))
                else:
                    code, made = after, True
        # What one needs may be gone with another that needed it.
        todo = [unit for unit, _ in missed] if made else []
    if giving:
        return _with_rest(code, first, gone)
    proposed, left = code, list[Left]()
    for unit, reason in missed:
        before, why = proposed, str(reason)
        with contextlib.suppress(CannotEdit, CodeInvalid, Unknown):
            proposed = _without(before, unit, frozenset(by_address), by_address[min(unit.addresses)], detached=True)
        if proposed is before and len(unit.addresses) == 1:
            with contextlib.suppress(CannotEdit, CodeInvalid, Unknown):
                proposed = _renumbered(before, unit, frozenset(by_address), by_address[min(unit.addresses)])
                why = REFRESH
        left += [
            Left(
                wanted=by_address[address],
                reason=f"{address} is gone in AWS, and its code stays: {why}",
                diff=proposed.diff_since(before),
            )
            for address in sorted(unit.addresses)
        ]
    declared_before = first.addresses()
    left += [
        Left(wanted=each, reason=f"No block in the code declares {each.address}, or not with a key that is known.")
        for each in gone
        if each.address not in declared_before
    ]
    edited = code.edited_since(first, left)
    return edited if proposed is code else replace(edited, proposed=proposed.changed_since(first))


def _with_rest(code: EditedCode, first: EditedCode, gone: Sequence[Wanted]) -> Edited:
    """The edits so far, and what is to be removed yet."""
    there, before = code.addresses(), first.addresses()
    rest = (each for each in gone if each.address in there or each.address not in before)
    return code.edited_since(first, [Left(wanted=each, reason="It goes alone.") for each in rest])


def _without(
    code: EditedCode, unit: _Unit, gone: frozenset[str], wanted: Wanted, *, detached: bool = False
) -> EditedCode:
    """The code without one unit. Raises `CannotEdit`.

    `detached`: what still refers to it gets the value that it had, which is live. Only a person decides whether that is meant.
    """
    if list(unit.gone) != [None]:
        try:
            return _without_keys(code, unit, gone, wanted, detached=detached)
        except CannotEdit:
            if not unit.whole:
                raise
    return _without_block(code, unit, gone, wanted, detached=detached)


def _without_block(
    code: EditedCode, unit: _Unit, gone: frozenset[str], wanted: Wanted, *, detached: bool
) -> EditedCode:
    before = code.addresses()
    name = unit.header[1:]
    root, steps = ("module", (name[0],)) if unit.header[0] == "module" else (name[0], (name[1],))
    after = without_references(code, RemovedName(unit.directory, root, steps), wanted, detached=detached)
    document, block = _block(after, unit)
    chain = (f"{'.'.join(unit.header[-2:])} is declared at {document.at(block)}",)
    while (overriding := after.module.sources[unit.directory].overriding.get(unit.header)) is not None:
        after = after.after(overriding[-1][0][0], remove_block(*overriding[-1][0]), wanted, chain)
    document, block = _block(after, unit)
    after = after.after(document, remove_block(document, block), wanted, chain)
    removed = before - after.addresses()
    if not unit.addresses <= removed or not removed <= gone:
        raise CannotEdit(f"its block also makes {', '.join(sorted(removed - gone)[:3])}, which is there.")
    if detached:
        after.around.refuse_changes(after.root, code.sources, after.sources)
    else:
        refuse_side_effects(code, after, removed)
    return after


def _without_keys(code: EditedCode, unit: _Unit, gone: frozenset[str], wanted: Wanted, *, detached: bool) -> EditedCode:
    """The code without single instances: of a `count` the last ones first."""
    for key in sorted(
        (key for key in unit.gone if key is not None), key=lambda key: (isinstance(key, str), key), reverse=True
    ):
        if unit.gone[key] <= code.addresses():
            module = _module(code, unit)
            code = remove_instance(code, module, _block(code, unit), key, own=unit.gone[key], gone=gone, wanted=wanted)
        name = unit.header[1:]
        root, steps = ("module", (name[0],)) if unit.header[0] == "module" else (name[0], (name[1],))
        code = without_references(code, RemovedName(unit.directory, root, steps, key), wanted, detached=detached)
    return code


def _renumbered(code: EditedCode, unit: _Unit, gone: frozenset[str], wanted: Wanted) -> EditedCode:
    """The code without one instance of a `count`, the others moved. Raises `CannotEdit`, also if something names one of them by its number."""
    kind, *name = unit.header
    numbered = RemovedName(unit.directory, name[0], tuple(name[1:])) if kind == "resource" else None
    if numbered is None or any(
        _refers(each.expression, replace(numbered, key=number))
        for each in _references(code, numbered)
        for number in range(_MOST_NUMBERED)
    ):
        raise CannotEdit("Something names an instance by its number.")
    return renumber(code, _module(code, unit), _block(code, unit), gone, wanted)


def _module(code: EditedCode, unit: _Unit) -> Module:
    """The module instance of a unit in the code as it is now. Raises `CannotEdit`."""
    found = next((each for each in code.module.modules() if each.address == unit.module), None)
    if found is None:
        raise CannotEdit(f"{unit.module} is no longer in the code.")
    return found


def _block(code: EditedCode, unit: _Unit) -> tuple[Document, Node]:
    source = code.module.sources[unit.directory]
    table, name = (
        (source.calls, unit.header[1]) if unit.header[0] == "module" else (source.resources, ".".join(unit.header[1:]))
    )
    if name not in table:
        raise CannotEdit("its block is no longer in the code.")
    return table[name]


def _units(module: Module, gone: frozenset[str]) -> Iterator[_Unit]:
    """The deleted units, as large as possible: a whole instance of a module before the resources in it."""
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


@dataclass(frozen=True, slots=True)
class RemovedName:
    """A name that the code of a directory no longer has: `aws_sqs_queue.jobs`, `module.jobs`, `module.jobs.url`, or one key of it."""

    directory: str
    root: str
    steps: tuple[str, ...]
    key: str | int | None = None


@dataclass(frozen=True, slots=True)
class _Reference:
    document: Document
    block: Node
    """The top-level block that holds it."""
    attribute: Node
    expression: e.Expression


def without_references(code: EditedCode, removed: RemovedName, wanted: Wanted, *, detached: bool = False) -> EditedCode:
    """The code without references to a name that goes, its own block aside. Raises `CannotEdit`, with the place, if something else needs it.

    `detached`: what needs an attribute of it gets the value that it had, as far as `wanted.before` says it.
    """
    while (
        found := next((each for each in _references(code, removed) if _is_needed(code, each, removed)), None)
    ) is not None:
        kind, *labels = found.document.header(found.block)
        chain = (f"{found.document.at(found.expression.start)} refers to what is gone",)
        if kind in _GO_WITH_IT:
            code = code.after(found.document, remove_block(found.document, found.block), wanted, chain)
            if kind == "output":
                code = _without_output(code, removed.directory, labels[0], wanted)
        elif (change := _from_depends_on(found)) is not None:
            code = code.after(found.document, change, wanted, chain)
        elif detached and (literal := _had(found.expression, removed, wanted)):
            splice = Splice(found.expression.start, found.expression.end, literal)
            code = code.after(found.document, splice, wanted, chain)
        else:
            raise CannotEdit(
                f"{'.'.join((kind, *labels))} still refers to it ({found.document.at(found.expression.start)})."
            )
    return code


def _is_needed(code: EditedCode, found: _Reference, removed: RemovedName) -> bool:
    """Whether a reference to one instance is evaluated where that instance is gone: not in the branch that does not hold, nor in one of several tries."""
    if removed.key is None or removed.root == "module":
        return True
    kind, *labels = found.document.header(found.block)
    block, written = f"{removed.root}.{removed.steps[0]}", read_attribute(found.document, found.attribute)
    known = informed(code.module, code.known)
    for module in known.modules():
        if module.source.directory != removed.directory:
            continue
        if block not in module.source.resources:
            return True
        if any(_key(each.address) == removed.key for each in module.instances_of(block)):
            continue
        if kind != "resource":
            if _is_reached(written, found.expression, module.scope):
                return True
            continue
        name = ".".join(labels)
        instances = module.instances_of(name) if name in module.source.resources else ()
        if any(_is_reached(written, found.expression, each.scope) for each in instances):
            return True
    return False


def _is_reached(expression: e.Expression, part: e.Expression, scope: EvaluationScope) -> bool:
    """Whether a part of an expression is evaluated with it. What is not known counts as evaluated."""
    written = e.bare(expression)
    if not any(each is part or each == part for each in e.walk(written)):
        return False
    match written:
        case e.Conditional():
            with contextlib.suppress(Unknown):
                holds = values.truth(value_of(written.condition, scope))
                chosen = written.then if holds else written.otherwise
                return _is_reached(written.condition, part, scope) or _is_reached(chosen, part, scope)
            return True
        case e.FunctionCall(name="try" | "can", arguments=arguments):
            return written.name == "try" and _is_reached(arguments[-1], part, scope)
        case e.FunctionCall(arguments=arguments):
            return any(_is_reached(each, part, scope) for each in arguments)
        case e.Object(elements=elements):
            return any(_is_reached(each.key, part, scope) or _is_reached(each.value, part, scope) for each in elements)
        case e.Tuple(items=items):
            return any(_is_reached(each, part, scope) for each in items)
    return True


def _had(expression: e.Expression, removed: RemovedName, wanted: Wanted) -> str:
    """HCL of the attribute that an expression refers to, as the resource had it; empty if that is not known to be a plain value."""
    traversal = e.steps_of(expression)
    had = wanted.before
    rest = () if traversal is None else traversal[1][len(removed.steps) + (removed.key is not None) :]
    if removed.root == "module" or len(rest) != 1 or not isinstance(rest[0], str) or not isinstance(had, Mapping):
        return ""
    value = had.get(rest[0])
    return inline(value) if isinstance(value, str | int | float | bool) else ""


def _without_output(code: EditedCode, directory: str, name: str, wanted: Wanted) -> EditedCode:
    """The code without references to an output that is gone, in the code that calls the module."""
    for source in code.module.sources.values():
        for call in source.calls:
            if source.called_directory(call) == directory:
                code = without_references(code, RemovedName(source.directory, "module", (call, name)), wanted)
    return code


def _references(code: EditedCode, removed: RemovedName) -> Iterator[_Reference]:
    source = code.module.sources.get(removed.directory)
    if source is None:
        return
    for document in source.documents.values():
        for block in document.blocks(document.root):
            if _is_itself(document.header(block), removed):
                continue
            for attribute in _attributes(document, block):
                for part in e.walk(read_attribute(document, attribute)):
                    if _refers(part, removed):
                        yield _Reference(document, block, attribute, part)


def _is_itself(header: tuple[str, ...], removed: RemovedName) -> bool:
    """Whether a block is the one that goes, or one instance of it."""
    if removed.root == "module":
        return header == ("module", *removed.steps[:1]) and len(removed.steps) == 1
    return header == ("resource", removed.root, *removed.steps)


def _attributes(document: Document, block: Node) -> Iterator[Node]:
    yield from document.attributes(block).values()
    for inner in document.blocks(block):
        yield from _attributes(document, inner)


def _refers(part: e.Expression, removed: RemovedName) -> bool:
    traversal = e.steps_of(part)
    if traversal is None or traversal[0] != removed.root:
        return False
    steps = list(traversal[1])
    names = tuple(step for step in steps if isinstance(step, str))
    if removed.key is None:
        return names[: len(removed.steps)] == removed.steps
    at = steps[len(removed.steps)] if len(steps) > len(removed.steps) else None
    return names[: len(removed.steps)] == removed.steps and isinstance(at, e.LiteralValue) and at.value == removed.key


def _from_depends_on(found: _Reference) -> Splice | None:
    """The change that takes the reference out of a `depends_on`, or the whole argument if it is the only one."""
    document, own = found.document, document_attribute(found)
    if own is None:
        return None
    listed = e.bare(read_attribute(document, own))
    if not isinstance(listed, e.Tuple):
        return None
    position = next(
        number for number, each in enumerate(listed.items) if each.start <= found.expression.start < each.end
    )
    if len(listed.items) > 1:
        return remove_item(document, listed, position)
    start = document.source.rfind(b"\n", 0, own.start_byte) + 1
    return Splice(start, line_end(document, own.end_byte) + len(newline(document)), "")


def document_attribute(found: _Reference) -> Node | None:
    """The `depends_on` of the block, if the reference stands in it."""
    own = found.document.attributes(found.block).get("depends_on")
    return own if own is not None and own.start_byte == found.attribute.start_byte else None
