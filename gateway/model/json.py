"""JSON types, and the canonical serialization that is hashed and stored."""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""A value that JSON can hold."""

_PLAIN = frozenset({type(None), bool, int, float, str})
"""Most values are of these types, and asking for them one by one takes longer than all else."""

Parameters: TypeAlias = Mapping[str, object]
"""Parameters of an AWS call as botocore takes them: JSON values plus bytes, datetime and Decimal."""


def to_json(value: object) -> Json:
    """A parsed AWS value as plain JSON: bytes become base64 text, times ISO 8601 in UTC, sets sorted lists.

    Raises TypeError for any other type, so that nothing is stored by accident.
    """
    kind = type(value)
    if kind in _PLAIN:
        return value  # type: ignore[return-value]  # one of the types that JSON has
    if kind is dict or kind is list:
        return _copied(value)
    match value:
        case None | bool() | int() | float() | str():
            return value
        case bytes() | bytearray():
            return base64.b64encode(value).decode()
        case datetime():
            return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case Mapping():
            return {str(key): to_json(item) for key, item in value.items()}
        case set() | frozenset():
            return sorted((to_json(item) for item in value), key=repr)
        case Sequence():
            return [to_json(item) for item in value]
        case _:
            message = f"a {type(value).__name__} has no JSON form"
            raise TypeError(message)


def _copied(value: Any) -> Json:
    """A dict or a list of JSON, which most values are: to ask for them first takes half the time."""
    if type(value) is list:
        return [item if type(item) in _PLAIN else to_json(item) for item in value]
    return {str(key): item if type(item) in _PLAIN else to_json(item) for key, item in value.items()}


def canonical(value: object) -> bytes:
    """The canonical JSON of a value as UTF-8: keys sorted, no spaces, no NaN. Like RFC 8785, except that numbers are written as Python does."""
    return json.dumps(
        to_json(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode()


def digest(value: object, key: bytes = b"") -> str:
    """SHA-256 of the canonical form, 64 hex digits. With a key the HMAC-SHA-256, from which nobody without the key can guess the value."""
    if key:
        return hmac.new(key, canonical(value), hashlib.sha256).hexdigest()
    return hashlib.sha256(canonical(value)).hexdigest()
