"""The key ring of a ledger, for commands that work on it directly."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gateway.clock import SystemClock
from gateway.keyring.keys import SqlKeyRing
from gateway.keyring.master_key import master_key
from gateway.ledger.ledger import open_ledger
from gateway.settings import Settings


@asynccontextmanager
async def open_ring(settings: Settings) -> AsyncIterator[SqlKeyRing]:
    """The key ring that these settings name. Raises as `open_ledger` and `master_key`."""
    settings.data.mkdir(parents=True, exist_ok=True)
    master = master_key(settings.master_key.get_secret_value(), settings.data)
    async with open_ledger(settings.ledger_url) as ledger:
        yield SqlKeyRing(ledger, master=master, clock=SystemClock())
