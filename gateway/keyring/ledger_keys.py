"""Derives the keys of the ledger from the master key."""

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gateway.keyring.master_key import derived_key
from gateway.ledger.ledger_keys import LedgerKeys


def ledger_keys(master: bytes) -> LedgerKeys:
    """The keys of the ledger that belongs to a master key."""
    signing = Ed25519PrivateKey.from_private_bytes(derived_key(master, "checkpoint"))
    return LedgerKeys(chain=derived_key(master, "chain"), signing=signing)
