"""Converts single values from the wire to the types that botocore's serializer accepts, and raises the refusals that all parsers share."""

import base64
import binascii
import re
from datetime import UTC, datetime
from typing import Any, NoReturn

from botocore.utils import parse_timestamp

from gateway.core.errors import Malformed
from gateway.core.http.value_limits import path_below
from gateway.core.service_models import Shape

_INTEGER = re.compile(r"-?[0-9]{1,19}")
_FLOAT = re.compile(r"[-+]?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][-+]?[0-9]{1,3})?")
_BITS = {"integer": 31, "long": 63}
_MAX_TIME_LENGTH = 64


def refuse_value(path: str, reason: str, *, code: str = "wrong_type") -> NoReturn:
    """Raise `errors.Malformed` about the parameter at `path`. `reason` must not contain the value, which may be a secret."""
    raise Malformed(f"The parameter {path or 'list'} {reason}.", aws_code="ValidationError", code=code)


def refuse_unknown(path: str, name: str) -> NoReturn:
    """Raise `errors.Malformed` about a parameter that the operation does not have."""
    full = path_below(path, f".{name}")
    raise Malformed(
        f"This operation has no parameter {full[:200]!r}.", aws_code="ValidationError", code="unknown_parameter"
    )


def check_members(
    shape: Shape, value: dict[str, Any], path: str, *, is_form: bool = False, is_xml: bool = False
) -> None:
    """Refuse a structure without a required member, and a union that does not have exactly one member.

    A required list or map that is not there is added empty if its format writes an empty one as nothing at all (`is_form`: the
    format always does; `is_xml`: of flattened ones). AWS decides whether it may be empty.
    """
    for name in shape.required_members:
        if name in value:
            continue
        member = shape.members[name]
        if member.type_name in ("list", "map") and (is_form or _vanishes_if_empty(member, is_xml=is_xml)):
            value[name] = [] if member.type_name == "list" else {}
        else:
            full = path_below(path, f".{name}")
            raise Malformed(f"The parameter {full} is required.", aws_code="MissingParameter", code="missing_parameter")
    if shape.is_tagged_union and len(value) != 1:
        refuse_value(path, "must have exactly one member")


def _vanishes_if_empty(member: Shape, *, is_xml: bool) -> bool:
    """Whether an empty list or map leaves no trace in a REST request: in the query and in headers, and flattened in XML."""
    if is_xml and member.serialization.get("flattened"):
        return True
    return member.serialization.get("location") in ("querystring", "header", "headers")


def from_text(shape: Shape, text: str, path: str) -> Any:
    """A value that is text on the wire (forms, XML, headers, paths)."""
    match shape.type_name:
        case "integer" | "long":
            if not _INTEGER.fullmatch(text):
                refuse_value(path, "must be an integer")
            return _ranged(shape, int(text), path)
        case "float" | "double":
            if not _FLOAT.fullmatch(text):
                refuse_value(path, "must be a number")
            return float(text)
        case "boolean":
            if text.lower() not in ("true", "false"):
                refuse_value(path, "must be true or false")
            return text.lower() == "true"
        case "timestamp":
            return _time(text, path)
        case "blob":
            return _blob(text, path)
        case "string" | "character":
            return text
        case other:
            refuse_value(path, f"must be a {other}")


def from_typed(shape: Shape, value: Any, path: str) -> Any:
    """A value that already has a type on the wire (JSON, CBOR)."""
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
            refuse_value(path, f"must be a {expected}")


def _ranged(shape: Shape, number: int, path: str) -> int:
    limit = 1 << _BITS[shape.type_name]
    if not -limit <= number < limit:
        refuse_value(path, f"is outside the range of a {shape.type_name}")
    return number


def _time(value: str | float | datetime, path: str) -> datetime:
    if isinstance(value, str) and len(value) > _MAX_TIME_LENGTH:
        refuse_value(path, "must be a time")
    try:
        time = value if isinstance(value, datetime) else parse_timestamp(value)
        return (time.replace(tzinfo=UTC) if time.tzinfo is None else time).astimezone(UTC)
    except (ValueError, OverflowError, OSError, RuntimeError, TypeError):
        refuse_value(path, "must be a time")


def _blob(text: str, path: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        refuse_value(path, "must be base64")
