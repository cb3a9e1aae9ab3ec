"""The identity of the command line: the actor that `--as` names, else a token from the environment, else a default actor of the `sentinel up` in this directory."""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from gateway.cli.local.credentials import NoIdentity, read_credentials

UP_DIRECTORY = Path(".sentinel") / "up"
"""Default directory of `sentinel up`, relative to the current directory."""

_TOKEN = re.compile(r"[A-Za-z0-9]{1,64}\.[\x21-\x7e]{1,256}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CliIdentity:
    """The API's URL and a bearer token for it."""

    url: str
    token: str = field(repr=False)
    region: str = ""
    """AWS region of the `sentinel up`; empty if the identity comes from the environment."""


def identity(named: str | None = None, *, default: str = "human") -> CliIdentity:
    """The identity of the actor `named` by `--as`, else that from `SENTINEL_URL` and `SENTINEL_TOKEN`.

    What these do not give comes from the credentials that `sentinel up` saved, those of the `default` actor. Raises `NoIdentity`.
    """
    if named is not None:
        return _saved_identity(named)
    url, token, region = os.environ.get("SENTINEL_URL", ""), os.environ.get("SENTINEL_TOKEN", ""), ""
    if not (url and token) and (saved := read_credentials(UP_DIRECTORY)) is not None:
        url, token, region = url or saved.url, token or saved.key(default).token, saved.region
    if not (url and token):
        raise NoIdentity(
            "Set SENTINEL_URL (e.g. http://127.0.0.1:8484) and SENTINEL_TOKEN (`<key id>.<secret>`), "
            "or run this in the directory where `sentinel up` runs. `sentinel key create` issues a key."
        )
    _check(url, token)
    return CliIdentity(url=url.rstrip("/"), token=token, region=region)


def _saved_identity(actor: str) -> CliIdentity:
    """The identity of an actor of the `sentinel up` in this directory, whose secret is sent to no other gateway."""
    saved = read_credentials(UP_DIRECTORY)
    if saved is None:
        raise NoIdentity(
            f"--as {actor} needs the credentials that `sentinel up` saves in {UP_DIRECTORY}, and there are none in this directory. "
            "Run this where `sentinel up` runs, or leave out --as to use SENTINEL_TOKEN."
        )
    url = os.environ.get("SENTINEL_URL", "").rstrip("/")
    if url and url != saved.url:
        raise NoIdentity(
            f"--as {actor} names an actor of the `sentinel up` at {saved.url}, but SENTINEL_URL is {url!r}. Unset SENTINEL_URL, or leave out --as."
        )
    return CliIdentity(url=saved.url, token=saved.key(actor).token, region=saved.region)


def _check(url: str, token: str) -> None:
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port)
    except ValueError:
        valid = False
    if not valid:
        raise NoIdentity(f"SENTINEL_URL is {url!r}; it must be the gateway's address, e.g. http://127.0.0.1:8484.")
    if not _TOKEN.fullmatch(token):
        raise NoIdentity("SENTINEL_TOKEN must be `<key id>.<secret>`, as `sentinel key create` prints it.")
