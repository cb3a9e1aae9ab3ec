"""A listening socket that several workers share: each takes a connection only while none of the others has fewer.

How many each has stands in memory that all map. So nothing of a client passes through another process, what waits stays with the system while a worker dies,
and no process is needed by all. Where the system spreads connections over a socket for each worker (`SO_REUSEPORT`), it does so by chance, and what it gave
to a worker that dies is lost.
"""

import asyncio
import errno
import select
import socket
from collections.abc import Callable
from typing import Any, Final

import structlog
import uvicorn

from gateway.cli.places import Places

PATIENCE_SECONDS: Final = 0.05
"""How long a worker that has more connections than another leaves a new one to that one."""
_LOOK_SECONDS: Final = 0.001
"""How soon it looks whether it still has more, and whether the new one still waits: while two workers both leave one to each other, nobody is served."""
_FULL_SECONDS: Final = 1.0
"""How long a process without free descriptors takes no connection."""
_FULL: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)

log = structlog.get_logger()


class _Counted(set[Any]):
    """A set that tells when its size changes."""

    def __init__(self, changed: Callable[[], None]) -> None:
        super().__init__()
        self._changed = changed

    def add(self, element: Any) -> None:
        super().add(element)
        self._changed()

    def discard(self, element: Any) -> None:
        super().discard(element)
        self._changed()


class SharingServer(uvicorn.Server):
    """uvicorn's server on a socket that it shares with other processes."""

    def __init__(self, config: uvicorn.Config, listener: socket.socket, places: Places, number: int) -> None:
        super().__init__(config)
        self._listener = listener
        self._places = places
        self._number = number
        self._opening: set[asyncio.Task[None]] = set()
        self._later: asyncio.TimerHandle | None = None
        self._takes = False
        self.server_state.connections = _Counted(self._say)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to take connections."""
        await super().startup(sockets=sockets or [])
        self._listener.setblocking(False)
        self._listener.listen(self.config.backlog)  # the first worker that is ready lets clients connect
        self._takes = True
        self._say()
        self._watch()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take none any more, and finish those that are there. What waits is the other workers'."""
        self._takes = False
        self._places.leave(self._number)
        if self._later is not None:
            self._later.cancel()
        asyncio.get_running_loop().remove_reader(self._listener.fileno())
        if self._opening:
            await asyncio.wait(self._opening)
        await super().shutdown(sockets)

    async def on_tick(self, counter: int) -> bool:
        """As uvicorn does ten times a second; and say that this worker lives."""
        self._say()
        return await super().on_tick(counter)

    @property
    def _own(self) -> int:
        return len(self.server_state.connections) + len(self._opening)

    def _say(self) -> None:
        if self._takes:
            self._places.say(self._number, self._own)

    def _watch(self) -> None:
        if self._takes:
            asyncio.get_running_loop().add_reader(self._listener.fileno(), self._wait_or_take)

    def _wait_or_take(self) -> None:
        """A connection waits: take it, or leave it to who has fewer, and take it later if nobody did."""
        fewest = self._places.fewest_besides(self._number)
        if fewest is None or self._own <= fewest:
            self._take()
        else:
            loop = asyncio.get_running_loop()
            loop.remove_reader(self._listener.fileno())
            self._look_later(loop.time() + PATIENCE_SECONDS)

    def _look_later(self, until: float) -> None:
        """Leave what waits to others for a moment more, and take it at `until` if nobody did."""
        self._later = asyncio.get_running_loop().call_later(_LOOK_SECONDS, self._look, until)

    def _look(self, until: float) -> None:
        if not self._somebody_waits():
            self._watch()
            return
        fewest = self._places.fewest_besides(self._number)
        if fewest is None or self._own <= fewest or asyncio.get_running_loop().time() >= until:
            self._watch()
            self._take()
        else:
            self._look_later(until)

    def _somebody_waits(self) -> bool:
        waiting = select.poll()
        waiting.register(self._listener.fileno(), select.POLLIN)
        return bool(waiting.poll(0))

    def _pause(self, seconds: float) -> None:
        """Take nothing for so long."""
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._listener.fileno())
        self._later = loop.call_later(seconds, self._watch)

    def _take(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return  # another worker took it, or the client is gone
        except OSError as error:
            log.error("no_connection_taken", reason=error.strerror, again_in_seconds=_FULL_SECONDS)  # noqa: TRY400  no traceback
            if error.errno in _FULL:
                self._pause(_FULL_SECONDS)
            return
        opening = asyncio.get_running_loop().create_task(self._open(connection))
        self._opening.add(opening)
        opening.add_done_callback(self._opened)
        self._say()

    def _opened(self, opening: asyncio.Task[None]) -> None:
        self._opening.discard(opening)
        self._say()

    async def _open(self, connection: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        try:
            connection.setblocking(False)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await loop.connect_accepted_socket(self._protocol, connection, ssl=self.config.ssl)
        except OSError:
            connection.close()  # the client is gone

    def _protocol(self) -> asyncio.Protocol:
        make: Callable[..., asyncio.Protocol] = self.config.http_protocol_class
        return make(config=self.config, server_state=self.server_state, app_state={})
