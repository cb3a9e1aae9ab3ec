"""A proxy between the gateway and what it depends on, which breaks the conversation in one of ten ways and counts what was asked through it."""

import asyncio
import contextlib
import socket
import struct
import threading
from collections.abc import Coroutine
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Self, TypeVar

T = TypeVar("T")

_PAUSE: Final = 0.02
"""Seconds between two bytes of a slow answer."""
_CHUNK: Final = 65_536


class Fault(StrEnum):
    """What goes wrong. Bytes pass unchanged in all other respects."""

    REFUSE = "refuse"
    """Nobody listens."""
    RESET = "reset"
    """The connection is reset when something is asked."""
    SWALLOW = "swallow"
    """What is asked arrives nowhere, and nothing is answered."""
    APPLY_THEN_CUT = "apply, cut"
    """What is asked is done, and the connection closed before the answer."""
    APPLY_THEN_503 = "apply, 503"
    """What is asked is done, and the answer is a 503 of somebody between."""
    HALF = "half an answer"
    SLOW = "slow"
    """The answer comes byte by byte."""
    DUPLICATE = "duplicate"
    """What is asked is asked twice; the first answer is passed on."""
    FAKE_200 = "fake 200"
    """A page of a captive portal answers; nothing is done."""
    REDIRECT = "redirect"
    """The answer leads to another host; nothing is done."""


_UNAVAILABLE: Final = b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbusy"
_PAGE: Final = b"<html><body>Sign in to the guest network</body></html>"
_PORTAL: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%b" % (
    len(_PAGE),
    _PAGE,
)
_MOVED: Final = b"HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:%d/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_UNDONE: Final = frozenset({Fault.RESET, Fault.SWALLOW, Fault.FAKE_200, Fault.REDIRECT})
"""What is asked is not passed on."""


@dataclass(eq=False)
class _Conversation:
    """One connection through the proxy."""

    client: asyncio.StreamWriter
    server: asyncio.StreamWriter
    faulty: Fault | None = None
    """The fault that the last thing asked met."""


class FaultProxy:
    """Listens on a port of loopback, in a thread of its own, until its block ends."""

    def __init__(self, target: tuple[str, int] | Path) -> None:
        """`target` is an address, or the path of a Unix socket."""
        self.port = 0
        self.asked = 0
        """How often something was asked while a fault stood, that the fault concerns."""
        self.strayed = 0
        """How often somebody followed the redirect."""
        self._target = target
        self._fault: Fault | None = None
        self._only = b""
        self._stray_port = 0
        self._server: asyncio.Server | None = None
        self._strays: asyncio.Server | None = None
        self._open: set[_Conversation] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._run(self._start())
        return self

    def __exit__(self, *_: object) -> None:
        self._run(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def fault(self, fault: Fault, *, only: bytes = b"") -> None:
        """From now on what is asked meets this fault; only what holds these bytes, if they are given."""
        self._run(self._set(fault, only))

    def clear(self) -> None:
        """From now on everything passes. Connections that met a fault end."""
        self._run(self._set(None, b""))

    def lead_to(self, target: tuple[str, int] | Path) -> None:
        """From now on new connections lead there."""
        self._target = target

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    async def _start(self) -> None:
        self._strays = await asyncio.start_server(self._stray, "127.0.0.1", 0)
        self._stray_port = self._strays.sockets[0].getsockname()[1]
        await self._listen()

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._accepted, "127.0.0.1", self.port, reuse_address=True)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _stop(self) -> None:
        for server in (self._server, self._strays):
            if server is not None:
                server.close()
        for one in list(self._open):
            one.client.transport.abort()
            one.server.transport.abort()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _set(self, fault: Fault | None, only: bytes) -> None:
        refused = self._fault is Fault.REFUSE
        self._fault, self._only = fault, only
        if fault is None:
            for one in list(self._open):
                if one.faulty is not None:
                    _reset(one.client)
                    one.server.transport.abort()
            if refused:
                await self._listen()
        else:
            self.asked = self.strayed = 0
        if fault is Fault.REFUSE and self._server is not None:
            self._server.close()
            for one in list(self._open):
                _reset(one.client)
                one.server.transport.abort()

    async def _stray(self, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.strayed += 1
        writer.transport.abort()

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            answers, server = await self._connected()
        except OSError:
            writer.transport.abort()
            return
        one = _Conversation(client=writer, server=server)
        self._open.add(one)
        tasks = [asyncio.ensure_future(self._up(one, reader)), asyncio.ensure_future(self._down(one, answers))]
        self._tasks.update(tasks)
        await asyncio.wait(tasks)
        self._tasks.difference_update(tasks)
        self._open.discard(one)
        for task in tasks:
            if not task.cancelled():
                task.exception()

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if isinstance(self._target, Path):
            return await asyncio.open_unix_connection(str(self._target))
        return await asyncio.open_connection(*self._target)

    async def _up(self, one: _Conversation, reader: asyncio.StreamReader) -> None:
        """What the gateway asks."""
        try:
            while data := await reader.read(_CHUNK):
                if self._fault is not None and self._only in data:
                    one.faulty = self._fault
                    self.asked += 1
                if one.faulty is None or one.faulty not in _UNDONE:
                    if one.faulty is Fault.DUPLICATE:
                        await self._again(data)
                    one.server.write(data)
                    await one.server.drain()
                await self._instead(one)
        except OSError:
            pass
        one.server.close()

    async def _instead(self, one: _Conversation) -> None:
        """What a fault does at once, without what was asked for."""
        match one.faulty:
            case Fault.RESET:
                _reset(one.client)
            case Fault.FAKE_200:
                await _last(one.client, _PORTAL)
            case Fault.REDIRECT:
                await _last(one.client, _MOVED % self._stray_port)

    async def _again(self, data: bytes) -> None:
        """Ask the same on a connection of its own, whose answer nobody gets."""
        reader, writer = await self._connected()
        writer.write(data)
        await writer.drain()

        async def drained() -> None:
            with contextlib.suppress(OSError, TimeoutError):
                await asyncio.wait_for(reader.read(_CHUNK), 1)
            writer.close()

        task = asyncio.ensure_future(drained())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _down(self, one: _Conversation, reader: asyncio.StreamReader) -> None:
        """What is answered."""
        try:
            while data := await reader.read(_CHUNK):
                match one.faulty:
                    case Fault.APPLY_THEN_CUT:
                        one.client.close()
                    case Fault.APPLY_THEN_503:
                        await _last(one.client, _UNAVAILABLE)
                    case Fault.HALF:
                        await _last(one.client, data[: len(data) // 2])
                    case Fault.SLOW:
                        await _slowly(one.client, data)
                    case _:
                        one.client.write(data)
                        await one.client.drain()
        except OSError:
            pass
        one.client.close()


async def _last(writer: asyncio.StreamWriter, data: bytes) -> None:
    """Write this, and end the connection."""
    if not writer.is_closing():
        writer.write(data)
        await writer.drain()
        writer.close()


async def _slowly(writer: asyncio.StreamWriter, data: bytes) -> None:
    for byte in data:
        if writer.is_closing():
            return
        writer.write(bytes((byte,)))
        await writer.drain()
        await asyncio.sleep(_PAUSE)


def _reset(writer: asyncio.StreamWriter) -> None:
    """End the connection with a reset instead of an orderly end."""
    peer = writer.get_extra_info("socket")
    if peer is not None and peer.fileno() >= 0:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
