"""Unpacks integrations of API Gateway: the call that AWS makes for each request that an API gets."""

import re
from collections.abc import Iterator

from gateway.effects.call_context import CallContext
from gateway.effects.proxies.carried import Carried, Carrier, Parcel, Runtime, Unread, inner_call

_PATH = re.compile(r"arn:[a-z-]+:apigateway:[a-z0-9-]+:lambda:path/2015-03-31/functions/(arn:[^/]+)/invocations")
_FUNCTION = re.compile(r"arn:[a-z-]+:lambda:[a-z0-9-]+:\d{12}:function:.+")
_OUTSIDE = frozenset({"HTTP", "HTTP_PROXY", "MOCK"})
"""Types that make no call of AWS."""


def of_integration(context: CallContext) -> Iterator[Parcel]:
    """The call of an integration of a REST API."""
    parameters = context.call.parameters
    found = _PATH.fullmatch(str(parameters.get("uri")))
    yield from _invocation(context, parameters.get("type"), found[1] if found else "", parameters.get("credentials"))


def of_second_version(context: CallContext) -> Iterator[Parcel]:
    """The call of an integration of an HTTP or WebSocket API."""
    parameters = context.call.parameters
    uri = str(parameters.get("IntegrationUri"))
    found = _PATH.fullmatch(uri)
    function = found[1] if found else uri if _FUNCTION.fullmatch(uri) else ""
    kind = parameters.get("IntegrationType")
    if parameters.get("IntegrationSubtype"):
        kind = "AWS"
    changes_kind = kind or "IntegrationUri" in parameters or "CredentialsArn" in parameters
    if context.call.operation == "CreateIntegration" or changes_kind:
        yield from _invocation(context, kind, function, parameters.get("CredentialsArn"))


def _invocation(context: CallContext, kind: object, function: str, role: object) -> Iterator[Parcel]:
    if kind in _OUTSIDE:
        return
    if kind not in ("AWS", "AWS_PROXY") or not _FUNCTION.fullmatch(function):
        yield Unread("an integration that calls AWS and is no plain invocation of a function")
        return
    payload = Runtime("what the API is sent")
    call = inner_call(context, "lambda", "Invoke", {"FunctionName": function, "Payload": payload})
    yield Carried(call=call, role=str(role or ""))


INTEGRATION = Carrier(unpack=of_integration)
SECOND_VERSION = Carrier(unpack=of_second_version)
