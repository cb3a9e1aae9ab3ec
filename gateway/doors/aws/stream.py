"""Passing reads through: the client's own bytes to AWS, signed anew, and AWS's own bytes back, as they come.

Requests are held whole (the signature covers the body, and the door's limit applies); replies of any length are streamed.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from hashlib import sha256
from typing import Protocol
from urllib.parse import unquote

from gateway.authn.sigv4 import AUTH_PARAMETERS, PayloadKind, Signature
from gateway.doors.asgi import Receive, Send
from gateway.errors import Malformed, UpstreamUnavailable
from gateway.model.inbound import Inbound
from gateway.model.mutation import Call

SMALL = 64 * 1024
"""Replies up to this many bytes are sent in one piece."""
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
"""Headers that go on to AWS, besides `x-amz-*`, `x-amzn-*` and `amz-sdk-*`. What is not known to be meant for AWS stays here."""
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
"""Hop-by-hop headers, and the two that our own server sets."""


class ReadResponse(Protocol):
    """A reply whose head has come."""

    status: int
    headers: Sequence[tuple[bytes, bytes]]
    length: int | None

    async def read(self) -> bytes:
        """The whole body. Raises `errors.UpstreamUnavailable`."""
        ...

    def parts(self) -> AsyncIterator[bytes]:
        """The body in pieces. Raises `errors.UpstreamUnavailable`."""
        ...

    def abandon(self) -> None:
        """Close the connection unless the body was read to its end."""
        ...


class ReadUpstream(Protocol):
    """AWS, for reads."""

    async def open(
        self, call: Call, *, method: str, target: str, headers: Sequence[tuple[str, str]], body: bytes, payload: str
    ) -> ReadResponse:
        """Sign and send; return when the head of the reply is there. Raises `errors.NotSendable`, `errors.UpstreamUnavailable`."""
        ...


class Reads:
    """Forwards reads."""

    def __init__(self, upstream: ReadUpstream) -> None:
        self._upstream = upstream

    async def forward(
        self, receive: Receive, send: Send, *, inbound: Inbound, target: str, call: Call, signature: Signature
    ) -> None:
        """Forward one verified read and send AWS's reply.

        `target` is the path and query that AWS is to see (the client's, undecoded, without a marker of our own). Raises, before anything was
        sent to the client, `errors.NotSendable`, `errors.UpstreamUnavailable`, `errors.Malformed`, `errors.BodyTooLarge`. If AWS breaks off
        half-way it raises `ConnectionResetError`, upon which the server cuts the client's connection, so that half is not taken for whole.
        """
        if signature.payload_kind.chunked:
            raise Malformed(
                "A read has no use for a chunked upload; send its body whole. Nothing was sent.", code="bad_chunks"
            )
        body = await inbound.read_body()
        answer = await self._upstream.open(
            call,
            method=inbound.method,
            target=without_proof(target) if signature.presigned else target,
            headers=forwarded(inbound.headers),
            body=body,
            payload=_payload(signature, body),
        )
        try:
            await _reply(receive, send, answer)
        finally:
            answer.abandon()


def forwarded(headers: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The headers that go on to AWS: the client's without its proof, ours and the connection's."""
    return [
        (name, value)
        for name, value in headers
        if name in _FORWARDED or (name.startswith(("x-amz", "amz-sdk-")) and name not in _REPLACED)
    ]


def without_proof(target: str) -> str:
    """The target without the parameters that presign it."""
    path, _, query = target.partition("?")
    kept = [part for part in query.split("&") if unquote(part.partition("=")[0]) not in AUTH_PARAMETERS]
    return f"{path}?{'&'.join(kept)}" if any(kept) else path


def _payload(signature: Signature, body: bytes) -> str:
    if signature.payload_kind is PayloadKind.UNSIGNED and not body:
        return PayloadKind.UNSIGNED.value
    return signature.payload_hash or sha256(body).hexdigest()


async def _reply(receive: Receive, send: Send, answer: ReadResponse) -> None:
    headers = [(name, value) for name, value in answer.headers if name.lower() not in _NOT_RETURNED]
    start = {"type": "http.response.start", "status": answer.status, "headers": headers}
    if answer.length is not None and answer.length <= SMALL:
        body = await answer.read()
        await send(start)
        await send({"type": "http.response.body", "body": body})
        return
    await send(start)
    await _stream(receive, send, answer)


async def _stream(receive: Receive, send: Send, answer: ReadResponse) -> None:
    """Send the body piece by piece, until it ends or the client hangs up."""
    hung_up = asyncio.ensure_future(_disconnect(receive))
    try:
        async for part in answer.parts():
            if hung_up.done():
                return
            await send({"type": "http.response.body", "body": part, "more_body": True})
    except UpstreamUnavailable as error:
        raise ConnectionResetError(str(error)) from error
    finally:
        hung_up.cancel()
    await send({"type": "http.response.body", "body": b""})


async def _disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
