"""Values during evaluation: Terraform's types that JSON cannot tell apart, and conversions between types.

The rules are those of zclconf/go-cty `convert`, as Terraform uses it. Where a JSON value could be of several types and the
result depends on which, `Unknown` is raised.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal, InvalidOperation
from typing import TypeAlias

from gateway.model.json import Json


class Unknown(Exception):
    """The value of an expression is not certain; the message says which part could not be evaluated."""


class EvaluationFailed(Unknown):
    """Terraform itself would fail here (a missing key, an index out of range); `try` and `can` catch it."""


@dataclass(frozen=True, slots=True)
class Opaque:
    """Stands for an unknown value inside a collection, so that the other values in it stay known."""

    reason: str
    origin: object = field(default=None, compare=False)
    """The expression that could not be evaluated and its scope, if there is one."""


class SetOf(list["Value"]):
    """A set: sorted, without duplicates. It behaves as a list except in `for_each` and in a `for` with two names."""


class MapOf(dict[str, "Value"]):
    """A map, whose values all have one type, unlike an object's. The difference only matters if it is empty: `lookup` converts its default."""


Value: TypeAlias = "bool | int | float | str | Sequence[Value] | Mapping[str, Value] | Opaque | None"

EXACT = Context(prec=400)
"""Arithmetic with more digits than Terraform's 512 bits hold."""

_LONGEST_FLOAT = 15


def to_json(value: Value) -> Json:
    """The value as plain JSON. Raises `Unknown` if any part of it is unknown."""
    match value:
        case Opaque(reason=reason):
            raise Unknown(reason)
        case str() | bool() | int() | float() | None:
            return value
        case Mapping():
            return {key: to_json(item) for key, item in value.items()}
        case _:
            return [to_json(item) for item in value]


def is_list(value: Value) -> bool:
    """Whether the value is a list, tuple or set."""
    return isinstance(value, Sequence) and not isinstance(value, str)


def known(value: Value) -> Value:
    """The value itself. Raises `Unknown` if it is `Opaque`; values inside it may still be."""
    if isinstance(value, Opaque):
        raise Unknown(value.reason)
    return value


def items(value: Value, what: str) -> Sequence[Value]:
    """The items of a list, tuple or set. Raises `EvaluationFailed` for any other value."""
    known(value)
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise EvaluationFailed(f"{what} needs a list")
    return value


def mapping(value: Value, what: str) -> Mapping[str, Value]:
    """The value as a map. Raises `EvaluationFailed` for any other value."""
    known(value)
    if not isinstance(value, Mapping):
        raise EvaluationFailed(f"{what} needs a map")
    return value


def kind(value: Value) -> str:
    """bool, number, string, null, list or map."""
    match known(value):
        case None:
            return "null"
        case bool():
            return "bool"
        case int() | float():
            return "number"
        case str():
            return "string"
        case Mapping():
            return "map"
        case _:
            return "list"


def text(value: Value) -> str:
    """A scalar converted to a string as Terraform does. Raises `Unknown` if the digits are not certain."""
    match known(value):
        case bool():
            return "true" if value else "false"
        case str() as string:
            return string
        case int():
            return str(value)
        case float() as fraction:
            digits = format(Decimal(repr(fraction)), "f")
            if len(digits) > _LONGEST_FLOAT:
                raise Unknown(f"the digits of {value} are not certain")
            return digits
    raise EvaluationFailed(f"a {kind(value)} is not a string")


def decimal(value: Value) -> Decimal:
    """The exact value of a number, or of a string that contains one."""
    match known(value):
        case bool() | None:
            pass
        case int() | float():
            return Decimal(repr(value))
        case str() as string:
            try:
                return EXACT.create_decimal(string)
            except InvalidOperation:
                pass
    raise EvaluationFailed(f"a {kind(value)} is not a number")


