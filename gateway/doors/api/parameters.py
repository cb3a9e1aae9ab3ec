"""From the JSON of a proposal to parameters as boto3 takes them: blobs from base64, times from ISO 8601, everything validated."""

import base64
import binascii
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from botocore.validate import ParamValidator

from gateway.errors import Malformed
from gateway.service_models import Shape

_DEEPEST = 64


def parameters(shape: Shape | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of an operation with this input shape (None: it takes none).

    Raises `errors.Malformed` for what does not fit: unknown, missing, of the wrong type or out of range.
    """
    if shape is None:
        if given:
            raise Malformed("This operation takes no parameters.", code="unknown_parameter")
        return {}
    converted: dict[str, Any] = _converted(shape, given, "parameters", 0)
    report = ParamValidator().validate(converted, shape)
    if report.has_errors():
        raise Malformed(f"The parameters do not fit the operation: {_mistakes(report)}.")
    return converted


def _mistakes(report: Any) -> str:
    """What botocore found, by name and kind of mistake. Its own text quotes the values, and those may be secrets."""
    found = report._errors  # noqa: SLF001  the report has no other way to tell mistakes from values
    return "; ".join(
        f"{name or 'the parameters'}: {reason}" + (f" {more['required_name']}" if "required_name" in more else "")
        for reason, name, more in found
    )


def _converted(shape: Shape, value: Any, path: str, depth: int) -> Any:
    if depth > _DEEPEST:
        raise Malformed(f"{path} is nested deeper than {_DEEPEST} levels.")
    match shape.type_name:
        case "structure" if isinstance(value, Mapping) and not shape.is_document_type:
            if unknown := sorted(set(value) - set(shape.members)):
                raise Malformed(f"{path} has no member {unknown[0]!r}.", code="unknown_parameter")
            return {
                name: _converted(shape.members[name], item, f"{path}.{name}", depth + 1) for name, item in value.items()
            }
        case "list" if isinstance(value, list):
            return [_converted(shape.member, item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value)]
        case "map" if isinstance(value, Mapping):
            return {key: _converted(shape.value, item, f"{path}[{key!r}]", depth + 1) for key, item in value.items()}
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
    """A time in ISO 8601, or in seconds since 1970 as AWS's own JSON protocols write it."""
    return _moment(value, path) if isinstance(value, str) else _seconds(value, path)


def _moment(value: str, path: str) -> datetime:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError as error:
        raise Malformed(f"{path} must be a time such as 2026-11-21T09:00:00Z.") from error
    if moment.tzinfo is None:
        raise Malformed(f"{path} needs a zone, e.g. 2026-11-21T09:00:00Z.")
    try:
        moment.astimezone(UTC)
    except OverflowError as error:
        # A zone can carry a time at either end of the calendar over that end, and no wire format can hold it then.
        raise Malformed(f"{path} lies outside the calendar, which has the years 1 to 9999.") from error
    return moment


def _seconds(value: float, path: str) -> datetime:
    try:
        return datetime.fromtimestamp(value, UTC)
    except (OverflowError, ValueError, OSError) as error:
        raise Malformed(f"{path} lies outside the calendar, which has the years 1 to 9999.") from error
