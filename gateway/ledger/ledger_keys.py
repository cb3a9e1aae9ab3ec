"""The keys of the ledger that the settings name, derived from their master key, and where its last checkpoint is. They need no opened ledger."""

from dataclasses import dataclass, field
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gateway.core.settings import Settings
from gateway.identity.master_key import FILE_NAME as KEY_FILE
from gateway.identity.master_key import derived_key, master_key
from gateway.ledger.chain.checkpoint import FILE_NAME
from gateway.ledger.store.opening import is_unused


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerKeys:
    """The secrets of a ledger. Both derive from the master key, so a copy of the database alone can be neither continued nor rewritten."""

    chain: bytes = field(repr=False)
    """The HMAC key of the record hashes."""
    signing: Ed25519PrivateKey = field(repr=False)
    """Signs the checkpoints. Its public half can be given to anyone who is to check one."""


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
