"""Writes wanted values into Terraform code: the smallest edit for each, guarded, or a reason why there is none."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gateway.errors import CodeInvalid
from gateway.model.equality import equal
from gateway.model.json import Json
from gateway.terraform.config.instance import ResourceInstance, declared
from gateway.terraform.config.module import Module, load_module
from gateway.terraform.lang.hcl import Document, parse
from gateway.terraform.lang.values import EvaluationFailed, Unknown
from reconciler.model import Edit, Edited, Left, Wanted
from reconciler.rewrite.editors import attribute, entry, listing, literal, removal
from reconciler.rewrite.editors.align import aligned
from reconciler.rewrite.editors.splice import Editor, Splice
from reconciler.rewrite.editors.text import CannotEdit
from reconciler.rewrite.footprint import Footprint, concrete, differences, footprints
from reconciler.rewrite.trace import Trace, traces

EDITORS: tuple[Editor, ...] = (
    removal.edit,
    literal.edit,
    listing.edit,
    entry.edit,
    attribute.edit,
)
"""Every kind of edit, in the order they are asked; the first that knows the place makes the change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    """The code as it is after the edits so far."""

    root: Path
    sources: Mapping[Path, bytes]
    module: Module
    instances: Mapping[str, ResourceInstance]
    footprints: Mapping[str, Mapping[str, Footprint]]

    def original(self, path: Path) -> bytes | None:
        """The bytes of a file in this state; None where there is none."""
        if path in self.sources:
            return self.sources[path]
        file = self.root / path
        return file.read_bytes() if file.is_file() else None

    def instance(self, address: str) -> ResourceInstance | None:
        """The instance at an address."""
        return self.instances.get(address)


def edit(root: Path, wanted: Sequence[Wanted], sources: Mapping[Path, bytes] | None = None) -> Edited:
    """The files that declare what is wanted, the edits that lead there (each on the result of those before), and what is left.

    Each wanted value is written whole or not at all; what the code declares already needs no edit. The result does not depend
    on the order of `wanted`. Nothing is written to disk. Raises `CodeInvalid` where the code cannot be read to begin with.
    """
    first = state = _load(root, sources or {})
    todo = sorted(wanted, key=_order)
    allowed = tuple(part for each in todo for part in _parts(first, each))
    edits: list[Edit] = []
    left: tuple[Left, ...] = ()
    while todo:
        made: list[Edit] = []
        missed: list[tuple[Wanted, Left]] = []
        for each in todo:
            result = _edit_whole(state, each, allowed)
            if isinstance(result, Left):
                missed.append((each, result))
            else:
                state, more = result
                made.extend(more)
        edits.extend(made)
        left = tuple(result for _, result in missed)
        # What one edit could not reach alone may be reached now that another wanted value is in place.
        todo = [each for each, _ in missed] if made else []
    changed = {path: source for path, source in state.sources.items() if first.original(path) != source}
    return Edited(files=changed, edits=tuple(edits), left=left)


def _order(wanted: Wanted) -> tuple[str, str, str]:
    return wanted.address, wanted.attribute, json.dumps(wanted.value, sort_keys=True)


def _load(root: Path, sources: Mapping[Path, bytes], known: Module | None = None) -> _State:
    module = load_module(root, sources, known)
    instances = {instance.address: instance for instance in module.instances()}
    return _State(root=root, sources=dict(sources), module=module, instances=instances, footprints=footprints(module))


# ------------------------------------------------------------------------------------------ whole maps and blocks


def _parts(state: _State, wanted: Wanted) -> Iterator[Wanted]:
    """The wanted value taken apart where the code declares a map, or one nested block: an entry each for what differs."""
    here = _declared_footprint(state, wanted)
    block = isinstance(here, list) and len(here) == 1 and isinstance(here[0], dict) and _is_one_row(wanted.value)
    value = wanted.value[0] if block and isinstance(wanted.value, Sequence) else wanted.value
    table = here[0] if block and isinstance(here, list) else here
    if not isinstance(value, Mapping) or not isinstance(table, dict) or not (table or value):
        yield wanted
        return
    prefix = f"{wanted.attribute}.0" if block else wanted.attribute
    for key in sorted(value.keys() | table.keys()):
        unset = value.get(key) in (None, "", [], {}, False, 0)
        if (key not in table or key not in value) and block and unset:
            continue
        part = replace(wanted, attribute=f"{prefix}.{key}", value=value.get(key))
        if not _holds(state, part):
            yield from _parts(state, part)


def _is_one_row(value: Json) -> bool:
    return (
        isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 1 and isinstance(value[0], Mapping)
    )


def _declared_footprint(state: _State, wanted: Wanted) -> Footprint:
    steps = wanted.attribute.split(".")
    here: Footprint = dict(state.footprints.get(wanted.address, {}))
    for step in concrete(here, steps):
        if isinstance(here, dict):
            here = here.get(step)
        elif isinstance(here, list) and step.isdecimal() and int(step) < len(here):
            here = here[int(step)]
        else:
            return None
    return here


def _edit_whole(state: _State, wanted: Wanted, allowed: Sequence[Wanted]) -> tuple[_State, list[Edit]] | Left:
    """Every part of a wanted value, or none."""
    edits: list[Edit] = []
    for part in tuple(_parts(state, wanted)):
        result = _edit_part(state, part, allowed)
        if isinstance(result, Left):
            return replace(result, wanted=wanted)
        state, made = result
        edits.extend(replace(each, wanted=wanted) for each in made)
    return state, edits


