"""The credentials that the reconciler must have at its start, and the environment variables that terraform gets."""

import hmac
import os
from collections.abc import Collection, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from gateway.core.errors import SettingsInvalid
from gateway.core.model.ids import SESSION_KEY_PREFIX, STANDING_KEY_PREFIX
from gateway.core.ports import KeyRing
from gateway.core.settings import Settings

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
_PASSED: Final = frozenset(
    {
        "PATH",
        "HOME",
        "TMPDIR",
        "LANG",
        "LC_ALL",
        "LC_CTYPE",
        "TZ",
        "XDG_CONFIG_HOME",
        "XDG_DATA_DIRS",
        "XDG_DATA_HOME",
        "SSL_CERT_DIR",
        "SSL_CERT_FILE",
        "AWS_CA_BUNDLE",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "NO_PROXY",
        "http_proxy",
        "https_proxy",
        "no_proxy",
        "TF_CLI_CONFIG_FILE",
        "TF_PLUGIN_CACHE_DIR",
        "AWS_REGION",
        "AWS_DEFAULT_REGION",
    }
)
_CREDENTIALS: Final = frozenset(
    {
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "AWS_PROFILE",
        "AWS_CONFIG_FILE",
        "AWS_SHARED_CREDENTIALS_FILE",
        "AWS_ROLE_ARN",
        "AWS_ROLE_SESSION_NAME",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_EC2_METADATA_DISABLED",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN",
    }
)
_NO_OTHER_CREDENTIALS: Final = {
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
}
"""Without these, a profile named in the code would use the credentials of this machine."""


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


def passed_environment(environ: Mapping[str, str], *, more: Collection[str], own_key: bool) -> dict[str, str]:
    """The listed variables of `environ`, and those in `more`.

    Credentials of this machine are passed on only if the reconciler has no key of its own.
    """
    names = {*_PASSED, *more, *(() if own_key else _CREDENTIALS)}
    passed = {name: environ[name] for name in names if name in environ and not name.startswith("SENTINEL_")}
    return passed | (_NO_OTHER_CREDENTIALS if own_key else {})
