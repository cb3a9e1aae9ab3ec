"""The one way in: the guard looks at every request, then how it proves itself says which door it is for.

AWS's own paths begin with `/v1/` too (batch, kafka, mq …), so the path alone cannot say it. What is signed as AWS requests are goes to
the AWS door; the rest to the application, whose routes are the JSON API's and whose last resort is the AWS door.
"""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from gateway.doors.api.problems import problem, status_of
from gateway.doors.asgi import Receive, RequestBody, Scope, Send, inbound_of
from gateway.doors.aws.door import AwsDoor
from gateway.doors.request_limits import objection_to
from gateway.errors import LedgerUnavailable, Malformed
from gateway.pipeline import Pipeline
from gateway.ports import Clock

App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

_API = (b"/v1", b"/healthz", b"/readyz")


class DoorRouter:
    """A raw ASGI application around all doors."""

    def __init__(self, app: App, *, aws: AwsDoor, pipeline: Pipeline, clock: Clock) -> None:
        """`app` answers whatever is not signed as AWS requests are."""
        self._app = app
        self._aws = aws
        self._pipeline = pipeline
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request through to its door, or turn it away here. No door speaks WebSocket."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close"})
        elif scope["type"] != "http":
            await self._app(scope, receive, send)
        elif (objection := objection_to(scope)) is not None:
            await self._turn_away(scope, receive, send, objection)
        elif signed_for_aws(scope):
            await self._aws(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _turn_away(self, scope: Scope, receive: Receive, send: Send, objection: Malformed) -> None:
        """Record it and answer in the words of its door; the connection ends, for where its next request begins is not certain."""
        if signed_for_aws(scope) or not scope["path"].encode("utf-8", "replace").startswith(_API):
            await self._aws.turn_away(scope, receive, send, objection)
            return
        error: Malformed | LedgerUnavailable = objection
        try:
            await self._pipeline.turn_away(inbound_of(scope, RequestBody(receive, 0), self._clock), objection)
        except LedgerUnavailable as unavailable:
            error = unavailable
        reply = problem(status_of(error), error.code, str(error))
        reply.headers["connection"] = "close"
        await reply(scope, receive, send)


def signed_for_aws(scope: Scope) -> bool:
    """Whether the request carries, or means to carry, an AWS signature, in its header or in its query."""
    for name, value in scope["headers"]:
        if name == b"authorization":
            scheme: bytes = value.lstrip()[:5].upper()
            return scheme.startswith((b"AWS4-", b"AWS "))
    query: bytes = scope["query_string"]
    return b"X-Amz-Signature=" in query or b"X-Amz-Algorithm=" in query
