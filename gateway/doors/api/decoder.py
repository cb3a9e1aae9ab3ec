"""The JSON API's `ports.RequestDecoder`: decodes one proposal strictly, after the caller is authenticated."""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from botocore import xform_name
from botocore.validate import ParamValidator

from gateway.aws.models.call_classes import CallClassTable, class_of_call
from gateway.aws.models.routing_index import RoutingIndex
from gateway.core.errors import Malformed, UnknownOperation
from gateway.core.http.value_limits import MAX_DEPTH, path_below
from gateway.core.model.caller import Caller, account_of
from gateway.core.model.inbound import Inbound
from gateway.core.model.mutation import Call, CallClass, Door
from gateway.core.off_loop import off_loop
from gateway.core.partitions import region_refused
from gateway.core.ports import Request
from gateway.core.service_models import ServiceModels, Shape
from gateway.doors.api.problems import MAX_ERRORS
from gateway.doors.api.request_bodies import IDEMPOTENCY_KEY_LENGTH, MutationBody, body_of


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


class ApiDecoder:
    """Decodes the body of `POST /v1/mutations`."""

    def __init__(
        self,
        *,
        account: str,
        regions: tuple[str, ...],
        default_region: str,
        index: RoutingIndex,
        classes: CallClassTable,
        models: ServiceModels,
        accounts: Mapping[str, str] | None = None,
    ) -> None:
        """`accounts` are those that the calls of assumed roles go to, by role; every other call goes to `account`."""
        self._account = account
        self._accounts = accounts or {}
        self._regions = regions
        self._default_region = default_region
        self._index = index
        self._classes = classes
        self._models = models

    async def read(self, inbound: Inbound, caller: Caller) -> Request:
        """The proposed call with its motive. Raises `errors.Malformed`, `errors.UnknownOperation`, `errors.BodyTooLarge`."""
        body = await body_of(inbound, MutationBody, what="proposal")
        request = await self.proposed(body, len(await inbound.read_body()))
        call = replace(request.call, account=account_of(caller, self._account, self._accounts))
        return replace(request, call=call, idempotency_key=_idempotency_key(inbound))

    async def proposed(self, body: MutationBody, size: int) -> Request:
        """The call that a body of this many bytes proposes. Raises `errors.Malformed`, `errors.UnknownOperation`."""
        operation = self._operation_name(body.service, body.operation)
        by_operation = self._classes.of(body.service, operation)
        _require_change(body, by_operation)
        region = body.region or self._default_region
        if region not in self._regions:
            raise Malformed(region_refused(region, self._regions))
        shape = await self._models.input_of(body.service, operation)
        given = await off_loop(size, partial(parameters, shape, body.parameters))
        call = Call(
            service=body.service,
            operation=operation,
            parameters=given,
            account=self._account,
            region=region,
            tokens=self._models.idempotency_tokens(body.service, operation),
        )
        call_class = class_of_call(call, by_operation)
        _require_change(body, call_class)
        return Request(
            call=call,
            call_class=call_class,
            motive=body.motive.motive() if body.motive else None,
            dry_run=body.dry_run,
            door=Door.API,
        )

    async def request_of(self, call: Call) -> Request:
        """The request that makes a recorded call again. Raises `errors.Malformed`, `errors.UnknownOperation`."""
        shape = await self._models.input_of(call.service, call.operation)
        tokens = self._models.idempotency_tokens(call.service, call.operation)
        again = replace(call, parameters=parameters(shape, dict(call.parameters)), tokens=tokens)
        by_operation = self._classes.of(call.service, call.operation)
        return Request(call=again, call_class=class_of_call(again, by_operation), door=Door.API)

    def _operation_name(self, service: str, given: str) -> str:
        """The name of an operation as AWS spells it, from that or from the name of boto3's method. Raises `errors.UnknownOperation`."""
        known = self._index.services.get(service)
        operations = known.operations if known is not None else ()
        if given in operations:
            return given
        for name in operations:
            if xform_name(name) == given:
                return name
        raise UnknownOperation(
            f"AWS has no operation {service}:{given}. Name the service as boto3 does, and the operation as AWS (SetDesiredCapacity) or "
            "boto3 (set_desired_capacity) does."
        )

    def operation(self, call: Call) -> Any:
        """Botocore's model of a call's operation."""
        return self._models.operation(call.service, call.operation)


def _require_change(body: MutationBody, call_class: CallClass) -> None:
    """Raise `errors.Malformed` for a call that the API does not take."""
    if not call_class.changes_state:
        raise Malformed(
            f"{body.service}:{body.operation} changes nothing. Send reads to the AWS endpoint; they need no motive."
        )


def _idempotency_key(inbound: Inbound) -> str:
    """The `Idempotency-Key` header with a prefix that keeps it apart from the AWS door's keys; empty if there is none."""
    key = inbound.header("idempotency-key")
    if key is None:
        return ""
    if not 1 <= len(key) <= IDEMPOTENCY_KEY_LENGTH or not key.isascii() or not key.isprintable():
        raise Malformed(
            f"Idempotency-Key must be 1 to {IDEMPOTENCY_KEY_LENGTH} printable ASCII characters.", code="idempotency_key"
        )
    return f"api:{key}"
