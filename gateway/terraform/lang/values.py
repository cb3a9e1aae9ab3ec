"""Values during evaluation: Terraform's types that JSON cannot tell apart, and conversions between types.

The rules are those of zclconf/go-cty `convert`, as Terraform uses it. Where a JSON value could be of several types and the
result depends on which, `Unknown` is raised.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal, InvalidOperation, Overflow
from typing import TypeAlias

from gateway.core.model.json import Json


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


class ListOf(list["Value"]):
    """A list, whose items all have one type, unlike those of a tuple. It behaves as a tuple except where types are unified."""


class MapOf(dict[str, "Value"]):
    """A map, whose values all have one type, unlike an object's. The difference only matters if it is empty: `lookup` converts its default."""

    scalar: str = ""
    """The kind of its values (`string`, `number` or `bool`), if a type constraint says so; the values themselves do not if there are none."""

    @classmethod
    def of(cls, scalar: str, table: "Mapping[str, Value]") -> "MapOf":
        """The map with values of one scalar kind; empty: the kind is not known."""
        made = cls(table)
        made.scalar = scalar
        return made


Value: TypeAlias = "bool | int | float | str | Sequence[Value] | Mapping[str, Value] | Opaque | None"

EXACT = Context(prec=400)
"""Arithmetic with more digits than Terraform's 512 bits hold."""

LONGEST_TEXT = 1_000_000
"""Characters. No attribute of AWS holds as many."""
_LONGEST_FLOAT = 15
_COMBINING = 0x300
"""The first character that may join the one before it."""
MOST_DIGITS = 400
"""Of a number; Terraform's 512 bits hold fewer."""


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


def within(parts: Iterable[str], between: int = 0) -> Iterator[str]:
    """The parts of a text, with so many characters between them. Raises `Unknown` as soon as they are too long together."""
    length = 0
    for part in parts:
        length += len(part) + between
        if length > LONGEST_TEXT:
            raise Unknown(f"a text has more than {LONGEST_TEXT} characters")
        yield part


def letters(string: str) -> str:
    """The text, if each of its characters is one letter for a reader, as Terraform counts them. Raises `Unknown`."""
    if "\r" in string or any(ord(character) >= _COMBINING for character in string):
        raise Unknown("text beyond Latin letters, or with carriage returns, is not counted")
    return string


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
            except Overflow:
                raise Unknown("the number is too large") from None
            except InvalidOperation:
                pass
    raise EvaluationFailed(f"a {kind(value)} is not a number")


def number(value: Decimal) -> int | float:
    """The number as int if it is whole, else as float. Raises `Unknown` if a float cannot hold its digits."""
    if not value.is_finite():
        raise EvaluationFailed("the number is not finite")
    if value.adjusted() > MOST_DIGITS:
        raise Unknown("the number is too large")
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


def hcl_equal(one: Value, other: Value) -> bool:
    """The `==` operator of HCL: false for values of different types, so `1 == "1"` is false.

    Raises `Unknown` for equal collections, because their types may differ. See `gateway.core.model.equality` for how attribute
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
