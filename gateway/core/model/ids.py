"""Generates identifiers that sort by creation time, and defines the prefixes of key ids."""

import hashlib
import secrets
import time

STANDING_KEY_PREFIX = "SNTL"
SESSION_KEY_PREFIX = "SNTS"

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_LENGTH = 26
_PAIRS = [one + other for one in _ALPHABET for other in _ALPHABET]
"""Two characters for each ten bits."""
_SHIFTS = tuple(range(120, -1, -10))


def new_id(prefix: str) -> str:
    """`prefix_` and 26 characters: 48 bits of Unix milliseconds, then 80 random bits, in Crockford base 32 (ULID)."""
    number = (int(time.time() * 1000) << 80) | secrets.randbits(80)
    return f"{prefix}_{_text(number)}"


def digest_id(prefix: str, *parts: str) -> str:
    """`prefix_` and 26 characters that follow from the parts: the same event always has the same id."""
    number = int.from_bytes(hashlib.sha256("\0".join(parts).encode()).digest())
    return f"{prefix}_{_text(number)}"


def _text(number: int) -> str:
    """The lowest 130 bits of a number in Crockford base 32."""
    return "".join([_PAIRS[(number >> shift) & 1023] for shift in _SHIFTS])


def is_id(prefix: str, text: str) -> bool:
    """Whether the text has the form of an id with this prefix."""
    start, _, rest = text.partition("_")
    return start == prefix and len(rest) == _LENGTH and set(rest) <= set(_ALPHABET)


def is_session_key(key_id: str) -> bool:
    """Whether the id belongs to a session key rather than to a standing key."""
    return key_id.startswith(SESSION_KEY_PREFIX)
