"""Signs webhooks as the specification Standard Webhooks says (https://www.standardwebhooks.com), with one signature for each secret."""

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from datetime import datetime


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
