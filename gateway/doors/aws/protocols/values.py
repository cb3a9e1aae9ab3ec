"""Single values: text or already typed values from the wire to what botocore's serializer takes, and the refusals all parsers share."""

import base64
import binascii
import re
from datetime import UTC, datetime
from typing import Any, NoReturn

from botocore.utils import parse_timestamp

from gateway.errors import Malformed
from gateway.service_models import Shape

_INTEGER = re.compile(r"-?[0-9]{1,19}")
_FLOAT = re.compile(r"[-+]?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][-+]?[0-9]{1,3})?")
_BITS = {"integer": 31, "long": 63}
_LONGEST_TIME = 64


def wrong(path: str, reason: str, *, code: str = "wrong_type") -> NoReturn:
    """Raise `errors.Malformed` about the parameter at `path`. The reason never holds the value: it may be a secret."""
    raise Malformed(f"The parameter {path or 'list'} {reason}.", aws_code="ValidationError", code=code)


def unknown(path: str, name: str) -> NoReturn:
    """Raise `errors.Malformed` for a parameter that the operation does not have."""
    full = f"{path}.{name}" if path else name
    raise Malformed(
        f"This operation has no parameter {full[:200]!r}.", aws_code="ValidationError", code="unknown_parameter"
    )


def check_members(shape: Shape, value: dict[str, Any], path: str) -> None:
    """Refuse a structure that lacks a required member, or a union that has not exactly one."""
    for name in shape.required_members:
        if name not in value:
            full = f"{path}.{name}" if path else name
            raise Malformed(f"The parameter {full} is required.", aws_code="MissingParameter", code="missing_parameter")
    if shape.is_tagged_union and len(value) != 1:
        wrong(path, "must have exactly one member")


def from_text(shape: Shape, text: str, path: str) -> Any:
    """A value that stands on the wire as text (forms, XML, headers, paths)."""
    match shape.type_name:
        case "integer" | "long":
            if not _INTEGER.fullmatch(text):
                wrong(path, "must be an integer")
            return _ranged(shape, int(text), path)
        case "float" | "double":
            if not _FLOAT.fullmatch(text):
                wrong(path, "must be a number")
            return float(text)
        case "boolean":
            if text.lower() not in ("true", "false"):
                wrong(path, "must be true or false")
            return text.lower() == "true"
        case "timestamp":
            return _time(text, path)
        case "blob":
            return _blob(text, path)
        case "string" | "character":
            return text
        case other:
            wrong(path, f"must be a {other}")


def from_typed(shape: Shape, value: Any, path: str) -> Any:
    """A value that the wire format already gives a type (JSON, CBOR)."""
    match shape.type_name:
        case "string" | "character" if isinstance(value, str):
            return value
        case "boolean" if isinstance(value, bool):
            return value
        case "integer" | "long" if isinstance(value, int) and not isinstance(value, bool):
            return _ranged(shape, value, path)
        case "float" | "double" if isinstance(value, int | float) and not isinstance(value, bool):
            return value
        case "timestamp" if isinstance(value, str | int | float | datetime) and not isinstance(value, bool):
            return _time(value, path)
        case "blob" if isinstance(value, bytes):
            return value
        case "blob" if isinstance(value, str):
            return _blob(value, path)
        case expected:
            wrong(path, f"must be a {expected}")


def _ranged(shape: Shape, number: int, path: str) -> int:
    limit = 1 << _BITS[shape.type_name]
    if not -limit <= number < limit:
        wrong(path, f"is outside the range of a {shape.type_name}")
    return number


def _time(value: str | float | datetime, path: str) -> datetime:
    if isinstance(value, str) and len(value) > _LONGEST_TIME:
        wrong(path, "must be a time")
    try:
        time = value if isinstance(value, datetime) else parse_timestamp(value)
        return (time.replace(tzinfo=UTC) if time.tzinfo is None else time).astimezone(UTC)
    except (ValueError, OverflowError, OSError, RuntimeError, TypeError):
        wrong(path, "must be a time")


def _blob(text: str, path: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        wrong(path, "must be base64")
