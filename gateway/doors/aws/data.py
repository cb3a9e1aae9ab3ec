"""Forwards the calls of the data plane that pass, and has them counted."""

from typing import Generic, Protocol, TypeVar

from gateway.data_plane import DataPlane
from gateway.doors.asgi import Receive, Send
from gateway.doors.aws.stream import ReadResponse, send_reply
from gateway.errors import NotSendable
from gateway.model.caller import Caller
from gateway.model.mutation import Call
from gateway.passed_counts import PassedCounts
from gateway.ports import Request

_FIRST_ERROR = 400
PreparedT = TypeVar("PreparedT")


class DataUpstream(Protocol[PreparedT]):
    """AWS, for calls of the data plane."""

    async def prepare(self, call: Call) -> PreparedT:
        """The signed request. Sends nothing. Raises `errors.NotSendable`."""
        ...

    async def open(self, prepared: PreparedT) -> ReadResponse:
        """Send once; return when the reply's head arrives. Raises `errors.UpstreamUnavailable`."""
        ...


class DataCalls(Generic[PreparedT]):
    """Forwards what passes. Everything else is left to the pipeline."""

    def __init__(self, plane: DataPlane, counts: PassedCounts, upstream: DataUpstream[PreparedT]) -> None:
        self._plane = plane
        self._counts = counts
        self._upstream = upstream

    async def forward(self, receive: Receive, send: Send, *, caller: Caller, request: Request) -> bool:
        """Whether the call passed; then AWS's reply was sent. If not, nothing was sent anywhere.

        Raises `errors.LedgerUnavailable` before anything is sent, `errors.UpstreamUnavailable` before anything is sent to the client, and
        `ConnectionResetError` if AWS breaks off its reply.
        """
        passage = await self._plane.passage(caller, request)
        if passage is None:
            return False
        try:
            prepared = await self._upstream.prepare(request.call)
        except NotSendable:
            # The pipeline refuses it with the reason, and records that.
            return False
        self._counts.add(passage)
        answered = False
        try:
            response = await self._upstream.open(prepared)
            answered = response.status < _FIRST_ERROR
            try:
                await send_reply(receive, send, response)
            finally:
                response.abandon()
        finally:
            if not answered:
                self._counts.add_error(passage)
        return True
