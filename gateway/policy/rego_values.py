"""Rego values as Python values, for the built-in functions: JSON plus sets, which JSON does not have."""

import json
import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Self, TypeAlias

Term: TypeAlias = "bool | int | float | str | list[Term] | dict[str, Term] | RegoSet | RegoObject | None"
"""A Rego value."""

_LARGEST_PLAIN_EXPONENT = 5
_SMALLEST_PLAIN_EXPONENT = -4


_NUMBER = re.compile(r"\.\d+(?:[eE][+-]?\d+)?", re.ASCII)


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


class RegoLiteral(float):
    """A number that is not an integer, with its original text, which OPA keeps."""

    text: str

    def __new__(cls, text: str) -> Self:
        """From JSON's text of a number."""
        number = super().__new__(cls, text)
        number.text = text
        return number


_DECODER = json.JSONDecoder(parse_float=RegoLiteral, parse_constant=_refuse_constant, strict=False)


def parse_json(text: str) -> Term:
    """A JSON document whose numbers keep their text. Raises ValueError."""
    found: Term = _DECODER.decode(text)
    return found


@dataclass(frozen=True, slots=True)
class RegoSet:
    """A Rego set. The order of its members has no meaning."""

    members: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class RegoObject:
    """A Rego object with a key that is not a string."""

    entries: tuple[tuple[Any, Any], ...]


def parse(text: str) -> Term:
    """Parse OPA's notation of a value (`opa_value_dump`): JSON, `{1, 2}` for sets and `set()` for the empty one.

    An object is a dict if all its keys are strings, and else a `RegoObject`. Raises ValueError for anything else.
    """
    value, end = _parse_value(text, 0)
    if end != len(text):
        raise ValueError(f"text after the value at {end}")
    return value


def to_text(value: Term) -> str:
    """A value in OPA's notation: members of sets and keys of objects sorted, one space after `,` and `:`."""
    match value:
        case RegoSet():
            inner = ", ".join(to_text(member) for member in sorted(value.members, key=sort_key))
            return f"{{{inner}}}" if inner else "set()"
        case list():
            return "[" + ", ".join(to_text(item) for item in value) + "]"
        case dict():
            return "{" + ", ".join(f"{to_text(key)}: {to_text(value[key])}" for key in sorted(value)) + "}"
        case RegoObject():
            pairs = sorted(value.entries, key=lambda entry: sort_key(entry[0]))
            return "{" + ", ".join(f"{to_text(key)}: {to_text(each)}" for key, each in pairs) + "}"
        case RegoLiteral():
            return value.text
        case _:
            return json.dumps(value, ensure_ascii=False)


def go_float(value: float) -> str:
    """A float in the format of Go's %v: the shortest digits, with an exponent below 1e-4 and from 1e6 (strconv 'g', -1)."""
    digits, _, power = f"{Decimal(repr(float(value))):e}".partition("e")
    exponent = int(power)
    mantissa = digits.rstrip("0").rstrip(".") if "." in digits else digits
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    if _SMALLEST_PLAIN_EXPONENT <= exponent <= _LARGEST_PLAIN_EXPONENT:
        return f"{Decimal(repr(float(value))):f}".removesuffix(".0")
    return f"{mantissa}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def equal(one: Term, other: Term) -> bool:
    """Whether two values are the same value in Rego, where `1` is `1.0` and not `true`."""
    return sort_key(one) == sort_key(other)


def sort_key(value: Term) -> tuple[int, Any]:
    """A key for OPA's order of values, equal for equal values: null, booleans, numbers, strings, arrays, objects, sets."""
    match value:
        case None:
            return 0, 0
        case bool():
            return 1, value
        case int() | float():
            return 2, value
        case str():
            return 3, value.encode(errors="surrogateescape")
        case list():
            return 4, [sort_key(item) for item in value]
        case dict():
            return 5, [(sort_key(key), sort_key(value[key])) for key in sorted(value)]
        case RegoObject():
            return 5, sorted((sort_key(key), sort_key(each)) for key, each in value.entries)
        case RegoSet():
            return 6, sorted(sort_key(member) for member in value.members)


def _parse_value(text: str, at: int) -> tuple[Term, int]:
    if text.startswith("set()", at):
        return RegoSet(()), at + 5
    match text[at : at + 1]:
        case "[":
            return _parse_items(text, at + 1, "]")
        case "{":
            return _parse_braces(text, at + 1)
        case "." if number := _NUMBER.match(text, at):  # a policy may write `.5`, and OPA keeps it
            return RegoLiteral("0" + number[0]), number.end()
        case _:
            return _DECODER.raw_decode(text, at)


def _parse_items(text: str, at: int, close: str) -> tuple[list[Term], int]:
    items: list[Term] = []
    while not text.startswith(close, at):
        item, at = _parse_value(text, at)
        items.append(item)
        at = _after_comma(text, at, close)
    return items, at + 1


def _parse_braces(text: str, at: int) -> tuple[Term, int]:
    """An object or a set, depending on whether a colon follows the first member."""
    if text.startswith("}", at):
        return {}, at + 1
    first, after = _parse_value(text, at)
    if not text.startswith(":", after):
        members, end = _parse_items(text, at, "}")
        return RegoSet(tuple(members)), end
    content: list[tuple[Term, Term]] = []
    key: Term = first
    while True:
        if not text.startswith(":", after):
            raise ValueError(f"no object key at {at}")
        value, at = _parse_value(text, _skip_spaces(text, after + 1))
        content.append((key, value))
        at = _after_comma(text, at, "}")
        if text.startswith("}", at):
            return _object(content), at + 1
        key, after = _parse_value(text, at)


def _object(content: list[tuple[Term, Term]]) -> Term:
    if all(isinstance(key, str) for key, _ in content):
        return {key: value for key, value in content if isinstance(key, str)}
    return RegoObject(tuple(content))


def _after_comma(text: str, at: int, close: str) -> int:
    if text.startswith(",", at):
        return _skip_spaces(text, at + 1)
    if not text.startswith(close, at):
        raise ValueError(f"no , or {close} at {at}")
    return at


def _skip_spaces(text: str, at: int) -> int:
    while text.startswith(" ", at):
        at += 1
    return at
