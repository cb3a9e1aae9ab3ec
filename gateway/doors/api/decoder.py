"""The JSON API's `ports.RequestDecoder`: decodes one proposal strictly, after the caller is authenticated."""

from dataclasses import replace
from functools import partial
from typing import Any

from botocore import xform_name

from gateway.doors.api.parameters import parameters
from gateway.doors.api.schemas import IDEMPOTENCY_KEY_LENGTH, MutationBody, body_of
from gateway.doors.aws.call_classes import CallClassTable
from gateway.doors.aws.routing_index import RoutingIndex
from gateway.doors.aws.statement_class import class_of_call
from gateway.errors import Malformed, UnknownOperation
from gateway.model.caller import Caller
from gateway.model.inbound import Inbound
from gateway.model.mutation import Call, CallClass, Door
from gateway.off_loop import off_loop
from gateway.ports import Request
from gateway.service_models import ServiceModels


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
    ) -> None:
        self._account = account
        self._regions = regions
        self._default_region = default_region
        self._index = index
        self._classes = classes
        self._models = models

    async def read(self, inbound: Inbound, caller: Caller) -> Request:  # noqa: ARG002  the protocol's shape
        """The proposed call with its motive. Raises `errors.Malformed`, `errors.UnknownOperation`, `errors.BodyTooLarge`."""
        body = await body_of(inbound, MutationBody, what="proposal")
        operation = self._operation_name(body.service, body.operation)
        by_operation = self._classes.of(body.service, operation)
        _require_change(body, by_operation)
        region = body.region or self._default_region
        if region not in self._regions:
            raise Malformed(
                f"The region {region!r} is not one that this Sentinel may call. It may call {', '.join(sorted(self._regions))}."
            )
        shape = await self._models.input_of(body.service, operation)
        size = len(await inbound.read_body())
        given = await off_loop(size, partial(parameters, shape, body.parameters))
        call = Call(
            service=body.service,
            operation=operation,
            parameters=given,
            account=self._account,
            region=region,
        )
        call_class = class_of_call(call, by_operation)
        _require_change(body, call_class)
        return Request(
            call=call,
            call_class=call_class,
            motive=body.motive.motive() if body.motive else None,
            idempotency_key=_idempotency_key(inbound),
            dry_run=body.dry_run,
            door=Door.API,
        )

    async def request_of(self, call: Call) -> Request:
        """The request that makes a recorded call again. Raises `errors.Malformed`, `errors.UnknownOperation`."""
        shape = await self._models.input_of(call.service, call.operation)
        again = replace(call, parameters=parameters(shape, dict(call.parameters)))
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
