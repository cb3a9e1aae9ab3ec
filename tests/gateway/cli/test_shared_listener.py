"""Which worker takes a connection: who has the fewest, unless it does not answer. With real processes: `test_workers.py`."""

import asyncio
import errno
import os
import socket
import time
from collections.abc import Callable, Iterator
from typing import Self

import pytest
import uvicorn

from gateway.cli.places import FRESH_SECONDS, Places
from gateway.cli.shared_listener import SharingServer
from gateway.doors.timeouts import TimeoutProtocol

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


@pytest.fixture
def places() -> Iterator[Places]:
    made = Places.of(3)
    yield made
    os.close(made.descriptor)


def test_the_fewest_of_the_others_are_seen_through_another_map(places: Places) -> None:
    other = Places(places.descriptor)
    assert (other.count, other.fewest_besides(0)) == (3, None)
    places.say(0, 7)
    places.say(1, 3)
    places.say(2, 5)
    assert [other.fewest_besides(number) for number in range(3)] == [3, 5, 3]
    places.leave(1)
    assert other.fewest_besides(0) == 5


def test_who_has_said_nothing_for_a_second_is_not_waited_for(places: Places) -> None:
    places.say(1, 0)
    later = Places(places.descriptor, lambda: time.monotonic_ns() + int(FRESH_SECONDS * 1.1e9))
    assert later.fewest_besides(0) is None
    later.say(2, 4)
    assert later.fewest_besides(0) == 4


async def _app(scope: object, receive: object, send: Callable[..., object]) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})  # type: ignore[misc]  # ASGI's
    await send({"type": "http.response.body", "body": b""})  # type: ignore[misc]  # the same


class _Serving:
    """A server of this process on a socket, as one of the workers of `places`."""

    def __init__(self, places: Places, number: int = 0) -> None:
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        config = uvicorn.Config(_app, http=TimeoutProtocol, log_level="critical", lifespan="off")
        self.server = SharingServer(config, self.listener, places, number)
        self._kept: list[asyncio.StreamWriter] = []

    async def __aenter__(self) -> Self:
        self._task = asyncio.get_running_loop().create_task(self.server._serve())
        while not self.server.started:  # noqa: ASYNC110  uvicorn tells nobody
            await asyncio.sleep(0.01)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.end_connections()
        self.server.should_exit = True
        await self._task
        self.listener.close()

    async def connect(self, count: int) -> None:
        """Connections over each of which a request was answered, and which are kept."""
        for _ in range(count):
            reader, writer = await asyncio.open_connection(*self.listener.getsockname())
            self._kept.append(writer)
            writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            assert (await reader.readline()).startswith(b"HTTP/1.1 200")

    async def end_connections(self) -> None:
        """End those that were kept."""
        for writer in self._kept:
            writer.close()
            await writer.wait_closed()
        self._kept = []


async def test_connections_are_counted_and_a_stop_leaves_the_others(places: Places) -> None:
    async with _Serving(places) as serving:
        await serving.connect(3)
        while places.fewest_besides(1) != 3:  # noqa: ASYNC110  one that was just taken may count twice
            await asyncio.sleep(0.01)
        await serving.end_connections()
        while places.fewest_besides(1) != 0:  # noqa: ASYNC110  the server sees the end in its own time
            await asyncio.sleep(0.01)
    assert places.fewest_besides(1) is None


async def test_who_has_more_waits_and_then_takes_what_nobody_took(places: Places) -> None:
    still = Places(places.descriptor, lambda: 10**12)
    async with _Serving(still) as serving:
        await serving.connect(2)
        still.say(1, 0)
        left, look_later = [], serving.server._look_later

        def noted(until: float) -> None:
            left.append(until)
            look_later(until)

        serving.server._look_later = noted  # type: ignore[method-assign]  # watched
        await serving.connect(1)
        assert len(set(left)) == 1
        still.leave(1)
        del left[:]
        await serving.connect(1)
        assert not left


async def test_what_was_left_to_another_is_taken_as_soon_as_that_one_has_no_fewer(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two workers that each leave a connection to the other would else both wait, at 40 new connections a second."""
    monkeypatch.setattr("gateway.cli.shared_listener.PATIENCE_SECONDS", 10**6)
    still = Places(places.descriptor, lambda: 10**12)
    async with _Serving(still) as serving:
        await serving.connect(2)
        still.say(1, 0)
        left = asyncio.Event()
        look_later = serving.server._look_later

        def noted(until: float) -> None:
            left.set()
            look_later(until)

        serving.server._look_later = noted  # type: ignore[method-assign]  # watched
        connecting = asyncio.ensure_future(serving.connect(1))
        await left.wait()
        still.say(1, 2)
        await connecting


async def test_a_connection_that_another_took_is_waited_for_no_longer(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.cli.shared_listener.PATIENCE_SECONDS", 10**6)
    still = Places(places.descriptor, lambda: 10**12)
    async with _Serving(still) as serving:
        await serving.connect(1)
        still.say(1, 0)
        left = asyncio.Event()
        look_later = serving.server._look_later

        def noted(until: float) -> None:
            left.set()
            look_later(until)

        serving.server._look_later = noted  # type: ignore[method-assign]  # watched
        _, writer = await asyncio.open_connection(*serving.listener.getsockname())
        await left.wait()
        taken, _ = serving.listener.accept()
        watched = asyncio.Event()
        watch = serving.server._watch

        def watching() -> None:
            watch()
            watched.set()

        serving.server._watch = watching  # type: ignore[method-assign]  # watched
        await watched.wait()
        taken.close()
        writer.close()


async def test_a_connection_that_cannot_be_taken_now_is_taken_later(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.cli.shared_listener._FULL_SECONDS", 0.05)
    async with _Serving(places) as serving:
        real, failures = serving.listener, [OSError(errno.EMFILE, "Too many open files"), ConnectionAbortedError()]

        class Failing:
            def accept(self) -> tuple[socket.socket, object]:
                if failures:
                    raise failures.pop(0)
                return real.accept()

            def fileno(self) -> int:
                return real.fileno()

        monkeypatch.setattr(serving.server, "_listener", Failing())
        await serving.connect(1)
        assert not failures
