"""Terraform's functions of lists, maps and sets."""

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

from gateway.terraform.lang.sets import as_set
from gateway.terraform.lang.unify import unified
from gateway.terraform.lang.values import (
    EvaluationFailed,
    ListOf,
    MapOf,
    SetOf,
    Unknown,
    Value,
    decimal,
    hcl_equal,
    is_list,
    items,
    kinds,
    known,
    letters,
    mapping,
    number,
    text,
    truth,
)

_LARGEST_PRODUCT = 10_000


def _merge(*maps: Value) -> Value:
    present = [mapping(each, "merge()") for each in maps if known(each) is not None]
    merged = {key: value for each in present for key, value in each.items()}
    return MapOf(merged) if any(isinstance(each, MapOf) for each in present) else merged


def _lookup(source: Value, key: Value, *default: Value) -> Value:
    table, name = mapping(source, "lookup()"), text(key)
    if name in table:
        return table[name]
    if not default:
        raise EvaluationFailed(f"lookup() finds no {name}")
    if not isinstance(table, MapOf):
        return default[0]
    if not table and not table.scalar:
        raise Unknown("whether lookup() converts its default is not certain")
    return _as(kinds(table) or frozenset({table.scalar}), default[0])


def _as(wanted: frozenset[str], value: Value) -> Value:
    """A value converted to the kind that the scalars of a map have."""
    if value is None or (not is_list(value) and not isinstance(value, Mapping) and kinds(value) == wanted):
        return value
    match tuple(wanted), value:
        case ("string",), str() | int() | float():
            return text(value)
        case ("number",), str():
            return number(decimal(value))
        case ("bool",), str():
            return truth(value)
    raise Unknown("whether lookup() converts its default is not certain")


def _coalesce(*values: Value) -> Value:
    for value in values:
        if known(value) is not None and value != "":
            position = next(index for index, each in enumerate(values) if each is value)
            return unified(values)[position]
    raise EvaluationFailed("coalesce() finds no value")


def _coalescelist(*lists: Value) -> Value:
    for each in lists:
        if items(each, "coalescelist()"):
            return each
    raise EvaluationFailed("coalescelist() finds no list with items")


def _concat(*lists: Value) -> Value:
    if not lists:
        raise EvaluationFailed("concat() needs a list")
    joined = [item for each in lists for item in items(each, "concat()")]
    if not all(isinstance(each, ListOf | SetOf) for each in lists):
        return joined
    return ListOf(unified(joined))


def _element(source: Value, index: Value) -> Value:
    each, position = items(source, "element()"), decimal(index)
    if not each or position != int(position) or isinstance(source, SetOf):
        raise EvaluationFailed("element() needs a list with items and a whole index")
    if position < 0:
        raise Unknown("element() with a negative index depends on the version of Terraform")
    return each[int(position) % len(each)]


def _contains(source: Value, wanted: Value) -> Value:
    each = items(source, "contains()")
    if isinstance(wanted, Mapping) or is_list(wanted):
        raise Unknown("contains() of collections")
    return any(hcl_equal(item, wanted) for item in each)


def _index(source: Value, wanted: Value) -> Value:
    each = items(source, "index()")
    if isinstance(source, SetOf):
        raise EvaluationFailed("index() needs a list")
    if isinstance(wanted, Mapping) or is_list(wanted):
        raise Unknown("index() of collections")
    for position, item in enumerate(each):
        if hcl_equal(item, wanted):
            return position
    raise EvaluationFailed("index() finds no such item")


def _flatten(source: Value) -> list[Value]:
    flat: list[Value] = []
    for item in items(source, "flatten()"):
        flat.extend(_flatten(item) if is_list(known(item)) else [item])
    return flat


def _distinct(source: Value) -> Value:
    # Items of a list are of one type, so that equal JSON is equal for Terraform too.
    first: dict[Hashable, Value] = {}
    for item in unified(items(source, "distinct()")):
        first.setdefault(_strict(item), item)
    return ListOf(first.values())


def _strict(value: Value) -> Hashable:
    """The value in a form that can be looked up, and in which `true` is not `1`."""
    match value:
        case Mapping():
            return "{", *((key, _strict(value[key])) for key in sorted(value))
        case Sequence() if not isinstance(value, str):
            return "[", *(_strict(item) for item in value)
        case _:
            return isinstance(value, bool), value


def _length(source: Value) -> Value:
    match known(source):
        case str() as string:
            return len(letters(string))
        case Mapping() | Sequence() as collection:
            return len(collection)
    raise EvaluationFailed("length() needs a collection")


def _one(source: Value) -> Value:
    each = items(source, "one()")
    if len(each) > 1:
        raise EvaluationFailed("one() was given several items")
    return each[0] if each else None


def _slice(source: Value, start: Value, end: Value) -> Value:
    each = items(source, "slice()")
    first, last = int(decimal(start)), int(decimal(end))
    if not 0 <= first <= last <= len(each) or isinstance(source, SetOf):
        raise EvaluationFailed("slice() is out of range")
    return _like(source, each[first:last])


def _like(source: Value, part: Iterable[Value]) -> list[Value]:
    """A list if the source is one, else a tuple."""
    return ListOf(part) if isinstance(source, ListOf) else list(part)


def _zipmap(keys: Value, values: Value) -> Value:
    names, each = items(keys, "zipmap()"), items(values, "zipmap()")
    if len(names) != len(each):
        raise EvaluationFailed("zipmap() needs as many keys as values")
    table = {text(name): value for name, value in zip(names, each, strict=True)}
    return MapOf(table) if isinstance(values, ListOf) else table


