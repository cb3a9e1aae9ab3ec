"""Opens the keyring of a ledger, for commands that use it directly."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gateway.cli.output import log_to_stderr
from gateway.clock import SystemClock
from gateway.keyring.keys import SqlKeyRing
from gateway.keyring.sealed_ledger import master_key_of, open_sealed_ledger
from gateway.settings import Settings


@asynccontextmanager
async def open_keyring(settings: Settings) -> AsyncIterator[SqlKeyRing]:
    """The keyring of the ledger in these settings. Raises what `open_sealed_ledger` raises."""
    log_to_stderr()
    async with open_sealed_ledger(settings) as ledger:
        yield SqlKeyRing(ledger, master=master_key_of(settings), clock=SystemClock())
