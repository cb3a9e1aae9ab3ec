"""Opens the ledger that the settings name, with its keys."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gateway.core.settings import Settings
from gateway.ledger.ledger import SqlLedger, open_ledger
from gateway.ledger.ledger_keys import checkpoint_path, ledger_keys, master_key_of


@asynccontextmanager
async def open_sealed_ledger(settings: Settings) -> AsyncIterator[SqlLedger]:
    """The ledger of the settings for as long as the block lasts. Raises what `open_ledger` and `master_key` raise."""
    settings.data.mkdir(parents=True, exist_ok=True)
    keys = ledger_keys(await asyncio.to_thread(master_key_of, settings))
    async with open_ledger(settings.ledger_url, keys, checkpoint_path(settings)) as ledger:
        yield ledger