# -------------------------------------------------------------------------------------------------- one value


def _holds(state: _State, wanted: Wanted) -> bool:
    """Whether the code declares the value already. Not to declare it is the same as null."""
    instance = state.instance(wanted.address)
    if instance is None:
        return False
    try:
        return equal(declared(instance, wanted.attribute), wanted.value)
    except EvaluationFailed:
        return wanted.value is None
    except Unknown:
        return False


def _edit_part(state: _State, wanted: Wanted, allowed: Sequence[Wanted]) -> tuple[_State, list[Edit]] | Left:
    """One value at the first place where it changes only what is wanted."""
    if _holds(state, wanted):
        return state, []
    reasons: list[tuple[str, tuple[str, ...]]] = []
    for place in traces(state.module, wanted.address, wanted.attribute):
        if place.kind == "refused":
            reasons.append((place.refused, place.chain))
            continue
        try:
            after, edit_made = _try(state, place, wanted, allowed)
        except (CannotEdit, CodeInvalid) as error:
            reasons.append((str(error), place.chain))
        except Unknown as error:
            reasons.append((f"The value cannot be reached from this place: {error}.", place.chain))
        else:
            return after, [edit_made]
    reason, chain = reasons[0]
    return Left(wanted=wanted, reason=reason, chain=chain)


def _try(state: _State, place: Trace, wanted: Wanted, allowed: Sequence[Wanted]) -> tuple[_State, Edit]:
    """The state after an edit at one place. Raises `CannotEdit` where it cannot be made, or changes anything else."""
    document = place.document
    if document is None:
        raise CannotEdit("There is no file to edit.")
    if document.path.parts[:1] == ("..",):
        raise CannotEdit(f"{document.path} lies outside the stack's directory, where other stacks may share it.")
    _refuse_shared(state.module, document.path)
    value = wanted.value if wanted.value is None else place.convert(wanted.value)
    source = _spliced(document, _change(place, value))
    after = _load(state.root, {**state.sources, document.path: source}, state.module)
    _guard(state, after, wanted, allowed)
    return after, _as_edit(document.path, document.source, source, wanted, place.chain)


def _refuse_shared(module: Module, path: Path) -> None:
    """Raise `CannotEdit` where a file belongs to a module that is used more than once, or by calls that are not known."""
    users = [each for each in module.modules() if path in each.source.documents]
    if not users or not users[0].address:
        return
    directory = users[0].source.directory
    calls = [(source, name) for source in module.sources.values() for name in source.calls]
    calling = [name for source, name in calls if source.called_directory(name) == directory]
    if len(users) > 1 or len(calling) > 1:
        raise CannotEdit(f"{path} belongs to a module that is used more than once; only its calls are edited.")


def _change(place: Trace, value: Json) -> Splice:
    for editor in EDITORS:
        change = editor(place, value)
        if change is not None:
            return change
    raise CannotEdit("No editor writes a value of this kind at this place.")


def _spliced(document: Document, change: Splice) -> bytes:
    """The file with the change made, realigned if it was aligned before. Raises `CodeInvalid` where it no longer parses."""
    after = parse(document.path, change.applied(document.source))
    return aligned(after) if aligned(document) == document.source else after.source


def _guard(before: _State, after: _State, wanted: Wanted, allowed: Sequence[Wanted]) -> None:
    """Raise `CannotEdit` unless the wanted value is there now, and all else that changed is wanted just so."""
    if not _holds(after, wanted):
        raise CannotEdit("The edit would not give the attribute the wanted value.")
    for address in sorted(before.footprints.keys() | after.footprints.keys()):
        one, other = before.footprints.get(address), after.footprints.get(address)
        if one is None or other is None:
            raise CannotEdit(f"The edit would also add or remove {address.removeprefix('?')}.")
        for path in differences(dict(one), dict(other)):
            covers = (each for each in (wanted, *allowed) if each.address == address)
            if not any(_covers(each, dict(other), path) and _holds(after, each) for each in covers):
                shown = f"{address.removeprefix('?')}.{'.'.join(path)}"
                raise CannotEdit(f"The edit would also change {shown}, which is not wanted.")


def _covers(wanted: Wanted, footprint: dict[str, Footprint], path: tuple[str, ...]) -> bool:
    """Whether a changed path lies at or below the wanted one."""
    whole = ".".join(path)
    target = ".".join(concrete(footprint, wanted.attribute.split(".")))
    return whole == target or whole.startswith(f"{target}.")


def _as_edit(path: Path, before: bytes, after: bytes, wanted: Wanted, chain: tuple[str, ...]) -> Edit:
    """The smallest span that differs."""
    start = _common(before, after)
    same = _common(before[start:][::-1], after[start:][::-1])
    old, new = before[start : len(before) - same], after[start : len(after) - same]
    return Edit(path=path, start=start, end=start + len(old), old=old, new=new, wanted=wanted, chain=chain)


def _common(one: bytes, other: bytes) -> int:
    """How many bytes two texts begin with together."""
    same, differs = 0, min(len(one), len(other)) + 1
    while same + 1 < differs:
        middle = (same + differs) // 2
        same, differs = (middle, differs) if one[:middle] == other[:middle] else (same, middle)
    return same
