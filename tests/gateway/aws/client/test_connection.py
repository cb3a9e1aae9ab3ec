"""One connection: one request at a time, and what happens to it is told by its reply."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from gateway.aws.client.connection import Connection
from gateway.core.outbound.response import NoAnswer

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

HEAD = b"PUT / HTTP/1.1\r\nhost: x\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@dataclass
class Peer:
    """The other end, which does only what it is told."""

    connection: Connection
    idle: list[Connection]
    lost: list[Connection]
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    rest: list[Any] = field(default_factory=list)

    async def says(self, raw: bytes) -> None:
        self.writer.write(raw)
        await self.writer.drain()


@pytest.fixture
async def peer(request: pytest.FixtureRequest) -> AsyncIterator[Peer]:
    accepted: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = (
        asyncio.get_running_loop().create_future()
    )
    server = await asyncio.start_server(
        lambda reader, writer: accepted.set_result((reader, writer)), "127.0.0.1", 0, limit=1024
    )
    idle: list[Connection] = []
    lost: list[Connection] = []
    silence_seconds = getattr(request, "param", 300.0)
    port = server.sockets[0].getsockname()[1]
    _, connection = await asyncio.get_running_loop().create_connection(
        lambda: Connection(idle=idle.append, lost=lost.append, silence_seconds=silence_seconds), "127.0.0.1", port
    )
    reader, writer = await accepted
    yield Peer(connection, idle, lost, reader, writer)
    connection.close()
    writer.close()
    server.close()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(300):
        while not condition():  # noqa: ASYNC110  what changes has no event
            await asyncio.sleep(0.001)


async def test_it_carries_one_request_after_another(peer: Peer) -> None:
    for number in range(1, 4):
        before = peer.connection.usable
        reply = peer.connection.send(HEAD)
        assert (before, peer.connection.usable) == (True, False)
        assert await peer.reader.readexactly(len(HEAD)) == HEAD
        await peer.says(OK)
        assert await reply.read() == b"ok"
        assert len(peer.idle) == number
    assert peer.connection.usable


async def test_who_has_its_reply_does_not_end_the_limit_of_the_next_request(peer: Peer) -> None:
    """A connection is free as soon as a reply is whole, and another request may be on it before the reply's reader goes on."""

    async def ask_next() -> None:
        await peer.connection.send(HEAD).arrive(0.0)

    first = asyncio.ensure_future(peer.connection.send(HEAD).arrive(300.0))
    await asyncio.sleep(0)
    second = asyncio.ensure_future(ask_next())
    peer.connection.data_received(OK)
    await first
    with pytest.raises(NoAnswer, match="in time"):
        async with asyncio.timeout(60):
            await second


async def test_data_that_nobody_asked_for_ends_it(peer: Peer) -> None:
    await peer.says(OK)
    await until(lambda: not peer.connection.usable)
    assert await peer.reader.read() == b""


@pytest.mark.parametrize("raw", [OK + OK, OK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")])
async def test_it_is_not_used_again_after_more_than_a_reply(peer: Peer, raw: bytes) -> None:
    reply = peer.connection.send(HEAD)
    await peer.says(raw)
    assert await reply.read() == b"ok"
    assert peer.idle == []
    assert not peer.connection.usable


async def test_a_close_while_idle_is_noticed(peer: Peer) -> None:
    peer.writer.close()
    await until(lambda: not peer.connection.usable)
    await until(lambda: peer.lost == [peer.connection])


async def pieces(*parts: bytes, error: Exception | None = None) -> AsyncIterator[bytes]:
    for part in parts:
        yield part
    if error is not None:
        raise error


async def test_a_body_is_sent_as_it_is_or_in_chunks(peer: Peer) -> None:
    for chunked, wire in ((False, b"abc"), (True, b"1\r\na\r\n2\r\nbc\r\n0\r\n\r\n")):
        reply = peer.connection.send(HEAD)
        await peer.connection.send_parts(pieces(b"a", b"", b"bc"), chunked=chunked)
        assert await peer.reader.readexactly(len(HEAD + wire)) == HEAD + wire
        await peer.says(OK)
        assert await reply.read() == b"ok"
    assert len(peer.idle) == 2


async def test_what_a_body_raises_breaks_it_off_before_its_end(peer: Peer) -> None:
    reply = peer.connection.send(HEAD)
    await peer.connection.send_parts(pieces(b"a", error=LookupError()), chunked=True)
    with pytest.raises(NoAnswer, match="LookupError") as broken:
        await reply.arrive()
    assert isinstance(broken.value.__cause__, LookupError)
    try:
        sent = await peer.reader.read()
    except ConnectionResetError:
        sent = b""
    assert b"0\r\n\r\n" not in sent


async def test_an_answer_before_the_end_of_the_body_stops_it(peer: Peer) -> None:
    never = asyncio.Event()

    async def endless() -> AsyncIterator[bytes]:
        yield b"a"
        await never.wait()

    reply = peer.connection.send(HEAD)
    writer = peer.connection.send_parts(endless(), chunked=True)
    await peer.says(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno")
    await reply.arrive()
    assert (reply.status, await reply.read()) == (403, b"no")
    with pytest.raises(asyncio.CancelledError):
        await writer
    assert peer.idle == []
    assert not peer.connection.usable


async def test_a_body_waits_for_a_slow_reader(peer: Peer) -> None:
    produced = 0

    async def large() -> AsyncIterator[bytes]:
        nonlocal produced
        for _ in range(400):
            produced += 1
            yield b"x" * 65536

    peer.connection.send(HEAD)
    writer = peer.connection.send_parts(large(), chunked=False)
    await asyncio.sleep(0.05)
    assert produced < 400
    size = len(HEAD) + 400 * 65536
    while size:
        size -= len(await peer.reader.read(min(size, 1 << 20)))
    await writer
    assert produced == 400


@pytest.mark.parametrize("peer", [0.01], indirect=True)
async def test_an_upstream_that_takes_no_more_of_a_body_is_left(peer: Peer) -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 65536

    reply = peer.connection.send(HEAD)
    writer = peer.connection.send_parts(endless(), chunked=False)
    with pytest.raises(NoAnswer, match="TimeoutError"):
        await asyncio.wait_for(reply.arrive(), 300)
    await asyncio.wait([writer], timeout=300)
    await until(lambda: peer.lost == [peer.connection])
    assert writer.done()


async def test_a_connection_that_breaks_frees_who_writes(peer: Peer) -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 65536

    reply = peer.connection.send(HEAD)
    writer = peer.connection.send_parts(endless(), chunked=False)
    await asyncio.sleep(0.01)
    peer.writer.transport.abort()
    with pytest.raises(NoAnswer):
        await reply.arrive()
    await asyncio.wait([writer], timeout=300)
    assert writer.done()
