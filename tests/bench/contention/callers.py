"""Connections that send wishes to gateways, each until it has a definite answer: again after a restart, with the same idempotency key."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.core.ports import Key
from tests.bench.contention.wishes import Wish

_PAUSE_SECONDS: Final = 0.1
_ANSWER_SECONDS: Final = 300
_AGAIN: Final = {429, 500, 502, 503}
_ANSWERS: Final = {"breaker_open", "too_many_held"}
"""Codes of refusals that ask to come back later, which an actor that was refused so often takes for an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A proposal, as it is sent to `POST /v1/mutations`."""

    actor: str
    idempotency_key: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What became of a wish, as its actor was told."""

    wish: Wish
    status: int
    code: str


@dataclass
class Caller:
    """One connection."""

    port: int
    keys: Mapping[str, Key]
    _stream: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def send(self, message: Message) -> tuple[int, str]:
        """Status and code of the definite answer. Raises `TimeoutError` if there is none."""
        async with asyncio.timeout(_ANSWER_SECONDS):
            while True:
                status, told = await self._asked(message)
                code = told.get("code", "")
                if status and code != "concurrent_request" and (status not in _AGAIN or code in _ANSWERS):
                    return status, code
                await asyncio.sleep(_PAUSE_SECONDS)

    async def close(self) -> None:
        """End the connection."""
        if self._stream is not None:
            self._stream[1].close()
            self._stream = None

    async def _asked(self, message: Message) -> tuple[int, dict[str, Any]]:
        """Status and body; status 0 if the gateway did not answer."""
        try:
            if self._stream is None:
                self._stream = await asyncio.open_connection("127.0.0.1", self.port)
            reader, writer = self._stream
            writer.write(self._request(message))
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(head.partition(b"content-length:")[2].split(None, 1)[0])
            return int(head.split(None, 2)[1]), json.loads(await reader.readexactly(length))
        except (OSError, asyncio.IncompleteReadError):
            await self.close()
            return 0, {}

    def _request(self, message: Message) -> bytes:
        key, body = self.keys[message.actor], json.dumps(message.body).encode()
        head = (
            f"POST /v1/mutations HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nAuthorization: Bearer {key.id}.{key.secret}\r\n"
            f"Idempotency-Key: {message.idempotency_key}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body


async def send_all(
    waiting: Iterator[Wish],
    *,
    ports: Sequence[int],
    keys: Mapping[str, Key],
    connections: int,
    told: Callable[[Answer], None],
) -> None:
    """Send all wishes over that many connections, spread over the gateways; each answer is given to `told`."""

    async def work(number: int) -> None:
        caller = Caller(port=ports[number % len(ports)], keys=keys)
        for wish in waiting:
            message = Message(actor=wish.actor, idempotency_key=wish.idempotency_key, body=wish.body())
            status, code = await caller.send(message)
            told(Answer(wish=wish, status=status, code=code))
        await caller.close()

    async with asyncio.TaskGroup() as group:
        for number in range(connections):
            group.create_task(work(number))
