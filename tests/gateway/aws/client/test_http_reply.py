"""A reply is the same however its bytes are cut, and what is no whole reply is never taken for one."""

import asyncio
import gc
import weakref
from collections.abc import Callable, Iterator

import pytest

from gateway.aws.client.http_reply import MAX_HEAD_BYTES, MAX_WAITING_BYTES, HttpReply
from gateway.core.deadline import Deadline
from gateway.core.outbound.response import NoAnswer


class Loop:
    """The running event loop, which not every test has."""

    def time(self) -> float:
        """As of an event loop."""
        return asyncio.get_running_loop().time()

    def call_later(self, delay: float, callback: Callable[[], object]) -> asyncio.TimerHandle:
        """As of an event loop."""
        return asyncio.get_running_loop().call_later(delay, callback)


class Line:
    """What a reply asked of its connection."""

    def __init__(self, *, has_body: bool = True, silence_seconds: float = 300) -> None:
        self.reading: list[bool] = []
        self.abandoned = 0
        self.reply = HttpReply(
            loop=asyncio.get_running_loop(),
            has_body=has_body,
            set_reading=self.reading.append,
            abandon=self._abandon,
            deadline=Deadline(Loop(), self._fall_silent),
            silence_seconds=silence_seconds,
        )

    def _fall_silent(self) -> None:
        self.reply.fall_silent()

    def _abandon(self) -> None:
        self.abandoned += 1


def fed(raw: bytes, *, has_body: bool = True) -> HttpReply:
    reply = Line(has_body=has_body).reply
    reply.feed(raw)
    return reply


