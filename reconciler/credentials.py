"""Checks at the start that the reconciler has working credentials. Without, terraform would say so only after a timeout, at the first change."""

import hmac
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from gateway.errors import SettingsInvalid
from gateway.model.ids import SESSION_KEY_PREFIX, STANDING_KEY_PREFIX
from gateway.ports import KeyRing
from gateway.settings import Settings

_HOW = (
    "Issue one with `sentinel key create reconciler --kind service --role reconciler`, and set it as `key_id` and `key_secret` in [reconcile] "
    "(SENTINEL_RECONCILE__KEY_ID, SENTINEL_RECONCILE__KEY_SECRET)."
)
_SOURCES = (
    "AWS_ACCESS_KEY_ID",
    "AWS_PROFILE",
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)
"""Variables from which terraform's provider takes credentials."""


async def check_credentials(settings: Settings, keys: KeyRing, environ: Mapping[str, str], now: datetime) -> None:
    """Raise `errors.SettingsInvalid` if there are no credentials to read live values with, or they are a key that the gateway refuses."""
    reconcile = settings.reconcile
    key_id, secret = reconcile.key_id, reconcile.key_secret.get_secret_value()
    if bool(key_id) != bool(secret):
        missing = "key_secret" if key_id else "key_id"
        raise SettingsInvalid(f"The reconciler's key is not complete: `{missing}` in [reconcile] is missing. {_HOW}")
    if not key_id and "AWS_ACCESS_KEY_ID" in environ:
        key_id, secret = environ["AWS_ACCESS_KEY_ID"], environ.get("AWS_SECRET_ACCESS_KEY", "")
    if key_id.startswith((STANDING_KEY_PREFIX, SESSION_KEY_PREFIX)):
        await _check_issued(keys, key_id, secret, now)
    elif not key_id and not reconcile.endpoint and not _has_other_source(environ):
        # At another endpoint an AWS role of this machine may do; the gateway accepts only keys that it issued.
        raise SettingsInvalid(
            f"The reconciler has no key to read live values through the gateway, so it could write nothing back. {_HOW}"
        )


async def _check_issued(keys: KeyRing, key_id: str, secret: str, now: datetime) -> None:
    key = await keys.find(key_id)
    if key is None:
        raise SettingsInvalid(
            f"The reconciler's key {key_id} was not issued by this gateway, or with another master key or ledger. {_HOW}"
        )
    if key.ended(now):
        raise SettingsInvalid(f"The reconciler's key {key_id} {'is revoked' if key.revoked else 'has expired'}. {_HOW}")
    if not hmac.compare_digest(key.secret.encode(), secret.encode()):
        raise SettingsInvalid(f"The secret of the reconciler's key {key_id} is not the one that was issued. {_HOW}")


def _has_other_source(environ: Mapping[str, str]) -> bool:
    """Whether a variable or a shared file may give terraform's provider credentials."""
    home = Path(environ.get("HOME", "~")).expanduser()
    return any(environ.get(name) for name in _SOURCES) or any(
        (home / ".aws" / name).is_file() for name in ("credentials", "config")
    )
