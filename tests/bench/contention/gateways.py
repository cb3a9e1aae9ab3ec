"""Several gateway processes on one ledger, which can be killed and started again on the same port."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from gateway.core.model.caller import ActorKind
from gateway.core.ports import Key
from gateway.core.settings import Settings
from gateway.core.times import SystemClock
from gateway.ledger.keyring import SqlKeyRing
from gateway.ledger.ledger_keys import master_key_of
from gateway.ledger.sealed_ledger import open_sealed_ledger
from tests.kit.forked import Forked, python_m
from tests.kit.up import free_port

LEASE_SECONDS: Final = 2
"""Of the gateways, so that what a killed one left is soon known to be in doubt."""
_READY_SECONDS: Final = 300


@dataclass
class GatewayProcess:
    """One `sentinel serve`."""

    config: Path
    port: int
    _process: Forked | None = None

    async def start(self) -> None:
        """Start it, and wait until it is ready. Raises `RuntimeError` if it ends before."""
        with self.config.with_suffix(".log").open("ab") as told:
            environment = {name: value for name, value in os.environ.items() if not name.startswith("SENTINEL_")}
            command = ("gateway", "serve", "--config", str(self.config))
            self._process = await asyncio.to_thread(
                python_m, *command, environment=environment, output=told, errors=told
            )
        async with asyncio.timeout(_READY_SECONDS):
            while not await self._ready():
                if self._process.poll() is not None:
                    raise RuntimeError(self.config.with_suffix(".log").read_text()[-2000:])
                await asyncio.sleep(0.05)

    async def kill(self) -> None:
        """End it as a crash would."""
        await self._end(signal.SIGKILL)

    async def stop(self) -> None:
        """End it as an operator would."""
        await self._end(signal.SIGTERM)

    async def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            await asyncio.to_thread(self._process.wait)

    async def _ready(self) -> bool:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            return False
        try:
            writer.write(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            return (await reader.readline()).split()[1:2] == [b"200"]
        except OSError:
            return False
        finally:
            writer.close()


def settings_of(data: Path, ledger: str) -> Settings:
    """The settings that all processes of one ledger share."""
    return Settings(data=data, ledger=ledger)


@asynccontextmanager
async def gateways(
    count: int, *, data: Path, ledger: str, stack: Path, upstream: int
) -> AsyncIterator[list[GatewayProcess]]:
    """Gateways that are ready, on the ledger at a URL (empty: SQLite in `data`); stopped at the end."""
    running = [_configured(data, ledger, stack, upstream, number) for number in range(count)]
    try:
        await asyncio.gather(*(each.start() for each in running))
        yield running
    finally:
        await asyncio.gather(*(each.stop() for each in running))


def _configured(data: Path, ledger: str, stack: Path, upstream: int, number: int) -> GatewayProcess:
    port = free_port()
    config = data / f"gateway-{number}.toml"
    config.write_text(
        f'data = "{data}"\nledger = "{ledger}"\n'
        f"[server]\nport = {port}\nlease_seconds = {LEASE_SECONDS}\n"
        f'[upstream]\nsimulated = "http://127.0.0.1:{upstream}"\n'
        f'[[stacks]]\nname = "bench"\npath = "{stack}"\n'
    )
    return GatewayProcess(config=config, port=port)


async def issue(settings: Settings, actors: Mapping[str, ActorKind]) -> Mapping[str, Key]:
    """A key for each actor."""
    settings.data.mkdir(parents=True, exist_ok=True)
    async with open_sealed_ledger(settings) as ledger:
        ring = SqlKeyRing(ledger, master=master_key_of(settings), clock=SystemClock())
        day = timedelta(days=1)
        return {actor: await ring.issue(actor=actor, kind=kind, lasts=day) for actor, kind in actors.items()}
