"""Forwards the calls of the data plane that pass, and has them counted."""

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

import structlog

from gateway.aws.door.reads import ReadResponse, rewritten, send_reply
from gateway.aws.door.urls import ReplyUrls
from gateway.core.errors import LedgerUnavailable, NotSendable
from gateway.core.http.asgi import Receive, Send
from gateway.core.model.caller import Caller
from gateway.core.model.data_plane import DataTreatment, Passage
from gateway.core.model.inbound import Inbound, Upload
from gateway.core.model.mutation import Call, Door
from gateway.core.ports import Request
from gateway.line.data_plane import DataPlane, PassedCounts

log = structlog.get_logger()

_FIRST_ERROR = 400
PreparedT = TypeVar("PreparedT")


class DataUpstream(Protocol[PreparedT]):
    """AWS, for calls of the data plane."""

    async def prepare(self, call: Call, upload: Upload | None = None) -> PreparedT:
        """The signed request. Sends nothing. Raises `errors.NotSendable`."""
        ...

    async def open(self, prepared: PreparedT) -> ReadResponse:
        """Send once; return when the reply's head arrives. Raises `errors.UpstreamUnavailable`."""
        ...


class DataCalls(Generic[PreparedT]):
    """Forwards what passes. Everything else is left to the pipeline."""

    def __init__(
        self,
        plane: DataPlane,
        counts: PassedCounts,
        upstream: DataUpstream[PreparedT],
        urls: ReplyUrls | None = None,
        *,
        refuse: Callable[[Caller], None] = lambda _: None,
    ) -> None:
        """`refuse` raises for a caller whose calls do not pass now; `urls` makes the URLs in replies lead through the gateway; None: they stay as they are."""
        self._urls = urls
        self._refuse = refuse
        self._plane = plane
        self._counts = counts
        self._upstream = upstream

    def count_read(self, caller: Caller, request: Request) -> None:
        """Count a read with a presigned URL, which its maker gave away. Other reads leave no record. Never raises."""
        if request.door is Door.AWS:
            return
        try:
            self._counts.add(
                Passage(
                    caller=caller,
                    service=request.call.service,
                    operation=request.call.operation,
                    stack="",
                    addresses=(),
                    treatment=DataTreatment.PASS,
                    call_class=request.call_class,
                    door=request.door,
                )
            )
        except LedgerUnavailable as error:
            log.error("presigned_read_not_counted", reason=str(error))  # noqa: TRY400  the message says enough

    async def forward(
        self, receive: Receive, send: Send, *, inbound: Inbound, caller: Caller, request: Request
    ) -> bool:
        """Whether the call passed; then AWS's reply was sent. If not, nothing was sent anywhere.

        Raises `errors.LedgerUnavailable` and `errors.Stopped` before anything is sent, `errors.UpstreamUnavailable` before anything is sent to the client, and
        `ConnectionResetError` if AWS breaks off its reply.
        """
        passage = await self._plane.passage(caller, request)
        if passage is None:
            return False
        self._refuse(caller)
        try:
            prepared = await self._upstream.prepare(request.call, request.upload)
        except NotSendable:
            # The pipeline refuses it with the reason, and records that.
            return False
        self._counts.add(passage)
        answered = False
        try:
            response = await self._upstream.open(prepared)
            answered = response.status < _FIRST_ERROR
            try:
                reply: ReadResponse = response
                if self._urls is not None and self._urls.concerns(request.call, inbound):
                    reply = await rewritten(response, self._urls, request.call, inbound)
                await send_reply(receive, send, reply)
            finally:
                response.abandon()
        finally:
            if not answered:
                self._counts.add_error(passage)
        return True
