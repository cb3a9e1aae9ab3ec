"""A stub of all of AWS: an HTTP proxy that records each request as the gateway understands it, and answers with a plausible output.

The provider reaches it as HTTP_PROXY, so that no host needs name resolution or TLS, also one with a bucket or an account before it.
"""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gateway.aws.models.routing_index import Protocol
from gateway.core.service_models import ServiceModels
from tests.tools.effects_tracing.answer_encoding import Answer, encode_missing, encode_output, refusal
from tests.tools.effects_tracing.answers import Answers
from tests.tools.effects_tracing.request_reader import ReadRequest, RequestReader


class Stub:
    """Records and answers requests; the phase that they belong to is begun with `begin`."""

    def __init__(self) -> None:
        self._models = ServiceModels()
        self._reader = RequestReader(self._models)
        self._server: asyncio.Server | None = None
        self.port = 0
        self.begin()

    def begin(
        self,
        echo: Mapping[str, Any] | None = None,
        *,
        status: str = "",
        deleting: bool = False,
        absent: bool = False,
    ) -> None:
        """Begin a phase without recorded requests. `echo` and `status`: as in `Answers`.

        `deleting`: after the first change, reads find nothing. `absent`: before the first change, reads find nothing.
        """
        self.requests: list[ReadRequest] = []
        self.last = time.monotonic()
        self._answers = Answers(echo, status)
        self._deleting, self._absent = deleting, absent

    async def start(self) -> None:
        """Listen on a free port of the loopback interface."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=1 << 20)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    def answer(self, method: str, target: str, headers: tuple[tuple[str, str], ...], body: bytes) -> Answer:
        """Record a request and answer it."""
        request = self._reader.read(method, target, headers, body)
        changed = any(each.changes for each in self.requests) or request.changes
        self.requests.append(request)
        self.last = time.monotonic()
        if request.protocol is None:
            return refusal(400, "ValidationException", "the stub could not read this request")
        try:
            return self._answer(request, request.protocol, changed=changed)
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            # A mistake of the stub must not hang the provider, and must be seen in the traces.
            self.requests[-1] = replace(request, problem=f"stub: {error!r}"[:300])
            return refusal(400, "ValidationException", "the stub could not answer this request")

    def _answer(self, request: ReadRequest, protocol: Protocol, *, changed: bool) -> Answer:
        model = self._models.operation(request.service, request.operation)
        if request.changes:
            self._answers.remember(request.parameters)
        elif (self._deleting if changed else self._absent) and request.service != "sts":
            return encode_missing(model, protocol)
        else:
            self._answers.ask(request.parameters)
        return encode_output(model, protocol, self._answers.output(model))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            method, target, _ = head[0].split(" ", 2)
            pairs = (line.partition(":") for line in head[1:] if line)
            headers = tuple((name.lower(), value.strip()) for name, _, value in pairs)
            body = await _body(dict(headers), reader, writer)
            writer.write(_http(self.answer(method, target, headers, body), method))
            await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            pass
        finally:
            writer.close()


async def _body(headers: Mapping[str, str], reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    if headers.get("expect", "").lower() == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    if "chunked" not in headers.get("transfer-encoding", ""):
        return await reader.readexactly(int(headers.get("content-length", 0)))
    body = b""
    while size := int((await reader.readline()).split(b";")[0] or b"0", 16):
        body += await reader.readexactly(size)
        await reader.readline()
    await reader.readline()
    return body


def _http(answer: Answer, method: str) -> bytes:
    """One write, and the connection ends: with a connection that lasts, Go's client says now and then that it was closed."""
    lines = [f"HTTP/1.1 {answer.status} X", "connection: close", f"content-length: {len(answer.body)}"]
    lines += [f"{name}: {value}".replace("\n", " ") for name, value in answer.headers.items()]
    head = "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")
    return head if method == "HEAD" else head + answer.body
