"""Converts the JSON parameters of a proposal to boto3 parameters (blobs from base64, times from ISO 8601) and validates them."""

import base64
import binascii
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from botocore.validate import ParamValidator

from gateway.doors.api.problems import MAX_ERRORS
from gateway.doors.aws.value_limits import MAX_DEPTH, path_below
from gateway.errors import Malformed
from gateway.service_models import Shape


def parameters(shape: Shape | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of an operation with this input shape (None: it takes no parameters).

    Raises `errors.Malformed` for a parameter that is unknown, missing, of the wrong type or out of range.
    """
    if shape is None:
        if given:
            raise Malformed("This operation takes no parameters.", code="unknown_parameter")
        return {}
    converted: dict[str, Any] = _convert(shape, given, "parameters", 0)
    report = ParamValidator().validate(converted, shape)
    if report.has_errors():
        raise Malformed(f"The parameters do not fit the operation: {_validation_messages(report)}.")
    return converted


def _validation_messages(report: Any) -> str:
    """Botocore's validation errors in one line: name and kind of each, without the values that its own text quotes, which may be secrets."""
    found = report._errors[:MAX_ERRORS]  # noqa: SLF001  the public report contains the values
    return "; ".join(
        f"{str(name or 'the parameters')[:200]}: {reason}"
        + (f" {more['required_name']}" if "required_name" in more else "")
        for reason, name, more in found
    )


def _convert(shape: Shape, value: Any, path: str, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise Malformed(f"{path} is nested deeper than {MAX_DEPTH} levels.")
    match shape.type_name:
        case "structure" if isinstance(value, Mapping) and not shape.is_document_type:
            if unknown := sorted(set(value) - set(shape.members)):
                raise Malformed(f"{path} has no member {unknown[0][:100]!r}.", code="unknown_parameter")
            return {
                name: _convert(shape.members[name], item, path_below(path, f".{name}"), depth + 1)
                for name, item in value.items()
            }
        case "list" if isinstance(value, list):
            return [
                _convert(shape.member, item, path_below(path, f"[{index}]"), depth + 1)
                for index, item in enumerate(value)
            ]
        case "map" if isinstance(value, Mapping):
            return {
                key: _convert(shape.value, item, path_below(path, f"[{key!r}]"), depth + 1)
                for key, item in value.items()
            }
        case "blob" if isinstance(value, str):
            return _bytes(value, path)
        case "timestamp" | "integer" | "long" | "float" | "double" if isinstance(value, bool):
            raise Malformed(f"{path} is of type {shape.type_name} and cannot be true or false.")
        case "timestamp" if isinstance(value, str | int | float):
            return _time(value, path)
        case _:
            return value


def _bytes(value: str, path: str) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Malformed(f"{path} holds bytes and must be base64.") from error


def _time(value: str | float, path: str) -> datetime:
    """A time given in ISO 8601, or in seconds since 1970 as in AWS's JSON protocols."""
    return _from_iso(value, path) if isinstance(value, str) else _from_epoch(value, path)


def _from_iso(value: str, path: str) -> datetime:
    try:
        time = datetime.fromisoformat(value)
    except ValueError as error:
        raise Malformed(f"{path} must be a time such as 2026-11-21T09:00:00Z.") from error
    if time.tzinfo is None:
        raise Malformed(f"{path} needs a zone, e.g. 2026-11-21T09:00:00Z.")
    try:
        time.astimezone(UTC)
    except OverflowError as error:
        # In UTC a time near the year 1 or 9999 can fall outside these years, and then no wire format can represent it.
        raise Malformed(f"{path} lies outside the calendar, which has the years 1 to 9999.") from error
    return time


def _from_epoch(seconds: float, path: str) -> datetime:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError) as error:
        raise Malformed(f"{path} lies outside the calendar, which has the years 1 to 9999.") from error
