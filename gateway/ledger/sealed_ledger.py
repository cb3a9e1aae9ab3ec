"""Opens the ledger that the settings name, with the keys that are derived from their master key."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gateway.core.settings import Settings
from gateway.identity.master_key import FILE_NAME as KEY_FILE
from gateway.identity.master_key import derived_key, master_key
from gateway.ledger.chain.checkpoint import FILE_NAME
from gateway.ledger.ledger import LedgerKeys, SqlLedger, open_ledger
from gateway.ledger.store.opening import is_unused


def ledger_keys(master: bytes) -> LedgerKeys:
    """The keys of the ledger that belongs to a master key."""
    signing = Ed25519PrivateKey.from_private_bytes(derived_key(master, "checkpoint"))
    return LedgerKeys(chain=derived_key(master, "chain"), signing=signing)


def workflows_key(master: bytes) -> bytes:
    """The key that seals what the reconciler's workflows store."""
    return derived_key(master, "workflows")


def master_key_of(settings: Settings, *, create: bool = True) -> bytes:
    """The master key of the settings, or of the data directory. Raises what `master_key` and `is_unused` raise.

    One is made only for a new ledger: what a lost one wrote can be checked with no other.
    """
    given = settings.master_key.get_secret_value()
    may_create = create and not given and not (settings.data / KEY_FILE).exists() and is_unused(settings.ledger_url)
    return master_key(given, settings.data, create=may_create)


def checkpoint_path(settings: Settings) -> Path:
    """Where the last checkpoint of the ledger is."""
    return settings.checkpoints or settings.data / FILE_NAME


@asynccontextmanager
async def open_sealed_ledger(settings: Settings) -> AsyncIterator[SqlLedger]:
    """The ledger of the settings for as long as the block lasts. Raises what `open_ledger` and `master_key` raise."""
    settings.data.mkdir(parents=True, exist_ok=True)
    keys = ledger_keys(await asyncio.to_thread(master_key_of, settings))
    async with open_ledger(settings.ledger_url, keys, checkpoint_path(settings)) as ledger:
        yield ledger
