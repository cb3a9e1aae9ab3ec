"""Checks the operands of built-in functions: an operand of another type makes a call undefined."""

from collections.abc import Sequence

from gateway.policy.builtins.evaluation import BuiltinError
from gateway.policy.rego_values import RegoObject, RegoSet, Term


def text(value: Term) -> str:
    """A string."""
    if not isinstance(value, str):
        raise BuiltinError("a string is needed")
    return value


def whole(value: Term) -> int:
    """An integer; `2.0` is one, as in OPA. Booleans are no numbers in Rego."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BuiltinError("a number is needed")
    if isinstance(value, float) and not value.is_integer():
        raise BuiltinError("an integer is needed")
    return int(value)


def items(value: Term) -> Sequence[Term]:
    """The members of an array or a set."""
    match value:
        case list():
            return value
        case RegoSet():
            return value.members
        case _:
            raise BuiltinError("an array or a set is needed")


def texts(value: Term) -> list[str]:
    """The members of an array or a set of strings."""
    return [text(each) for each in items(value)]


def array(value: Term) -> list[Term]:
    """An array."""
    if not isinstance(value, list):
        raise BuiltinError("an array is needed")
    return value


def entries(value: Term) -> Sequence[tuple[Term, Term]]:
    """The keys and values of an object."""
    match value:
        case dict():
            return list(value.items())
        case RegoObject():
            return value.entries
        case _:
            raise BuiltinError("an object is needed")


def members(value: Term) -> dict[str, Term]:
    """An object whose keys are strings."""
    if not isinstance(value, dict):
        raise BuiltinError("an object with strings as keys is needed")
    return value
