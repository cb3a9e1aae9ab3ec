"""Values while an expression is evaluated: Terraform's types as far as JSON cannot tell them, and conversions between them.

The rules are those of zclconf/go-cty `convert`, as Terraform uses it. Whatever JSON's shapes leave open raises `Unknown`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal, InvalidOperation
from typing import TypeAlias

from gateway.model.json import Json


class Unknown(Exception):
    """The value of an expression is not certain; the message says what could not be evaluated."""


class EvaluationFailed(Unknown):
    """Terraform itself would fail here (a missing key, an index out of range): what `try` and `can` look for."""


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value inside a collection that could not be evaluated, so that its neighbours still can be."""

    reason: str
    origin: object = field(default=None, compare=False)
    """The expression that could not be evaluated and its scope, where there is one."""


class SetOf(list["Value"]):
    """A set: sorted, without duplicates. A list to everyone except a `for` with two names and `for_each`."""


class MapOf(dict[str, "Value"]):
    """A map, whose values all have one type, unlike an object's. It only matters where it is empty: `lookup` converts."""


Value: TypeAlias = "bool | int | float | str | Sequence[Value] | Mapping[str, Value] | Opaque | None"

EXACT = Context(prec=400)
"""Arithmetic with more digits than Terraform's own 512 bits hold."""

_LONGEST_FLOAT = 15


def settled(value: Value) -> Json:
    """The value as plain JSON. Raises `Unknown` where something in it could not be evaluated."""
    match value:
        case Opaque(reason=reason):
            raise Unknown(reason)
        case str() | bool() | int() | float() | None:
            return value
        case Mapping():
            return {key: settled(item) for key, item in value.items()}
        case _:
            return [settled(item) for item in value]


def is_list(value: Value) -> bool:
    """Whether the value is a list, tuple or set."""
    return isinstance(value, Sequence) and not isinstance(value, str)


def known(value: Value) -> Value:
    """The value itself. Raises `Unknown` where it could not be evaluated (what is inside it may be opaque still)."""
    if isinstance(value, Opaque):
        raise Unknown(value.reason)
    return value


def items(value: Value, what: str) -> Sequence[Value]:
    """The items of a list, tuple or set. Raises `EvaluationFailed` where it is none."""
    known(value)
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise EvaluationFailed(f"{what} needs a list")
    return value


def mapping(value: Value, what: str) -> Mapping[str, Value]:
    """The value as a map. Raises `EvaluationFailed` where it is none."""
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
    """A scalar converted to a string as Terraform does. Raises `Unknown` where the digits are not certain."""
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
    raise EvaluationFailed(f"a {kind(value)} is no string")


def decimal(value: Value) -> Decimal:
    """A number, or a string that holds one, exactly."""
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
    raise EvaluationFailed(f"a {kind(value)} is no number")


def number(value: Decimal) -> int | float:
    """The number as int where it is whole. Raises `Unknown` where a float cannot hold its digits."""
    if not value.is_finite():
        raise EvaluationFailed("the number is not finite")
    if value == value.to_integral_value():
        return int(value)
    short = float(value)
    if Decimal(repr(short)) != value:
        raise Unknown("the digits of a fraction are not certain")
    return short


def truth(value: Value) -> bool:
    """A bool, or a string that holds one."""
    match known(value):
        case bool() as answer:
            return answer
        case "true" | "1":
            return True
        case "false" | "0":
            return False
    raise EvaluationFailed(f"a {kind(value)} is no bool")


def kinds(value: Value) -> frozenset[str]:
    """Kinds of all scalars inside, nulls left out; `opaque` for what could not be evaluated."""
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
    """The values converted to the one type that holds them all, as for the items of a list.

    Raises `Unknown` where JSON's shapes do not tell how: collections with scalars of different kinds, unless alike.
    """
    each = list(values)
    present = frozenset[str]().union(*(kinds(value) for value in each))
    if len({_form(value) for value in each} - {""}) > 1:
        raise Unknown("the common type of different values is not certain")
    if len(present - {"opaque"}) <= 1 and not ("opaque" in present and present & {"number", "bool"}):
        return each
    if "string" in present and not any(isinstance(value, Mapping) or is_list(value) for value in each):
        return [value if value is None or isinstance(value, Opaque) else text(value) for value in each]
    if len({_shape(value) for value in each if value is not None}) == 1 and "opaque" not in present:
        return each
    raise Unknown("the common type of different values is not certain")


def _form(value: Value) -> str:
    """scalar, list or map; empty for null and for what is not known."""
    if value is None or isinstance(value, Opaque):
        return ""
    return "map" if isinstance(value, Mapping) else "list" if is_list(value) else "scalar"


def _shape(value: Value) -> str:
    """A text that is the same for values of the same structural type."""
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


def same(one: Value, other: Value) -> bool:
    """`==`: false for different types. Raises `Unknown` for collections that look alike, for their types may differ."""
    settled(one)
    settled(other)
    alike = _alike(one, other)
    if alike and (isinstance(one, Mapping) or is_list(one)):
        raise Unknown("whether two collections are of one type is not certain")
    return alike


def _alike(one: Value, other: Value) -> bool:
    if kind(one) != kind(other):
        return False
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_alike(one[key], other[key]) for key in one)
    if isinstance(one, Sequence) and isinstance(other, Sequence) and not isinstance(one, str):
        return len(one) == len(other) and all(_alike(a, b) for a, b in zip(one, other, strict=True))
    return one == other
