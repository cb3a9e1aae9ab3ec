"""Between a value as it is given and as a type constraint converts it: a set has its own order, and `optional()` fills in what is not given."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeGuard

from gateway.core.model.equality import equal
from gateway.core.model.json import Json
from gateway.terraform.lang import expression as e
from gateway.terraform.lang import types, values
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.sets import as_set
from gateway.terraform.lang.unify import unified
from gateway.terraform.lang.values import Unknown, Value
from reconciler.rewrite.trace.inverse import Inverse, unchanged

_MOST_ITEMS = 1_000
"""Of a collection whose items are found again; each is compared with the others."""


def as_given(now: Value, constraint: Expression | None, steps: tuple[str, ...] = ()) -> Inverse:
    """From a wanted value of a variable, or of what is at the steps in it, to the value that its caller gives, who gives `now`.

    Items that stay are as they are given, and those of a set where they are; new ones go without what the type fills in.
    """
    if constraint is None or not _is_changing(constraint):
        return unchanged
    kind, held, siblings, rest = e.bare(constraint), now, tuple[Value, ...](), steps
    while rest:
        siblings = tuple(held.values()) if isinstance(held, Mapping) else ()
        step, rest, inner = _below(kind, held, rest)
        if inner is None or not _is_changing(inner):
            return unchanged
        kind, held = inner, _held(held, step)
    if held is None and steps:
        return lambda wanted: _new(wanted, kind, siblings)
    return lambda wanted: _given(held, wanted, kind)


def _is_changing(kind: Expression) -> bool:
    return any(isinstance(each, e.FunctionCall) and each.name in _CHANGING for each in e.walk(kind))


def _below(kind: Expression, held: Value, steps: tuple[str, ...]) -> tuple[str, tuple[str, ...], Expression | None]:
    """The first step, those after it, and the type of what is there; None if the type does not tell."""
    inner = e.bare(kind.arguments[0]) if isinstance(kind, e.FunctionCall) and len(kind.arguments) == 1 else None
    match kind:
        case e.FunctionCall(name="map"):
            length = next((n for n in range(1, len(steps) + 1) if ".".join(steps[:n]) in _table(held)), len(steps))
            return ".".join(steps[:length]), steps[length:], inner
        case e.FunctionCall(name="list" | "set"):
            return steps[0], steps[1:], inner
        case e.FunctionCall(name="object") if isinstance(inner, e.Object):
            return steps[0], steps[1:], dict(_attributes(inner)).get(steps[0])
    return steps[0], steps[1:], None


def _held(value: Value, step: str) -> Value:
    if isinstance(value, Mapping):
        return value.get(step)
    row = value if isinstance(value, Sequence) and not isinstance(value, str) else ()
    return row[int(step)] if step.isdecimal() and int(step) < len(row) else None


def _table(value: Value) -> Mapping[str, Value]:
    return value if isinstance(value, Mapping) else {}


_CHANGING = ("set", "optional")


def set_as_given(now: Value) -> Inverse:
    """From the items of a wanted set to those of the list that `toset` is given, which is `now`."""

    def convert(wanted: Json) -> Json:
        row = list(_items(now))
        return wanted if not row or not _is_list(wanted) else _in_order(row, _unified(row), wanted, lambda item: item)

    return convert


def steps_as_given(now: Value, steps: tuple[str, ...], constraint: Expression | None) -> tuple[str, ...]:
    """The steps of a path in a variable as steps in what its caller gives. Raises `Unknown` if an item is not found."""
    kind, held, found = None if constraint is None else e.bare(constraint), now, tuple[str, ...]()
    while steps and kind is not None and _is_changing(kind):
        step, rest, inner = _below(kind, held, steps)
        if isinstance(kind, e.FunctionCall) and kind.name == "set" and step.isdecimal():
            step = str(_place(_items(types.convert(held, replace(kind, name="list"))), int(step)))
        found = (*found, step)
        steps, kind, held = rest, inner, _held(held, step)
    return (*found, *steps)


def filled_in(now: Value, constraint: Expression | None, steps: tuple[str, ...]) -> tuple[Json, tuple[str, ...]] | None:
    """A list that a type fills in for something that is not given, and a path leads into: the list and the steps to it; None if there is none.

    A caller who wants one of its items otherwise gives all of it. Raises `Unknown` if the value is not of the type.
    """
    if constraint is None or not _is_changing(constraint):
        return None
    typed = types.convert(now, constraint)
    for depth in range(1, len(steps)):
        step = steps[depth - 1]
        if not isinstance(typed, Mapping) or step not in typed or not (now is None or isinstance(now, Mapping)):
            return None
        given = isinstance(now, Mapping) and now.get(step) is not None
        typed, now = typed[step], now[step] if isinstance(now, Mapping) and given else None
        if not given and values.is_list(typed):
            return values.to_json(typed), steps[:depth]
    return None


def set_steps_as_given(now: Value, steps: tuple[str, ...]) -> tuple[str, ...]:
    """The steps of a path in the set that `toset` makes as steps in the list that it is given. Raises `Unknown` if an item is not found."""
    row = list(_items(now))
    if not steps or not steps[0].isdecimal() or isinstance(now, values.SetOf) or not holds_collections(row):
        return steps
    return (str(_place(unified(row), int(steps[0]))), *steps[1:])


def place_in_set(items: Sequence[Value], key: Value) -> str:
    """The step to an item of a collection: the key, or the place of an item of a set that is no plain value."""
    if isinstance(key, Mapping) or values.is_list(key):
        return str(next(at for at, item in enumerate(items) if item == key))
    return values.text(key)


# ------------------------------------------------------------------------------------------------------ values


def _given(now: Value, wanted: Json, kind: Expression) -> Json:
    """A wanted value without what its type fills in. `now` is what is given in its place, null if nothing is."""
    if not isinstance(kind, e.FunctionCall) or len(kind.arguments) != 1:
        return wanted
    inner = e.bare(kind.arguments[0])
    if kind.name in ("list", "set") and _is_list(wanted):
        row = list(_items(now))
        try:
            typed = list(_items(types.convert(row, replace(kind, name="list"))))
        except Unknown:
            return wanted
        if kind.name == "list" or not row:
            return [_item(row, typed, item, inner) for item in wanted]
        return _in_order(row, typed, wanted, lambda item: _new(item, inner, row))
    if kind.name == "map" and isinstance(wanted, Mapping):
        return {key: _given(_table(now).get(key), item, inner) for key, item in wanted.items()}
    if kind.name == "object" and isinstance(inner, e.Object) and isinstance(wanted, Mapping):
        return _object(_table(now), wanted, inner)
    return wanted


def _object(now: Mapping[str, Value], wanted: Mapping[str, Json], kind: e.Object) -> Json:
    """The members that are given already, and those that `optional()` does not fill in with the wanted value."""
    types_of = dict(_attributes(kind))
    result: dict[str, Json] = {}
    for name, value in wanted.items():
        written = types_of.get(name)
        if name in now or written is None or not _is_default(value, kind, name):
            result[name] = value if written is None else _given(now.get(name), value, written)
    return result


def _is_default(value: Json, kind: e.Object, name: str) -> bool:
    """Whether the type fills in this value for an attribute that is not given."""
    alone = replace(kind, elements=tuple(each for each in kind.elements if _name(each) == name))
    with contextlib.suppress(Unknown):
        filled = types.convert({}, e.FunctionCall(kind.start, kind.end, "object", (alone,)))
        return isinstance(filled, Mapping) and equal(values.to_json(filled[name]), value)
    return False


def _attributes(kind: e.Object) -> Iterator[tuple[str, Expression]]:
    """Each attribute of an object type, with its type."""
    for element in kind.elements:
        written = e.bare(element.value)
        if isinstance(written, e.FunctionCall) and written.name == "optional" and written.arguments:
            written = e.bare(written.arguments[0])
        yield _name(element), written


def _name(element: e.Element) -> str:
    return str(element.key.value) if isinstance(element.key, e.LiteralValue) else ""


def _new(item: Json, kind: Expression, siblings: Sequence[Value]) -> Json:
    """An item that nobody gave before, with what every sibling gives."""
    usual = [set(each) for each in siblings if isinstance(each, Mapping)]
    always: Mapping[str, Value] = (
        dict.fromkeys(set.intersection(*usual)) if usual and len(usual) == len(siblings) else {}
    )
    inner = e.bare(kind.arguments[0]) if isinstance(kind, e.FunctionCall) and len(kind.arguments) == 1 else None
    if (
        isinstance(inner, e.Object)
        and isinstance(item, Mapping)
        and isinstance(kind, e.FunctionCall)
        and kind.name == "object"
    ):
        return _object(always, item, inner)
    return _given(None, item, kind)


def _item(row: Sequence[Value], typed: Sequence[Value], wanted: Json, kind: Expression) -> Json:
    """An item of a list as it is given already, or a new one."""
    at = next((at for at, item in enumerate(typed) if _is(item, wanted)), None)
    return _new(wanted, kind, row) if at is None else _as_json(row[at], wanted)


def _in_order(row: Sequence[Value], typed: Sequence[Value], wanted: Sequence[Json], new: Inverse) -> Json:
    """The wanted items of a set: those that are given as and where they are, then the new ones."""
    if len(row) > _MOST_ITEMS:
        return list(wanted)
    kept = [_as_json(item, values.to_json(own)) for item, own in zip(row, typed, strict=True) if _among(own, wanted)]
    return [*kept, *(new(each) for each in wanted if not any(_is(own, each) for own in typed))]


def _among(value: Value, wanted: Sequence[Json]) -> bool:
    return any(_is(value, each) for each in wanted)


def _is(value: Value, wanted: Json) -> bool:
    try:
        return equal(values.to_json(value), wanted)
    except Unknown:
        return False


def _as_json(value: Value, otherwise: Json) -> Json:
    try:
        return values.to_json(value)
    except Unknown:
        return otherwise


# ------------------------------------------------------------------------------------------------------ places


def _place(row: Sequence[Value], at: int) -> int:
    """Where the item of a set is in the list that the set is made of. Raises `Unknown`."""
    ordered = as_set(row)
    if at >= len(ordered):
        raise Unknown(f"the set has no item {at}")
    return next(place for place, item in enumerate(row) if item == ordered[at])


def _items(value: Value) -> Sequence[Value]:
    return () if value is None else values.items(value, "a collection")


def _is_list(value: Json) -> TypeGuard[Sequence[Json]]:
    return isinstance(value, Sequence) and not isinstance(value, str)


def holds_collections(row: Sequence[Value]) -> bool:
    """Whether any item is a collection itself."""
    return any(isinstance(item, Mapping) or values.is_list(item) for item in row)


def _unified(row: Sequence[Value]) -> Sequence[Value]:
    try:
        return unified(row)
    except Unknown:
        return row
