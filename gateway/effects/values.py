"""Converts parameter values to the provider's form, by the kind that its schema gives."""

import re
from collections.abc import Mapping
from datetime import datetime

from gateway.core.model.json import Json, to_json


class NotUnderstood(Exception):
    """A part of a call is not accounted for by its table, so the call has no effects at all. The message names the part, never a value."""


_NUMBER = re.compile(r"-?[0-9]{1,20}(\.[0-9]{1,20})?", re.ASCII)
_BOOLS = {"true": True, "false": False}


def in_kind(value: object, kind: str) -> Json:
    """The value converted to `kind`, e.g. `"60"` → `60` for `number`. Raises `NotUnderstood` if it does not fit."""
    if value is None:
        return None
    outer, _, inner = kind.rstrip(")").partition("(")
    match outer:
        case "string":
            return _text(value)
        case "number":
            return _number(value)
        case "bool":
            return _bool(value)
        case "list" | "set" if isinstance(value, (list, tuple)):
            return [in_kind(item, inner) if inner != "block" else to_json(item) for item in value]
        case "map" if isinstance(value, Mapping):
            return {str(key): in_kind(item, inner) for key, item in value.items()}
        case "dynamic":
            return to_json(value)
        case _:
            raise NotUnderstood(f"a {type(value).__name__} where {kind} is expected")


def _text(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case int() | float():
            return str(_number(value))
        case datetime():
            return str(to_json(value))
        case _:
            raise NotUnderstood(f"a {type(value).__name__} where text is expected")


def _number(value: object) -> int | float:
    if isinstance(value, str):
        # Python accepts more than AWS does: "3_1", " 31", "３１".
        if not _NUMBER.fullmatch(value):
            raise NotUnderstood("text where a number is expected")
        value = float(value) if "." in value else int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise NotUnderstood(f"a {type(value).__name__} where a number is expected")
    if value != value or value in (float("inf"), float("-inf")):  # noqa: PLR0124  NaN is unequal to itself
        raise NotUnderstood("NaN or infinity where a number is expected")
    return int(value) if value == int(value) else value


def _bool(value: object) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in _BOOLS:
        return _BOOLS[value.lower()]
    raise NotUnderstood(f"a {type(value).__name__} where true or false is expected")
