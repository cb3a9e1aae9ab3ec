"""Exact numbers for comparisons with bounds."""

import math
import re
from decimal import Decimal
from fractions import Fraction

from gateway.model.json import Json

_NUMERIC_TEXT = re.compile(r"-?\d{1,40}(\.\d{1,40})?", re.ASCII)


def number(value: Json) -> Fraction | None:
    """The value as an exact fraction; None if it is not a number.

    Booleans, NaN and infinity are not numbers. Text is a number only if it is a plain decimal, e.g. `-1.50`.
    """
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
