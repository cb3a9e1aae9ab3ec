"""Turns arithmetic round: what to write so that a calculation gives the wanted value."""

from collections.abc import Callable

from gateway.model.json import Json
from gateway.terraform.lang import values
from gateway.terraform.lang.values import EvaluationFailed, Unknown, Value

Inverse = Callable[[Json], Json]


def then(first: Inverse, second: Inverse) -> Inverse:
    """An inverse that takes what an outer one gives."""
    return lambda value: first(second(value))


def negated(value: Json) -> Json:
    """The number below zero instead of above. Raises `Unknown` for what is no number."""
    return values.number(-values.decimal(value))


def inverse(operator: str, constant: Value, *, left: bool) -> Inverse:
    """What to put on one side so that the result is the value; exact, and whole.

    `left` says on which. Raises `EvaluationFailed` for a factor of zero; the inverse raises `Unknown` where no whole number would do.
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
