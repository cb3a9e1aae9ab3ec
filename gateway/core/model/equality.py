"""Equality of attribute values as Terraform sees it, with exact numbers: numbers and bools are equal to their text."""

import math
import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

from gateway.core.model.json import Json, is_list

_NUMERIC_TEXT = re.compile(r"-?\d{1,40}(\.\d{1,40})?", re.ASCII)


def number(value: Json) -> Fraction | None:
    """The value as an exact fraction; None if it is not a number. An integer is one as it is: it is compared in a tenth of the time.

    Booleans, NaN and infinity are not numbers. Text is a number only if it is a plain decimal, e.g. `-1.50`.
    """
    if type(value) is int:
        return value  # type: ignore[return-value]  # it has what a fraction has
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Fraction(value)
    if isinstance(value, float):
        return Fraction(Decimal(repr(value))) if math.isfinite(value) else None
    if isinstance(value, str) and _NUMERIC_TEXT.fullmatch(value):
        return Fraction(value)
    return None


def written(value: Fraction, *, like: Json) -> int | float | str:
    """The number as JSON: as text if `like` is text, else as an integer or float. A float may be rounded."""
    plain: int | float = value.numerator if value.denominator == 1 else _as_float(value)
    return str(plain) if isinstance(like, str) else plain


def _as_float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def equal(one: Json, other: Json) -> bool:
    """Whether both values are equal: `6`, `6.0` and `"6"` are, `true` and `"true"` are, `true` and `1` are not.

    Lists are compared in order, maps by key. See https://developer.hashicorp.com/terraform/language/expressions/types#type-conversion
    """
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(equal(item, other[key]) for key, item in one.items())
    if is_list(one) and is_list(other):
        return len(one) == len(other) and all(equal(item, each) for item, each in zip(one, other, strict=True))
    if isinstance(one, bool) or isinstance(other, bool):
        return _bool_text(one) == _bool_text(other)
    if isinstance(one, str) and isinstance(other, str):
        return one == other  # two strings are compared as text: version "1.0" is not version "1"
    left, right = number(one), number(other)
    if left is not None and right is not None:
        return left == right
    return one == other


def _bool_text(value: Json) -> Json:
    """A bool as Terraform converts it to text; any other value unchanged."""
    return value if not isinstance(value, bool) else str(value).lower()
