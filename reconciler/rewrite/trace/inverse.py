"""Inverts arithmetic and conversions: which operand gives a calculation the wanted result, and in which type it is written."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from gateway.core.model.json import Json
from gateway.terraform.lang import values
from gateway.terraform.lang.values import EvaluationFailed, Unknown, Value

Inverse: TypeAlias = Callable[[Json], Json]
"""From the wanted result to the operand to write. Raises `Unknown` if no operand gives the result."""


def unchanged(value: Json) -> Json:
    """The value itself: the inverse of no calculation."""
    return value


def then(first: Inverse, second: Inverse) -> Inverse:
    """Compose two inverses: apply `second`, then `first`."""
    if first is unchanged or second is unchanged:
        return second if first is unchanged else first
    return lambda value: first(second(value))


def like(old: Json, value: Json) -> Json:
    """The value converted to the type of the old one, if Terraform would convert it back by itself."""
    if isinstance(value, Mapping | Sequence) and not isinstance(value, str):
        return value
    try:
        if isinstance(old, str) and isinstance(value, bool | int | float):
            return values.text(value)
        if isinstance(old, bool) and isinstance(value, str):
            return values.truth(value) if values.text(values.truth(value)) == value else value
        if isinstance(old, int | float) and not isinstance(old, bool) and isinstance(value, str):
            number = values.number(values.decimal(value))
            return number if values.text(number) == value else value
    except Unknown:
        pass
    return value


def negated(value: Json) -> Json:
    """The negated number. Raises `Unknown` if the value is not a number."""
    return values.number(-values.decimal(value))


def opposite(value: Json) -> Json:
    """The other bool. Raises `Unknown` if the value is none."""
    return not values.truth(value)


def inverse(operator: str, constant: Value, *, left: bool) -> Inverse:
    """The inverse of `x operator constant` (`left`: x is the left operand) or of `constant operator x`.

    The operand is exact and whole. Raises `EvaluationFailed` for a factor of zero; the inverse raises `Unknown` if no whole
    number gives the result.
    """
    known = values.decimal(constant)
    if operator in "*/" and not known:
        raise EvaluationFailed("a factor is zero")

    def invert(value: Json) -> Json:
        wanted = values.decimal(value)
        if operator == "/" and not left and not wanted:
            raise Unknown("no division gives zero")
        match operator:
            case "+":
                result = wanted - known
            case "-":
                result = wanted + known if left else known - wanted
            case "*":
                result = values.EXACT.divide(wanted, known)
            case _:
                result = wanted * known if left else values.EXACT.divide(known, wanted)
        if result != result.to_integral_value():
            raise Unknown(f"{value} is not reachable by a whole number")
        return int(result)

    return invert
