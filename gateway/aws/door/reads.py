"""Forwards reads: the client's request to AWS, newly signed, and AWS's reply back to the client, both byte for byte.

A request is read completely first (the signature covers the body, and the door's size limit applies). Replies of any length are streamed.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import lru_cache, partial
from hashlib import sha256
from typing import Any, Protocol, TypeAlias
from urllib.parse import unquote

from gateway.aws.door.urls import ReplyUrls, with_aws_queue_url
from gateway.core.errors import Malformed, UpstreamUnavailable
from gateway.core.http.asgi import BODY_FOLLOWS, Receive, Send
from gateway.core.model.caller import Caller
from gateway.core.model.inbound import Inbound
from gateway.core.model.mutation import Call
from gateway.core.model.signature import PayloadKind, Signature
from gateway.identity.caller import KEY_SECONDS
from gateway.identity.sigv4 import AUTH_PARAMETERS

MAX_BUFFERED_BYTES = 64 * 1024
"""Replies of at most this many bytes are read completely before they are sent."""
PATIENCE_SECONDS = 1.0
"""After this time without a reply to a read, a client that hangs up ends it. Most replies begin sooner, so nothing is spent on them."""
_FORWARDED = frozenset(
    {
        "accept",
        "accept-encoding",
        "content-encoding",
        "content-md5",
        "content-type",
        "if-match",
        "if-modified-since",
        "if-none-match",
        "if-range",
        "if-unmodified-since",
        "range",
        "smithy-protocol",
        "user-agent",
    }
)
"""Headers forwarded to AWS, besides `x-amz-*`, `x-amzn-*` and `amz-sdk-*`. All others may not be meant for AWS, so they are dropped."""
_REPLACED = frozenset({"x-amz-content-sha256", "x-amz-date", "x-amz-security-token"})
_NOT_RETURNED = frozenset(
    {
        b"connection",
        b"date",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-connection",
        b"server",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
"""Hop-by-hop headers, and the two that our own server sets (`date`, `server`)."""


KeyStands: TypeAlias = Callable[[Caller], Awaitable[bool]]
"""Whether the key of a caller still holds (`identity.caller.still_in`)."""


class ReadResponse(Protocol):
    """A reply whose head has arrived and whose body is not read yet."""

    status: int
    headers: Sequence[tuple[bytes, bytes]]
    length: int | None

    async def read(self) -> bytes:
        """The whole body. Raises `errors.UpstreamUnavailable`."""
        ...

    def parts(self) -> AsyncIterator[bytes]:
        """The body in pieces, as they arrive. Raises `errors.UpstreamUnavailable`."""
        ...

    def abandon(self) -> None:
        """Close the connection unless the body was read to its end."""
        ...


class ReadUpstream(Protocol):
    """AWS, for reads."""

    async def open(
        self, call: Call, *, method: str, target: str, headers: Sequence[tuple[str, str]], body: bytes, payload: str
    ) -> ReadResponse:
        """Sign and send; return when the reply's head arrives. Raises `errors.NotSendable`, `errors.UpstreamUnavailable`."""
        ...


class Reads:
    """Forwards reads."""

    def __init__(self, upstream: ReadUpstream, urls: ReplyUrls | None = None, *, stands: KeyStands) -> None:
        """`urls` makes the URLs in replies lead through the gateway; None: they stay as they are. `stands` is asked while a reply lasts."""
        self._upstream = upstream
        self._urls = urls
        self._stands = stands
        self._patience = _Patience()

    async def forward(
        self,
        receive: Receive,
        send: Send,
        *,
        inbound: Inbound,
        target: str,
        caller: Caller,
        call: Call,
        signature: Signature,
    ) -> None:
        """Forward one verified read and send AWS's reply, as long as the caller's key holds.

        `target` is the path and query for AWS: the client's, undecoded, without the prefix `/_svc/<service>`.

        Raises `errors.NotSendable`, `errors.UpstreamUnavailable`, `errors.Malformed` and `errors.BodyTooLarge` before anything is sent to
        the client. Raises `ConnectionResetError` if AWS breaks off a reply that is being streamed: the server then closes the client's
        connection, so that the client does not mistake a part of the body for the whole.
        """
        if signature.payload_kind.chunked:
            raise Malformed(
                "A read cannot be a chunked upload; send its body in one piece. Nothing was sent.", code="bad_chunks"
            )
        received = await inbound.read_body()
        body = received
        if call.service == "sqs":
            body = with_aws_queue_url(received, inbound.header("content-type") or "", call.region)
        rewrites = self._urls if self._urls is not None and self._urls.concerns(call, inbound) else None
        headers = forwarded_headers(inbound.headers)
        if rewrites is not None and "accept-encoding" in inbound.by_name:
            # A reply that is rewritten must come as it is, not compressed.
            headers = [each for each in headers if each[0] != "accept-encoding"]
        watch = self._patience.watch(receive)
        try:
            opened = await self._upstream.open(
                call,
                method=inbound.method,
                target=without_signature(target) if signature.presigned else target,
                headers=headers,
                body=body,
                payload=_payload(signature, body, inbound.once.body_sha256)
                if body is received
                else sha256(body).hexdigest(),
            )
        except asyncio.CancelledError as error:
            if not watch.is_only_reason():
                raise
            raise UpstreamUnavailable(
                "The client hung up before AWS answered this read. Nothing was changed."
            ) from error
        finally:
            self._patience.end(watch)
        try:
            if rewrites is None:
                await send_reply(receive, send, opened, partial(self._stands, caller))
            else:
                await send_rewritten(send, opened, rewrites, call, inbound)
        finally:
            opened.abandon()


