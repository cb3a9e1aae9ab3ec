"""Numbers as bounds compare them: exactly, and never by guessing what a value may mean."""

import math
import re
from decimal import Decimal
from fractions import Fraction

from gateway.model.json import Json

_NUMERIC_TEXT = re.compile(r"-?\d{1,40}(\.\d{1,40})?", re.ASCII)


def number(value: Json) -> Fraction | None:
    """The number that a value is, exactly as it is written in decimal; None where it is none.

    A boolean is not a number, nor is NaN or infinity. Text is one only if it is nothing but a decimal number.
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
    """The number as JSON, in the kind of `like` (text stays text). A float may be a little off where it has no short form."""
    plain: int | float = value.numerator if value.denominator == 1 else _as_float(value)
    return str(plain) if isinstance(like, str) else plain


def _as_float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
