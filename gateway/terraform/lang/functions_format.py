"""Terraform's `format` and `formatlist`: the verbs of zclconf/go-cty `stdlib.Format`."""

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

from gateway.terraform.lang.functions_encoding import json_text
from gateway.terraform.lang.values import (
    LONGEST_TEXT,
    EvaluationFailed,
    ListOf,
    SetOf,
    Unknown,
    Value,
    decimal,
    is_list,
    items,
    kind,
    known,
    text,
    truth,
    within,
)

_VERB = re.compile(r"%([-+ 0#]*)(\d+)?(?:\.(\d+))?(?:\[(\d+)\])?(.|$)", re.DOTALL)
_LARGEST_PLAIN = 10**6
"""From here on, %g writes an exponent."""
_WIDEST = 1000


def _format(pattern: Value, *values: Value) -> str:
    used = 0
    following = 0
    length = 0

    def formatted(match: re.Match[str]) -> str:
        nonlocal used, following, length
        if match[5] == "%":
            return "%"
        if max(int(match[2] or 0), int(match[3] or 0)) > _WIDEST:
            raise Unknown(f"format() of more than {_WIDEST} characters for one value")
        position = int(match[4]) - 1 if match[4] else following
        if not 0 <= position < len(values):
            raise EvaluationFailed("format() has too few arguments")
        following = position + 1
        used = max(used, following)
        shown = _padded(match, _verb(match, values[position]))
        length += len(shown)
        if length > LONGEST_TEXT:
            raise Unknown(f"format() to more than {LONGEST_TEXT} characters")
        return shown

    written = _VERB.sub(formatted, text(pattern))
    if used < len(values):
        raise EvaluationFailed("format() has too many arguments")
    return written


def _padded(match: re.Match[str], written: str) -> str:
    flags, width = match[1], int(match[2] or 0)
    if "-" in flags and "0" in flags:
        raise Unknown("format() to the left with zeros")
    if "-" in flags:
        return written.ljust(width)
    if "0" in flags and match[5] not in "sqvt":
        sign = written[:1] if written[:1] in ("-", "+", " ") else ""
        return sign + written[len(sign) :].rjust(width - len(sign), "0")
    if "0" in flags:
        raise Unknown("format() of text padded with zeros")
    return written.rjust(width)


def _verb(match: re.Match[str], value: Value) -> str:
    verb, flags, precision = match[5], match[1], match[3]
    known(value)
    if value is None:
        raise Unknown(f"format() of null with %{verb}")
    match verb:
        case "v":
            return _plain(value) if "#" not in flags else json_text(value)
        case "s" | "q":
            return _string(verb, value, precision)
        case "t":
            return "true" if truth(value) else "false"
        case "d" | "b" | "o" | "x" | "X":
            return _whole(verb, flags, precision, value)
        case "f" | "F" | "e" | "E" | "g" | "G":
            return _signed(flags, _fraction(verb, decimal(value), precision))
    raise EvaluationFailed(f"format() has no verb %{verb}")


def _string(verb: str, value: Value, precision: str | None) -> str:
    written = text(value)
    if verb == "q":
        return json_text(written)
    if precision is None:
        return written
    if not written.isascii():
        raise Unknown("text beyond ASCII is not cut")
    return written[: int(precision)]


def _plain(value: Value) -> str:
    if value is None:
        return "null"
    if kind(value) in ("list", "map"):
        return json_text(value)
    return text(value)


def _signed(flags: str, written: str) -> str:
    if written.startswith("-"):
        return written
    return "+" + written if "+" in flags else " " + written if " " in flags else written


def _whole(verb: str, flags: str, precision: str | None, value: Value) -> str:
    exact = decimal(value)
    if "#" in flags or precision is not None:
        raise Unknown(f"format() with more than a width of %{verb}")
    if verb in "xX" and isinstance(value, str):
        raise Unknown("format() of text with %x")
    if exact != int(exact):
        raise Unknown(f"format() of a fraction with %{verb}")
    return _signed(flags, format(int(exact), verb))


def _fraction(verb: str, exact: Decimal, precision: str | None) -> str:
    digits = int(precision or 6)
    if verb in "gG":
        if precision is not None or (exact and not Decimal("0.0001") <= abs(exact) < _LARGEST_PLAIN):
            raise Unknown("format() of very large or small numbers, or with a precision, with %g")
        return text(int(exact) if exact == int(exact) else float(exact))
    shown = exact if verb in "fF" else exact.scaleb(-exact.adjusted())
    if _is_tie(shown, digits):
        raise Unknown("how format() rounds the last digit is not certain")
    if verb in "fF":
        return format(exact, f".{digits}f")
    mantissa, _, exponent = format(exact, f".{digits}e").partition("e")
    return f"{mantissa}{verb}{exponent[0]}{exponent[1:].zfill(2)}"


def _is_tie(exact: Decimal, digits: int) -> bool:
    """Whether a number lies in the middle between two that can be shown, and Terraform's binary number only near it."""
    halves = Fraction(exact) * 10**digits * 2
    denominator = Fraction(exact).denominator
    return halves.denominator == 1 and halves.numerator % 2 == 1 and denominator & (denominator - 1) != 0


def _formatlist(pattern: Value, *values: Value) -> Value:
    rows = [items(each, "formatlist()") if is_list(known(each)) else None for each in (pattern, *values)]
    lengths = {len(row) for row in rows if row is not None}
    if any(isinstance(each, SetOf) for each in values):
        raise Unknown("formatlist() of sets")
    if len(lengths) > 1:
        raise EvaluationFailed("formatlist() needs lists of one length")
    if not lengths:
        return ListOf([_format(pattern, *values)])
    columns: list[Sequence[Value]] = [
        row if row is not None else [each] * min(lengths) for row, each in zip(rows, (pattern, *values), strict=True)
    ]
    return ListOf(within(_format(*each) for each in zip(*columns, strict=True)))


FUNCTIONS: Mapping[str, Callable[..., Value]] = {"format": _format, "formatlist": _formatlist}