def forwarded_headers(headers: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The client's headers that are forwarded to AWS: not its signature, not Sentinel's own headers, not those of the connection."""
    return [each for each in headers if _is_forwarded(each[0])]


@lru_cache(maxsize=256)  # a name may have 8 KB
def _is_forwarded(name: str) -> bool:
    return name in _FORWARDED or (name.startswith(("x-amz", "amz-sdk-")) and name not in _REPLACED)


def without_signature(target: str) -> str:
    """The target without the query parameters of a presigned URL's signature."""
    path, _, query = target.partition("?")
    kept = [part for part in query.split("&") if unquote(part.partition("=")[0]) not in AUTH_PARAMETERS]
    return f"{path}?{'&'.join(kept)}" if any(kept) else path


def _payload(signature: Signature, body: bytes, known: str) -> str:
    if signature.payload_kind is PayloadKind.UNSIGNED and not body:
        return PayloadKind.UNSIGNED.value
    return signature.payload_hash or known or sha256(body).hexdigest()


async def send_reply(
    receive: Receive, send: Send, response: ReadResponse, stands: Callable[[], Awaitable[bool]]
) -> None:
    """Send AWS's reply: in one piece if it is short, else piece by piece as long as `stands` says so. Raises as `Reads.forward`."""
    if response.length is not None and response.length <= MAX_BUFFERED_BYTES:
        body = await response.read()
        await send({**_start(response.status, response.headers), BODY_FOLLOWS: True})
        await send({"type": "http.response.body", "body": body})
        return
    await send(_start(response.status, response.headers))
    await _stream(receive, send, response, stands)


async def send_rewritten(send: Send, response: ReadResponse, urls: ReplyUrls, call: Call, inbound: Inbound) -> None:
    """Send AWS's reply in one piece, its URLs leading through the gateway. Raises `errors.UpstreamUnavailable`."""
    received = await response.read()
    headers, body = urls.rewritten(call, inbound, response.headers, received)
    await send({**_start(response.status, headers), BODY_FOLLOWS: True})
    await send({"type": "http.response.body", "body": body})


def _start(status: int, headers: Sequence[tuple[bytes, bytes]]) -> dict[str, Any]:
    """The start of the answer to a client, without the headers of the connection to AWS."""
    kept = [(name, value) for name, value in headers if name.lower() not in _NOT_RETURNED]
    return {"type": "http.response.start", "status": status, "headers": kept}


class _Patience:
    """Begins the watches of reads that AWS has not answered within `PATIENCE_SECONDS`. One timer is enough for them: all wait as long."""

    def __init__(self) -> None:
        self._waiting: dict[_Watch, float] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def watch(self, receive: Receive) -> "_Watch":
        """A watch of the current task, which begins then unless it is ended before."""
        loop = self._loop
        if loop is None:
            loop = self._loop = asyncio.get_running_loop()
        watch = _Watch(receive, asyncio.current_task(loop))
        self._waiting[watch] = loop.time() + PATIENCE_SECONDS
        if self._timer is None:
            self._timer = loop.call_later(PATIENCE_SECONDS, self._look, loop)
        return watch

    def end(self, watch: "_Watch") -> None:
        """AWS has answered, or the read has ended otherwise."""
        if self._waiting.pop(watch, None) is None:
            watch.end()

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        for watch, at in list(self._waiting.items()):
            if (left := at - loop.time()) > 0:
                self._timer = loop.call_later(left, self._look, loop)
                return
            del self._waiting[watch]
            watch.begin()


class _Watch:
    """Ends a task's wait for AWS when its client hangs up, from when it is begun: a reply that comes soon costs nothing."""

    __slots__ = ("_receive", "_task", "_watching", "gone")

    def __init__(self, receive: Receive, task: "asyncio.Task[Any] | None") -> None:
        self._receive = receive
        self._task = task
        self._watching: asyncio.Task[None] | None = None
        self.gone = False

    def begin(self) -> None:
        self._watching = asyncio.ensure_future(_disconnected(self._receive, self._leave))

    def end(self) -> None:
        if self._watching is not None:
            self._watching.cancel()

    def _leave(self) -> None:
        if self._task is not None:
            self.gone = True
            self._task.cancel()

    def is_only_reason(self) -> bool:
        """Whether the task was cancelled for this and for nothing else. The cancellation is taken back."""
        return self.gone and self._task is not None and self._task.uncancel() == 0


async def _stream(receive: Receive, send: Send, response: ReadResponse, stands: Callable[[], Awaitable[bool]]) -> None:
    """Send the body piece by piece, until it ends, the client disconnects or its key ends."""
    # A client may hang up, and a key may end, while AWS sends nothing.
    disconnected = asyncio.ensure_future(_disconnected(receive, response.abandon))
    ended = asyncio.ensure_future(_ended(stands, response.abandon))
    try:
        async for part in response.parts():
            if disconnected.done():
                return
            if ended.done():
                break
            await send({"type": "http.response.body", "body": part, "more_body": True})
    except UpstreamUnavailable as error:
        if disconnected.done():
            return
        raise ConnectionResetError(str(error)) from error
    finally:
        disconnected.cancel()
        ended.cancel()
    if ended.done() and not ended.cancelled():
        raise ConnectionResetError("The key of this reader has ended, so the reply was broken off.")
    await send({"type": "http.response.body", "body": b""})


async def _disconnected(receive: Receive, then: Callable[[], None]) -> None:
    """Call `then` when the client disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass
    then()


async def _ended(stands: Callable[[], Awaitable[bool]], then: Callable[[], None]) -> None:
    """Call `then` when the key does not hold any more."""
    while True:
        await asyncio.sleep(KEY_SECONDS)
        if not await stands():
            then()
            return
