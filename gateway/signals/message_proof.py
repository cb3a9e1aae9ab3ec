"""Checks that a message comes from its source before it is parsed: by a password, a bearer token, or a signature over its bytes."""

import base64
import binascii
import hashlib
import hmac
import os
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from gateway.core.errors import NotAuthenticated
from gateway.core.model.inbound import Inbound
from gateway.core.settings.signals import SHORTEST_SECRET, SignalForm, SignalSourceSettings

TOLERANCE_SECONDS: Final = 300
"""Largest difference between the time of a signed message and this machine's clock."""
_MOST_SIGNATURES: Final = 10
_PREFIX: Final = "whsec_"


async def verified_body(source: SignalSourceSettings, inbound: Inbound) -> bytes:
    """The body of a message that the source proves to have sent. Raises `errors.NotAuthenticated`, `errors.BodyTooLarge`."""
    keys = secrets_of(source)
    if source.form is SignalForm.STANDARD:
        return await _standard(inbound, keys)
    if source.form is SignalForm.PAGERDUTY:
        return await _pagerduty(inbound, keys)
    if not _bears(inbound, source.name, keys):
        raise refused()
    return await inbound.read_body()


def refused() -> NotAuthenticated:
    """The refusal of a message. It is the same for an unknown source as for a wrong proof, so that nobody learns the names of sources."""
    return NotAuthenticated(
        "No source of signals has this name and this proof, so nothing of the message was taken. Compare name and secret with [[signals]] in the settings."
    )


def secrets_of(source: SignalSourceSettings) -> list[bytes]:
    """The secrets that hold now. Raises `errors.NotAuthenticated` if they cannot be read, so that no message is taken without one."""
    given = source.secret.get_secret_value()
    if source.secret_file is not None:
        try:
            given = source.secret_file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise refused() from error
    elif source.secret_env:
        given = os.environ.get(source.secret_env, "")
    return [line.encode() for each in given.splitlines() if len(line := each.strip()) >= SHORTEST_SECRET]


def _bears(inbound: Inbound, name: str, keys: Iterable[bytes]) -> bool:
    """Whether the one Authorization header is `Bearer SECRET`, or `Basic` with the source's name and the secret."""
    values = [value for header, value in inbound.headers if header == "authorization"]
    if len(values) != 1:
        return False
    scheme, _, given = values[0].strip().partition(" ")
    if scheme.lower() == "bearer":
        return _is_any(given.strip().encode("latin-1"), keys)
    if scheme.lower() != "basic":
        return False
    try:
        user, _, password = base64.b64decode(given.strip(), validate=True).partition(b":")
    except (binascii.Error, ValueError):
        return False
    return hmac.compare_digest(user, name.encode()) and _is_any(password, keys)


def _is_any(given: bytes, keys: Iterable[bytes]) -> bool:
    """Whether it is one of the keys, compared in a time that says nothing about them."""
    return any(hmac.compare_digest(given, key) for key in keys)


async def _standard(inbound: Inbound, keys: Iterable[bytes]) -> bytes:
    """The body of a message signed by the Standard Webhooks specification: `id.time.body` under HMAC-SHA-256, not older than five minutes."""
    head = [inbound.only_header(f"webhook-{name}") for name in ("id", "timestamp", "signature")]
    identifier, sent, signatures = head
    if not all(head) or not _is_recent(sent, inbound.received_at):
        raise refused()
    body = await inbound.read_body()
    signed = f"{identifier}.{sent}.".encode("latin-1") + body
    wanted = [base64.b64encode(hmac.digest(key, signed, hashlib.sha256)) for key in map(_key_bytes, keys)]
    given = [each[3:].encode("latin-1") for each in signatures.split()[:_MOST_SIGNATURES] if each.startswith("v1,")]
    if not any(_is_any(each, wanted) for each in given):
        raise refused()
    return body


async def _pagerduty(inbound: Inbound, keys: Iterable[bytes]) -> bytes:
    """The body of a message signed by PagerDuty: HMAC-SHA-256 over the body, in hex after `v1=`."""
    head = inbound.only_header("x-pagerduty-signature")
    parts = [each.strip() for each in head.split(",")[:_MOST_SIGNATURES]]
    given = [each[3:].encode("latin-1") for each in parts if each.startswith("v1=")]
    if not given:
        raise refused()
    body = await inbound.read_body()
    wanted = [hmac.digest(key, body, hashlib.sha256).hex().encode() for key in keys]
    if not any(_is_any(each, wanted) for each in given):
        raise refused()
    return body


def _key_bytes(key: bytes) -> bytes:
    """The bytes of a key: `whsec_` and base64 as the specification writes them, or any other text as it stands."""
    text = key.decode()
    if not text.startswith(_PREFIX):
        return key
    try:
        return base64.b64decode(text.removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        return key


def _is_recent(seconds: str, now: datetime) -> bool:
    if not (seconds.isascii() and seconds.isdigit() and len(seconds) <= 12):  # noqa: PLR2004  digits of a Unix time
        return False
    return abs(int(seconds) - now.timestamp()) <= TOLERANCE_SECONDS
