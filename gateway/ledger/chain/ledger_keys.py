"""The secrets of a ledger: the key of its record hashes, and the key that signs its checkpoints."""

from dataclasses import dataclass, field

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerKeys:
    """Both are derived from the master key, so a copy of the database alone can be neither continued nor rewritten."""

    chain: bytes = field(repr=False)
    """The HMAC key of the record hashes."""
    signing: Ed25519PrivateKey = field(repr=False)
    """Signs the checkpoints. Its public half can be given to anyone who is to check one."""
