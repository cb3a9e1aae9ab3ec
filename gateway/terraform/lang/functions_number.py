"""Terraform's functions of numbers."""

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

from gateway.terraform.lang.values import (
    EXACT,
    MOST_DIGITS,
    EvaluationFailed,
    ListOf,
    Unknown,
    Value,
    decimal,
    items,
    known,
    number,
    text,
)

_RANGE_LIMIT = 1024
_LONGEST_FLOAT = 15


def _range(*limits: Value) -> Value:
    exact = [decimal(limit) for limit in limits]
    if not 0 < len(exact) <= 3:  # noqa: PLR2004  start, stop, step
        raise EvaluationFailed("range() takes one to three numbers")
    start, stop = (decimal(0), exact[0]) if len(exact) == 1 else (exact[0], exact[1])
    step = exact[2] if len(exact) > 2 else decimal(1 if stop >= start else -1)  # noqa: PLR2004  start, stop, step
    if (step > 0) == (stop < start) and stop != start and step:
        raise EvaluationFailed("range() goes in the other direction than its step")
    if not step or math.ceil((stop - start) / step) > _RANGE_LIMIT:
        raise EvaluationFailed("range() is endless")
    count = math.ceil((stop - start) / step)
    return ListOf(number(start + position * step) for position in range(count))


def _numbers(values: Sequence[Value], choose: Callable[..., Value]) -> Value:
    if not values:
        raise EvaluationFailed("a number is missing")
    return number(choose(decimal(value) for value in values))  # type: ignore[arg-type]


def _sum(source: Value) -> Value:
    each = items(source, "sum()")
    if not each:
        raise EvaluationFailed("sum() of nothing")
    total = decimal(0)
    for item in each:
        total = EXACT.add(total, decimal(item))
    return number(total)


def _float(function: Callable[..., float], *values: Value) -> Value:
    """The result of a function of binary floating-point numbers, if its digits are certain."""
    try:
        result = function(*(float(decimal(value)) for value in values))
    except (ValueError, ZeroDivisionError, OverflowError):
        raise EvaluationFailed("the number is not finite") from None
    if not math.isfinite(result) or (result != int(result) and len(repr(result)) > _LONGEST_FLOAT):
        raise Unknown("the digits of a fraction are not certain")
    return int(result) if result == int(result) else result


def _log(value: Value, base: Value) -> Value:
    return _float(lambda one, other: math.log(one) / math.log(other), value, base)


def _rounded(choose: Callable[[Decimal], int], value: Value) -> Value:
    exact = decimal(value)
    if exact.adjusted() > MOST_DIGITS:
        raise Unknown("the number is too large")
    return choose(exact)


def _signum(value: Value) -> Value:
    exact = decimal(value)
    if exact.adjusted() > MOST_DIGITS:
        raise Unknown("the number is too large")
    if exact != int(exact):
        raise EvaluationFailed("signum() needs a whole number")
    return (exact > 0) - (exact < 0)


def _parseint(source: Value, base: Value) -> Value:
    digits, radix = text(source), int(decimal(base))
    if not isinstance(known(source), str) or not 2 <= radix <= _LARGEST_BASE:  # noqa: PLR2004  binary
        raise EvaluationFailed("parseint() needs a string and a base from 2 to 62")
    if len(digits) > MOST_DIGITS:
        raise Unknown("the number is too large")
    negative, digits = (
        digits.startswith("-"),
        digits.removeprefix("-") if digits[:1] == "-" else digits.removeprefix("+"),
    )
    total = 0
    for character in digits:
        digit = _DIGITS.find(character.lower() if radix <= _LETTERS_OF_ONE_CASE else character)
        if not 0 <= digit < radix:
            raise EvaluationFailed(f"parseint() finds no number in {digits} to the base {radix}")
        total = total * radix + digit
    if not digits:
        raise EvaluationFailed("parseint() was given no digits")
    return -total if negative else total


_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LARGEST_BASE = len(_DIGITS)
_LETTERS_OF_ONE_CASE = 36


FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    "abs": lambda value: number(abs(decimal(value))),
    "ceil": lambda value: _rounded(math.ceil, value),
    "floor": lambda value: _rounded(math.floor, value),
    "log": _log,
    "max": lambda *each: _numbers(each, max),
    "min": lambda *each: _numbers(each, min),
    "parseint": _parseint,
    "pow": lambda value, power: _float(math.pow, value, power),
    "range": _range,
    "signum": _signum,
    "sum": _sum,
}
