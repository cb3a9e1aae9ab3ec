"""The lightest client there is: whole requests as bytes over kept-alive connections, so that what is measured is the other side."""

import asyncio
import re
import socket
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from types import TracebackType
from typing import Self

from gateway.core.ports import Key
from gateway.identity import canonical

_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
REGION = "us-east-1"


class Connection:
    """One blocking connection."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self._socket.close()

    def ask(self, request: bytes) -> bytes:
        """Send a request and return its whole reply."""
        self._socket.sendall(request)
        reply = self._socket.recv(65536)
        while (missing := _missing(reply)) != 0:
            more = self._socket.recv(65536)
            if not more:
                raise ConnectionError(f"the connection ended with {missing} bytes to come")
            reply += more
        return reply

    def timed(self, request: bytes, status: bytes = b"200") -> float:
        """Milliseconds until the whole reply was there. Raises `AssertionError` for another status."""
        started = time.perf_counter()
        reply = self.ask(request)
        spent = (time.perf_counter() - started) * 1000
        expect(reply, status)
        return spent


def at_once(asked: Sequence[tuple[int, Sequence[bytes]]]) -> float:
    """The seconds that these take: each list goes to the server at its port, as `ask_all` sends it."""

    async def all_lists() -> None:
        await asyncio.gather(*(ask_all(port, requests) for port, requests in asked))

    began = time.perf_counter()
    asyncio.run(all_lists())
    return time.perf_counter() - began


async def ask_all(port: int, requests: Sequence[bytes]) -> None:
    """Send the requests one after the other over one connection. Raises `AssertionError` for one that is not answered with 200."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for request in requests:
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            body = await reader.readexactly(-_missing(head) if _missing(head) < 0 else _missing(head))
            expect(head + body, b"200")
    finally:
        writer.close()


def expect(reply: bytes, status: bytes) -> None:
    """Raises `AssertionError` for a reply with another status."""
    if reply[9:12] != status:
        raise AssertionError(reply.decode("latin-1"))


def _missing(reply: bytes) -> int:
    """How many bytes of the reply are still to come; 1 while its head is not whole."""
    head, end, body = reply.partition(b"\r\n\r\n")
    if not end:
        return 1
    found = _LENGTH.search(head)
    return (int(found[1]) if found else 0) - len(body)


def signed(key: Key, service: str, body: bytes, headers: dict[str, str], port: int) -> bytes:
    """A POST of `body` to `/`, signed now with a gateway-issued key. Header names are lower-case."""
    timestamp = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    named = {**headers, "host": f"127.0.0.1:{port}", "x-amz-date": timestamp}
    names = sorted(named)
    request = canonical.canonical_request(
        method="POST",
        path="/",
        query="",
        headers=named,
        signed=names,
        payload=sha256(body).hexdigest(),
    )
    signature = canonical.signature(
        secret=key.secret, timestamp=timestamp, region=REGION, service=service, request=request
    )
    named["authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={key.id}/{timestamp[:8]}/{REGION}/{service}/aws4_request, "
        f"SignedHeaders={';'.join(names)}, Signature={signature}"
    )
    named["content-length"] = str(len(body))
    head = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return f"POST / HTTP/1.1\r\n{head}\r\n".encode() + body


def numbered(request: bytes, attempt: str) -> bytes:
    """The request with an `amz-sdk-invocation-id`, which every SDK sends and botocore does not sign."""
    return request.replace(b"\r\n\r\n", f"\r\namz-sdk-invocation-id: {attempt}\r\n\r\n".encode(), 1)
