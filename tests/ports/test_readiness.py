"""A gateway whose PostgreSQL stops is not ready, and is ready again when the server is back."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx
import pytest

from gateway.app.running import running
from gateway.core.settings import Settings
from tests.kit.stores import Cluster

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

SOCKET = ".s.PGSQL.5432"
_PATIENCE = 300.0


class Relay:
    """Passes connections on to a server, until it is stopped."""

    def __init__(self, here: Path, there: Path) -> None:
        self._here, self._there = here, there
        self._open: set[asyncio.StreamWriter] = set()
        self._passing: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Accept connections."""
        self._server = await asyncio.start_unix_server(self._connected, self._here)

    async def stop(self) -> None:
        """Accept none and cut those that are open, as a server that is stopped does."""
        assert self._server is not None
        self._server.close()
        self._here.unlink(missing_ok=True)
        for writer in self._open:
            writer.close()
        await asyncio.gather(*self._passing)
        await asyncio.gather(*(writer.wait_closed() for writer in self._open), return_exceptions=True)
        self._open.clear()
        await self._server.wait_closed()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        their_reader, their_writer = await asyncio.open_unix_connection(self._there)
        self._open |= {writer, their_writer}
        passing = asyncio.current_task()
        assert passing is not None
        self._passing.add(passing)
        passing.add_done_callback(self._passing.discard)
        await asyncio.gather(_copy(reader, their_writer), _copy(their_reader, writer))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


async def _becomes(status: int, ask: Callable[[], Awaitable[httpx.Response]]) -> httpx.Response:
    end = asyncio.get_running_loop().time() + _PATIENCE
    while (reply := await ask()).status_code != status:
        assert asyncio.get_running_loop().time() < end, reply.text
        await asyncio.sleep(0.1)
    return reply


async def test_ready_only_while_the_database_answers(postgres_url: str, postgres: Cluster, tmp_path: Path) -> None:
    relay = Relay(postgres.directory / "relay" / SOCKET, postgres.directory / SOCKET)
    (postgres.directory / "relay").mkdir()
    await relay.start()
    url = postgres_url.replace(f"host={postgres.directory}", f"host={postgres.directory / 'relay'}")
    async with running(Settings(data=tmp_path, ledger=url)) as app:
        client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://gateway")
        async with client:
            assert (await client.get("/readyz")).json()["status"] == "ready"
            await relay.stop()
            reply = await _becomes(503, lambda: client.get("/readyz"))
            assert reply.json()["status"] == "unavailable"
            assert "The ledger is unavailable" in reply.json()["problems"][0]
            assert (await client.get("/healthz")).status_code == 200
            await relay.start()
            assert (await _becomes(200, lambda: client.get("/readyz"))).json()["status"] == "ready"
    await relay.stop()
