"""Opens the keyring of a ledger, for commands that use it directly."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gateway.clock import SystemClock
from gateway.keyring.keys import SqlKeyRing
from gateway.keyring.master_key import master_key
from gateway.ledger.ledger import open_ledger
from gateway.settings import Settings


@asynccontextmanager
async def open_keyring(settings: Settings) -> AsyncIterator[SqlKeyRing]:
    """The keyring of the ledger in these settings. Raises what `open_ledger` and `master_key` raise."""
    settings.data.mkdir(parents=True, exist_ok=True)
    master = master_key(settings.master_key.get_secret_value(), settings.data)
    async with open_ledger(settings.ledger_url) as ledger:
        yield SqlKeyRing(ledger, master=master, clock=SystemClock())
