"""The root ASGI app: validates each request head, then routes the request by its authentication scheme to the AWS endpoint or the JSON API.

The path alone does not decide, because paths of some AWS services (batch, kafka, mq …) also begin with `/v1/`. Requests with an AWS
signature go to the AWS door. All others go to the FastAPI application, which serves the JSON API and passes unknown paths to the AWS door.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

from gateway.aws.door.endpoint import AwsDoor
from gateway.aws.door.request_head import is_form_upload
from gateway.core.errors import LedgerUnavailable, Malformed
from gateway.core.http.asgi import Receive, RequestBody, Scope, Send, fields_of, inbound_of
from gateway.core.http.body_budget import BodyBudget
from gateway.core.ports import Clock
from gateway.doors.api.problems import problem, status_of
from gateway.doors.front_page import is_browser_at_root, send_front_page
from gateway.doors.request_limits import head_error
from gateway.doors.shutdown import Stopping
from gateway.line.pipeline import Pipeline

App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

_API = ("/v1", "/healthz", "/readyz")


class DoorRouter:
    """The ASGI application in front of all doors."""

    def __init__(
        self,
        app: App,
        *,
        aws: AwsDoor,
        pipeline: Pipeline,
        clock: Clock,
        budget: BodyBudget,
        public_url: str = "",
        doors: Mapping[str, App] | None = None,
        stopping: Stopping | None = None,
    ) -> None:
        """`app` serves every request without an AWS signature that no other door has. `public_url` is shown to browsers.

        `doors` are further doors by the path that leads to them, e.g. `/mcp`: that path itself, and all below it.
        """
        self.stopping = stopping or Stopping()
        """What ends the streams that doors hold open; the server's protocol tells it when the server begins to stop."""
        self._public_url = public_url
        self._doors = dict(doors or {})
        self._app = app
        self._budget = budget
        self._aws = aws
        self._pipeline = pipeline
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request to its door, or reject it here."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if (error := head_error(scope)) is not None:
            await self._turn_away(scope, receive, send, error)
            return
        signed = signed_for_aws(scope)
        if not signed and is_browser_at_root(scope):
            await send_front_page(scope, send, self._public_url, console="/console" in self._doors)
            return
        door = self._aws if signed else self._unsigned(scope)
        metered = self._budget.metered(receive)
        try:
            await door(scope, metered, send)
        finally:
            metered.release()

    def _unsigned(self, scope: Scope) -> App:
        """The door of a request without an AWS signature."""
        if self._is_form(scope):
            return self._aws
        return next((door for path, door in self._doors.items() if _is_below(scope["path"], path)), self._app)

    def _is_form(self, scope: Scope) -> bool:
        """Whether the request is a browser form for a bucket, which is signed in its body."""
        kind = fields_of(scope).get(b"content-type", b"").decode("latin-1")
        return is_form_upload(scope["method"], kind, scope["path"], self._aws.hosts.of(scope))

    async def _turn_away(self, scope: Scope, receive: Receive, send: Send, malformed: Malformed) -> None:
        """Record the refusal, answer in the format of the request's door, and close the connection.

        The connection cannot be reused: after a malformed request it is not certain where the next one begins.
        """
        if signed_for_aws(scope) or not any(_is_below(scope["path"], path) for path in (*_API, *self._doors)):
            await self._aws.turn_away(scope, receive, send, malformed)
            return
        error: Malformed | LedgerUnavailable = malformed
        try:
            await self._pipeline.turn_away(inbound_of(scope, RequestBody(receive, 0), self._clock), malformed)
        except LedgerUnavailable as unavailable:
            error = unavailable
        response = problem(status_of(error), error.code, str(error))
        response.headers["connection"] = "close"
        await response(scope, receive, send)


def _is_below(path: str, door: str) -> bool:
    return path == door or path.startswith(f"{door}/")


def signed_for_aws(scope: Scope) -> bool:
    """Whether the request has an AWS signature, valid or not, in its `Authorization` header or in its query."""
    given = fields_of(scope).get(b"authorization")
    if given is not None:
        return given.lstrip()[:5].upper().startswith((b"AWS4-", b"AWS "))
    query: bytes = scope["query_string"]
    return b"X-Amz-Signature=" in query or b"X-Amz-Algorithm=" in query
