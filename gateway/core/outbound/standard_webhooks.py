"""Signs webhooks as the specification Standard Webhooks says (https://www.standardwebhooks.com), with one signature for each secret."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

PREFIX: Final = "whsec_"
MOST_SECRETS: Final = 3
"""Secrets that sign at a time: the new one and those that are being retired."""
_BYTES: Final = range(24, 65)
"""How long the specification wants a secret to be."""


def signing_key(secret: str) -> bytes:
    """The key of a secret: base64 of 24 to 64 bytes, after `whsec_`. Raises ValueError, without the secret in its text."""
    try:
        key = base64.b64decode(secret.strip().removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) not in _BYTES:
        message = f"The secret of a webhook is `{PREFIX}` and 24 to 64 bytes in base64: openssl rand -base64 32."
        raise ValueError(message)
    return key


def signed_headers(identifier: str, body: bytes, keys: Sequence[bytes], now: datetime) -> Mapping[str, str]:
    """The headers that prove who sent a body, and when."""
    seconds = str(int(now.timestamp()))
    signed = f"{identifier}.{seconds}.".encode() + body
    marks = [base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode() for key in keys]
    return {
        "webhook-id": identifier,
        "webhook-timestamp": seconds,
        "webhook-signature": " ".join(f"v1,{mark}" for mark in marks),
    }
