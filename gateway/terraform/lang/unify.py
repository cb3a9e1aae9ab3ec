"""The common type of several values, and the values converted to it, as the branches of a conditional or the items of a list are.

The rules are those of zclconf/go-cty `convert.UnifyUnsafe`. A type is computed from a value: a list written in place is a tuple, a
map written in place an object, until something makes them a list or a map (`values.ListOf`, `values.MapOf`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from gateway.terraform.lang import values
from gateway.terraform.lang.sets import as_set
from gateway.terraform.lang.values import ListOf, MapOf, Opaque, SetOf, Unknown, Value


@dataclass(frozen=True, slots=True)
class Collection:
    """`list(T)`, `set(T)` or `map(T)`."""

    kind: str
    item: "Type"


@dataclass(frozen=True, slots=True)
class TupleType:
    """A list written in place: each item has a type of its own."""

    items: "tuple[Type, ...]"


@dataclass(frozen=True, slots=True)
class ObjectType:
    """A map written in place: each attribute has a type of its own."""

    attributes: "tuple[tuple[str, Type], ...]"


Type: TypeAlias = str | Collection | TupleType | ObjectType
"""`string`, `number`, `bool`, `null` (of any type), `hidden` (the value does not tell), or a structure of those."""

_UNCERTAIN = "the common type of different values is not certain"


def type_of(value: Value) -> Type:
    """The type of a value."""
    match value:
        case Opaque():
            return "hidden"
        case ListOf() | SetOf():
            return Collection("set" if isinstance(value, SetOf) else "list", _item_type(value))
        case MapOf():
            return Collection("map", _item_type(value.values()))
        case Mapping():
            return ObjectType(tuple((key, type_of(value[key])) for key in sorted(value)))
        case Sequence() if not isinstance(value, str):
            return TupleType(tuple(type_of(item) for item in value))
        case _:
            return values.kind(value)


def _item_type(items: Iterable[Value]) -> Type:
    types = [type_of(item) for item in items]
    return unify(types) if types else "hidden"


def unified(each: Iterable[Value]) -> list[Value]:
    """The values converted to their common type. Raises `Unknown` if there is none, or the values do not tell it."""
    row = list(each)
    target = unify([type_of(value) for value in row])
    return [converted(value, target) for value in row]


def unify(types: Sequence[Type]) -> Type:
    """The common type. Raises `Unknown`."""
    distinct = [each for each in dict.fromkeys(types) if each != "null"]
    if len(distinct) <= 1:
        return distinct[0] if distinct else "null"
    if "hidden" in distinct:
        shown = unify([each for each in distinct if each != "hidden"])
        if not _only_strings(shown):
            raise Unknown(_UNCERTAIN)  # a number stays one or becomes a string, as the hidden type decides
        return shown
    if all(isinstance(each, str) for each in distinct):
        if "string" not in distinct:
            raise Unknown(_UNCERTAIN)
        return "string"
    return _structure(distinct)


def _structure(types: Sequence[Type]) -> Type:
    kinds = {_kind(each) for each in types}
    tuples = [each.items for each in types if isinstance(each, TupleType)]
    objects = [each.attributes for each in types if isinstance(each, ObjectType)]
    if kinds == {"tuple"} and len({len(items) for items in tuples}) == 1:
        return TupleType(tuple(unify(column) for column in zip(*tuples, strict=True)))
    if kinds == {"object"} and len({tuple(name for name, _ in each) for each in objects}) == 1:
        names = [name for name, _ in objects[0]]
        return ObjectType(tuple((name, unify([dict(each)[name] for each in objects])) for name in names))
    for kind, member in (("list", "tuple"), ("map", "object"), ("set", "tuple")):
        if kinds <= {kind, member}:
            return Collection(kind, unify([item for each in types for item in _items(each)]))
    raise Unknown(_UNCERTAIN)


def _kind(kind: Type) -> str:
    match kind:
        case Collection():
            return kind.kind
        case TupleType():
            return "tuple"
        case ObjectType():
            return "object"
        case _:
            return "scalar"


def _items(kind: Type) -> list[Type]:
    match kind:
        case Collection(item=item):
            return [item]
        case TupleType(items=items):
            return list(items)
        case ObjectType(attributes=attributes):
            return [each for _, each in attributes]
        case _:
            return []


def _only_strings(kind: Type) -> bool:
    if isinstance(kind, str):
        return kind in ("string", "null", "hidden")
    if isinstance(kind, Collection) and kind.kind == "set":
        return False  # becoming a set changes the order of a list
    return all(_only_strings(item) for item in _items(kind))


def converted(value: Value, target: Type) -> Value:
    """A value converted to a type that `unify` found for it."""
    if value is None or isinstance(value, Opaque):
        return value
    match target:
        case "string":
            return values.text(value)
        case Collection(kind="list", item=item):
            return ListOf(converted(each, item) for each in values.items(value, "a list"))
        case Collection(kind="set", item=item):
            return as_set(converted(each, item) for each in values.items(value, "a set"))
        case Collection(item=item):
            table = values.mapping(value, "a map")
            return MapOf({key: converted(each, item) for key, each in table.items()})
        case TupleType(items=items):
            row = values.items(value, "a tuple")
            return [converted(each, item) for each, item in zip(row, items, strict=True)]
        case ObjectType(attributes=attributes):
            table = values.mapping(value, "an object")
            return {name: converted(table[name], item) for name, item in attributes}
        case _:
            return value
