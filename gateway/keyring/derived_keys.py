"""Derives keys for single purposes from the master key, so that one that leaks reveals neither the master key nor the others."""

import hmac

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gateway.ledger.ledger_keys import LedgerKeys


def derived_key(master: bytes, purpose: str) -> bytes:
    """32 bytes for a purpose: HMAC-SHA-256 of its name under the master key."""
    return hmac.digest(master, f"sentinel {purpose}\0".encode(), "sha256")


def ledger_keys(master: bytes) -> LedgerKeys:
    """The keys of the ledger that belongs to a master key."""
    signing = Ed25519PrivateKey.from_private_bytes(derived_key(master, "checkpoint"))
    return LedgerKeys(chain=derived_key(master, "chain"), signing=signing)
