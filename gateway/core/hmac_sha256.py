"""HMAC-SHA-256 (RFC 2104) under keys that are used again: `hmac.digest` hashes the key for each message, which takes as long as a short
message.
"""

import hashlib
from functools import lru_cache

_BLOCK = 64
"""Bytes of a block of SHA-256."""


def hmac_sha256(key: bytes, *message: bytes) -> bytes:
    """The 32 bytes for a message, given whole or in parts."""
    begun, ended = _hashes(key)
    inner, outer = begun.copy(), ended.copy()
    inner.update(b"".join(message))
    outer.update(inner.digest())
    return outer.digest()


@lru_cache(maxsize=4096)
def _hashes(key: bytes) -> "tuple[hashlib._Hash, hashlib._Hash]":
    """The inner and the outer hash after their block with the key."""
    block = (hashlib.sha256(key).digest() if len(key) > _BLOCK else key).ljust(_BLOCK, b"\0")
    return hashlib.sha256(bytes(byte ^ 0x36 for byte in block)), hashlib.sha256(bytes(byte ^ 0x5C for byte in block))
