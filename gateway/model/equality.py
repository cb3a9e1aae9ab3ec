"""Equality of attribute values as Terraform sees it: numbers and bools are equal to their text."""

from collections.abc import Mapping, Sequence

from gateway.model.json import Json
from gateway.model.numeric import number


def equal(one: Json, other: Json) -> bool:
    """Whether both values are equal: `6`, `6.0` and `"6"` are, `true` and `"true"` are, `true` and `1` are not.

    Lists are compared in order, maps by key. See https://developer.hashicorp.com/terraform/language/expressions/types#type-conversion
    """
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(equal(item, other[key]) for key, item in one.items())
    if _is_list(one) and _is_list(other):
        return len(one) == len(other) and all(equal(item, each) for item, each in zip(one, other, strict=True))  # type: ignore[arg-type]  # both are lists: see the line above
    if isinstance(one, bool) or isinstance(other, bool):
        return _bool_text(one) == _bool_text(other)
    if isinstance(one, str) and isinstance(other, str):
        return one == other  # two strings are compared as text: version "1.0" is not version "1"
    left, right = number(one), number(other)
    if left is not None and right is not None:
        return left == right
    return one == other


def _is_list(value: Json) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _bool_text(value: Json) -> Json:
    """A bool as Terraform converts it to text; any other value unchanged."""
    return value if not isinstance(value, bool) else str(value).lower()