def number(value: Decimal) -> int | float:
    """The number as int if it is whole, else as float. Raises `Unknown` if a float cannot hold its digits."""
    if not value.is_finite():
        raise EvaluationFailed("the number is not finite")
    if value == value.to_integral_value():
        return int(value)
    short = float(value)
    if Decimal(repr(short)) != value:
        raise Unknown("the digits of a fraction are not certain")
    return short


def truth(value: Value) -> bool:
    """The value of a bool, or of a string that contains one."""
    match known(value):
        case bool() as answer:
            return answer
        case "true" | "1":
            return True
        case "false" | "0":
            return False
    raise EvaluationFailed(f"a {kind(value)} is not a bool")


def kinds(value: Value) -> frozenset[str]:
    """The kinds of all scalars inside, without nulls; `opaque` for unknown values."""
    match value:
        case Opaque():
            return frozenset({"opaque"})
        case None:
            return frozenset()
        case Mapping():
            return frozenset[str]().union(*(kinds(item) for item in value.values()))
        case Sequence() if not isinstance(value, str):
            return frozenset[str]().union(*(kinds(item) for item in value))
        case _:
            return frozenset({kind(value)})


def unified(values: Iterable[Value]) -> list[Value]:
    """The values converted to their common type, as for the items of a list.

    Raises `Unknown` if JSON does not tell that type: for collections of different shapes with scalars of different kinds.
    """
    each = list(values)
    present = frozenset[str]().union(*(kinds(value) for value in each))
    if len({_category(value) for value in each} - {""}) > 1:
        raise Unknown("the common type of different values is not certain")
    if len(present - {"opaque"}) <= 1 and not ("opaque" in present and present & {"number", "bool"}):
        return each
    if "string" in present and not any(isinstance(value, Mapping) or is_list(value) for value in each):
        return [value if value is None or isinstance(value, Opaque) else text(value) for value in each]
    if len({_shape(value) for value in each if value is not None}) == 1 and "opaque" not in present:
        return each
    raise Unknown("the common type of different values is not certain")


def _category(value: Value) -> str:
    """scalar, list or map; empty for null and for an unknown value."""
    if value is None or isinstance(value, Opaque):
        return ""
    return "map" if isinstance(value, Mapping) else "list" if is_list(value) else "scalar"


def _shape(value: Value) -> str:
    """A text that is equal for values of the same structural type."""
    match value:
        case Mapping():
            return "{" + ",".join(f"{key!r}:{_shape(value[key])}" for key in sorted(value)) + "}"
        case Sequence() if not isinstance(value, str):
            return "[" + ",".join(_shape(item) for item in value) + "]"
        case _:
            return kind(value)


def as_set(values: Iterable[Value]) -> SetOf:
    """The set of the values: unified, sorted, without duplicates. Raises `Unknown` for sets of collections."""
    each = unified(values)
    scalars = [value for value in each if isinstance(value, str | bool | int | float)]
    if len(scalars) == len(each):
        return SetOf(sorted(set(scalars), key=lambda value: (isinstance(value, str), value)))
    if len(each) == 1 and not isinstance(each[0], Opaque):
        return SetOf(each)
    raise Unknown("the order of a set of collections is not certain")


def hcl_equal(one: Value, other: Value) -> bool:
    """The `==` operator of HCL: false for values of different types, so `1 == "1"` is false.

    Raises `Unknown` for equal collections, because their types may differ. See `gateway.model.equality` for how attribute
    values are compared.
    """
    to_json(one)
    to_json(other)
    equal = _equal(one, other)
    if equal and (isinstance(one, Mapping) or is_list(one)):
        raise Unknown("whether two collections are of one type is not certain")
    return equal


def _equal(one: Value, other: Value) -> bool:
    if kind(one) != kind(other):
        return False
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, Sequence) and isinstance(other, Sequence) and not isinstance(one, str):
        return len(one) == len(other) and all(_equal(a, b) for a, b in zip(one, other, strict=True))
    return one == other
