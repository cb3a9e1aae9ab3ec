"""The AWS of the crash tests: it carries out `SetQueueAttributes`, and its own log says what was carried out, whatever anybody else says."""

import asyncio
import json
import re
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tests.bench.stub import JSON, Connection, rendered

_DONE = rendered(JSON, "{}")
_MUTATION = re.compile(rb"mutation/(\S+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """One change that was carried out."""

    mutation: str
    """The id in the request's user agent."""
    queue: str
    value: int


def append(file: Path, line: Mapping[str, object]) -> None:
    """One more line of JSON in a file, whole, whoever else writes to it."""
    with file.open("a") as log:
        log.write(json.dumps(line) + "\n")


def carried_out(log: Path) -> list[Carried]:
    """What the log says, in order."""
    return [Carried(**json.loads(line)) for line in log.read_text().splitlines()] if log.exists() else []


def live(log: Path) -> dict[str, int]:
    """The value of each queue that was changed."""
    return {each.queue: each.value for each in carried_out(log)}


class LoggingAws:
    """It listens on a free port of loopback, in a thread of its own, until the block ends."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self.trace: Path | None = None
        """A file to which it is appended that something arrived."""
        self.port = 0
        self.open: set[asyncio.Transport] = set()
        """The connections."""
        self._server: asyncio.Server | None = None
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(60)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(60)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def take(self, agent: bytes, body: bytes) -> None:
        """Carry a change out: it is in the log before it is answered."""
        call = json.loads(body)
        found = _MUTATION.search(agent)
        line = {
            "mutation": found[1].decode() if found else "",
            "queue": call["QueueUrl"].rpartition("/")[2],
            "value": int(call["Attributes"]["VisibilityTimeout"]),
        }
        append(self.log, line)
        if self.trace is not None:
            append(self.trace, {"event": "ARRIVED"})

    async def _end(self) -> None:
        if self._server is not None:
            self._server.close()
        for transport in list(self.open):
            transport.abort()
        await asyncio.sleep(0)

    def _run(self) -> None:
        async def listen() -> None:
            self._server = await self._loop.create_server(lambda: _Carrying(self), "127.0.0.1", 0)
            self.port = self._server.sockets[0].getsockname()[1]
            self._ready.set()

        self._loop.run_until_complete(listen())
        self._loop.run_forever()


class _Carrying(Connection):
    def __init__(self, aws: LoggingAws) -> None:
        super().__init__(Counter())
        self._aws = aws
        self._agent = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._aws.open.add(self._transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._aws.open.discard(self._transport)

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value)
        if name.lower() == b"user-agent":
            self._agent = value

    def _reply(self) -> bytes:
        self._aws.take(self._agent, self._body)
        return _DONE