def _values(source: Value) -> Value:
    table = mapping(source, "values()")
    row = [table[key] for key in sorted(table)]
    return ListOf(row) if isinstance(source, MapOf) else row


def _keys(source: Value) -> Value:
    names = sorted(mapping(source, "keys()"))
    return ListOf(names) if isinstance(source, MapOf) else names


def _to_map(source: Value) -> Value:
    table = mapping(source, "tomap()")
    return MapOf(zip(table, unified(table.values()), strict=True))


def _to_list(source: Value) -> Value:
    return None if source is None else ListOf(unified(items(source, "tolist()")))


def _to_set(source: Value) -> Value:
    return None if source is None else as_set(unified(items(source, "toset()")))


def _chunklist(source: Value, size: Value) -> Value:
    each, length = items(source, "chunklist()"), decimal(size)
    if length < 0 or length != int(length) or isinstance(source, SetOf):
        raise EvaluationFailed("chunklist() needs a list, and a whole size that is not negative")
    if not each or not length:
        return ListOf([ListOf(unified(each))] if each else [])
    row, step = unified(each), int(length)
    return ListOf(ListOf(row[start : start + step]) for start in range(0, len(row), step))


def _matchkeys(values: Value, keys: Value, wanted: Value) -> Value:
    each, names = items(values, "matchkeys()"), items(keys, "matchkeys()")
    if len(each) != len(names):
        raise EvaluationFailed("matchkeys() needs as many keys as values")
    searched = items(wanted, "matchkeys()")
    both = unified([*names, *searched])
    looked_up, found = both[: len(names)], {_strict(item) for item in both[len(names) :]}
    return ListOf(value for value, name in zip(each, looked_up, strict=True) if _strict(name) in found)


def _setproduct(*sets: Value) -> Value:
    if len(sets) < 2:  # noqa: PLR2004  a product has two factors
        raise EvaluationFailed("setproduct() needs at least two collections")
    rows = [unified(items(each, "setproduct()")) for each in sets]
    if math.prod(len(row) for row in rows) > _LARGEST_PRODUCT:
        raise Unknown(f"setproduct() of more than {_LARGEST_PRODUCT} items")
    product = [list(each) for each in itertools.product(*rows)]
    return as_set(product) if all(isinstance(each, SetOf) for each in sets) else ListOf(product)


def _sets(name: str, sets: Sequence[Value], combine: Callable[[list[list[Value]]], Iterable[Value]]) -> SetOf:
    """A combination of sets whose items are first converted to one type."""
    if not sets:
        raise EvaluationFailed(f"{name}() needs at least one set")
    rows = [list(items(each, f"{name}()")) for each in sets]
    every = iter(unified([item for row in rows for item in row]))
    same = [[next(every) for _ in row] for row in rows]
    return as_set(combine(same))


def _subtracted(rows: list[list[Value]]) -> Iterable[Value]:
    if len(rows) != 2:  # noqa: PLR2004  one set less the other
        raise EvaluationFailed("setsubtract() needs two sets")
    without = {_strict(item) for item in rows[1]}
    return [item for item in rows[0] if _strict(item) not in without]


def _intersection(rows: list[list[Value]]) -> Iterable[Value]:
    others = [{_strict(item) for item in row} for row in rows[1:]]
    return [item for item in rows[0] if all(_strict(item) in row for row in others)]


def _sort(source: Value) -> Value:
    return ListOf(sorted(text(item) for item in items(source, "sort()")))


def _transpose(source: Value) -> Value:
    turned: dict[str, list[Value]] = {}
    table = mapping(source, "transpose()")
    for key in sorted(table):
        for item in items(table[key], "transpose()"):
            turned.setdefault(text(item), []).append(key)
    return MapOf({key: ListOf(turned[key]) for key in sorted(turned)})


def _reverse(source: Value) -> Value:
    return _like(ListOf() if isinstance(source, ListOf | SetOf) else source, reversed(items(source, "reverse()")))


def _all(source: Value) -> Value:
    return all(item is not None and truth(item) for item in items(source, "alltrue()"))


def _any(source: Value) -> Value:
    return any(item is not None and truth(item) for item in items(source, "anytrue()"))


def _compact(source: Value) -> Value:
    return ListOf(text(item) for item in items(source, "compact()") if item is not None and text(item))


READING_NO_ITEMS: Mapping[str, Callable[..., Value]] = {
    "merge": _merge,
    "lookup": _lookup,
    "coalesce": _coalesce,
    "coalescelist": _coalescelist,
    "concat": _concat,
    "element": _element,
    "flatten": _flatten,
    "keys": _keys,
    "values": _values,
    "length": _length,
    "one": _one,
    "slice": _slice,
    "reverse": _reverse,
    "zipmap": _zipmap,
    "tomap": _to_map,
    "tolist": _to_list,
    "sensitive": known,
    "nonsensitive": known,
    "ephemeralasnull": known,
}
"""Functions that return items without reading them, so that an unknown item only makes itself unknown."""

FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    "alltrue": _all,
    "anytrue": _any,
    "chunklist": _chunklist,
    "compact": _compact,
    "contains": _contains,
    "distinct": _distinct,
    "index": _index,
    "matchkeys": _matchkeys,
    "setintersection": lambda *sets: _sets("setintersection", sets, _intersection),
    "setproduct": _setproduct,
    "setsubtract": lambda *sets: _sets("setsubtract", sets, _subtracted),
    "setunion": lambda *sets: _sets("setunion", sets, lambda rows: [item for row in rows for item in row]),
    "sort": _sort,
    "tobool": lambda value: None if value is None else truth(value),
    "tonumber": lambda value: None if value is None else number(decimal(value)),
    "toset": _to_set,
    "transpose": _transpose,
}