WHOLE = {
    "length": (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: 1\r\n\r\nhello", b"hello"),
    "chunks": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nX-Trailer: 1\r\n\r\n",
        b"hello",
    ),
    "interim": (b"HTTP/1.1 100 Continue\r\nX-No: 1\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", b"ok"),
    "empty": (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", b""),
    "no content": (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
    "not modified": (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", b""),
}


def _cuts(raw: bytes) -> Iterator[list[bytes]]:
    yield [bytes([each]) for each in raw]
    for at in range(1, len(raw)):
        yield [raw[:at], raw[at:]]


@pytest.mark.parametrize("name", WHOLE)
async def test_it_is_the_same_wherever_it_is_cut(name: str) -> None:
    raw, body = WHOLE[name]
    whole = fed(raw)
    for pieces in _cuts(raw):
        reply = Line().reply
        for piece in pieces[:-1]:
            reply.feed(piece)
            assert not reply.complete
        reply.feed(pieces[-1])
        await reply.arrive()
        assert (reply.status, reply.headers, reply.length) == (whole.status, whole.headers, whole.length)
        assert await reply.read() == body
        assert reply.complete
        assert reply.reusable


async def test_the_reply_to_a_head_has_no_body() -> None:
    reply = fed(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", has_body=False)
    assert (reply.complete, reply.reusable, reply.length, await reply.read()) == (True, True, 99, b"")


async def test_interim_headers_are_dropped_and_trailers_too() -> None:
    assert fed(WHOLE["interim"][0]).headers == [(b"Content-Length", b"2")]
    assert fed(WHOLE["chunks"][0]).headers == [(b"Transfer-Encoding", b"chunked")]


async def test_a_body_without_length_ends_with_its_connection_only_in_order() -> None:
    raw = b"HTTP/1.1 200 OK\r\n\r\nhel"
    reply = fed(raw)
    reply.feed(b"lo")
    assert not reply.complete
    reply.end(None)
    assert (await reply.read(), reply.reusable) == (b"hello", False)
    broken = fed(raw)
    broken.end(ConnectionResetError())
    with pytest.raises(NoAnswer, match="ConnectionResetError"):
        await broken.read()


CUT = {
    "nothing": b"",
    "in the head": b"HTTP/1.1 200 OK\r\nContent-Le",
    "after the head": b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n",
    "in the body": b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
    "in a chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n50\r\nabc",
    "before the last chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
    "after an interim reply": b"HTTP/1.1 100 Continue\r\n\r\n",
}


@pytest.mark.parametrize("name", CUT)
async def test_a_reply_cut_short_is_no_answer(name: str) -> None:
    reply = Line().reply
    if CUT[name]:
        reply.feed(CUT[name])
    reply.end(None)
    with pytest.raises(NoAnswer):
        await reply.read()
    assert not reply.complete


async def test_the_pieces_before_a_break_are_read_and_then_the_break() -> None:
    reply = fed(CUT["in the body"])
    reply.end(None)
    parts = reply.parts()
    assert await anext(parts) == b"abc"
    with pytest.raises(NoAnswer):
        await anext(parts)


NONSENSE = {
    "no HTTP": b"SSH-2.0-OpenSSH\r\n\r\n",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "length and chunks": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
    "another encoding": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nab",
    "another protocol": b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
    "bare line feeds": b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
    "a head without end": b"HTTP/1.1 200 OK\r\nX: " + b"x" * MAX_HEAD_BYTES,
}


@pytest.mark.parametrize("name", NONSENSE)
async def test_what_is_no_reply_is_no_answer(name: str) -> None:
    with pytest.raises(NoAnswer):
        fed(NONSENSE[name])


@pytest.mark.parametrize("more", [WHOLE["length"][0], b"no HTTP", b"\0"])
@pytest.mark.parametrize("name", ["length", "chunks", "empty", "no content"])
async def test_more_than_was_asked_for_ends_the_connection(name: str, more: bytes) -> None:
    raw, body = WHOLE[name]
    reply = fed(raw + more)
    assert (reply.complete, reply.reusable, await reply.read()) == (True, False, body)


async def test_a_reply_that_closes_is_not_followed_by_a_request() -> None:
    assert not fed(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok").reusable
    assert not fed(b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok").reusable


async def test_a_body_that_is_not_read_stops_the_connection() -> None:
    line = Line()
    line.reply.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n")
    line.reply.feed(b"x" * MAX_WAITING_BYTES)
    assert line.reading == []
    line.reply.feed(b"x")
    assert line.reading == [False]
    parts = line.reply.parts()
    assert len(await anext(parts)) == MAX_WAITING_BYTES + 1
    assert line.reading == [False, True]


async def test_a_reader_waits_for_what_comes() -> None:
    reply = Line().reply
    reading = asyncio.ensure_future(reply.read())
    for each in WHOLE["length"][0]:
        await asyncio.sleep(0)
        reply.feed(bytes([each]))
    assert await reading == b"hello"


async def test_a_body_that_stops_without_an_end_is_no_answer() -> None:
    reply = Line(silence_seconds=0.01).reply
    reply.feed(CUT["in the body"])
    parts = reply.parts()
    assert await anext(parts) == b"abc"
    with pytest.raises(NoAnswer, match=r"no more of the reply in 0\.01 seconds"):
        await anext(parts)


async def test_a_reader_that_waits_gets_a_whole_reply_with_garbage_after_it() -> None:
    reply = Line().reply
    arriving = asyncio.ensure_future(reply.arrive())
    await asyncio.sleep(0)
    reply.feed(WHOLE["length"][0] + b"no HTTP")
    await asyncio.wait([arriving], timeout=300)
    assert (arriving.done(), reply.status) == (True, 200)


async def test_only_an_incomplete_reply_closes_its_connection_when_abandoned() -> None:
    line = Line()
    line.reply.feed(WHOLE["length"][0][:-1])
    line.reply.abandon()
    assert line.abandoned == 1
    line.reply.feed(b"o")
    line.reply.abandon()
    assert line.abandoned == 1


async def test_a_whole_reply_does_not_wait_for_the_garbage_collector() -> None:
    """Its parser refers to it."""
    gc.disable()
    try:
        line = Line()
        line.reply.feed(WHOLE["length"][0])
        left = weakref.ref(line.reply)
        del line.reply
        assert left() is None
    finally:
        gc.enable()


async def test_what_follows_a_whole_reply_later_is_nobodys() -> None:
    reply = fed(WHOLE["length"][0])
    assert reply.reusable
    reply.feed(WHOLE["length"][0])
    assert (reply.reusable, reply.take()) == (False, b"hello")
