"""Who the command line speaks as: a token from the environment, else an actor of the `sentinel up` that runs in this directory."""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from gateway.cli.local.credentials import NoIdentity, read_credentials

UP_DIRECTORY = Path(".sentinel") / "up"
"""Where `sentinel up` keeps everything, below the current directory."""

_TOKEN = re.compile(r"[A-Za-z0-9]{1,64}\.[\x21-\x7e]{1,256}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CliIdentity:
    """Where the API is, and the bearer token to use there."""

    url: str
    token: str = field(repr=False)
    region: str = ""
    """AWS region that goes with it, empty where the user's own environment decides."""


def identity(actor: str = "human") -> CliIdentity:
    """The identity from `SENTINEL_URL` and `SENTINEL_TOKEN`, each else from the credentials that `sentinel up` keeps of `actor`.

    Raises `NoIdentity`.
    """
    url, token, region = os.environ.get("SENTINEL_URL", ""), os.environ.get("SENTINEL_TOKEN", ""), ""
    if not (url and token) and (kept := read_credentials(UP_DIRECTORY)) is not None:
        url, token, region = url or kept.url, token or kept.key(actor).token, kept.region
    if not (url and token):
        raise NoIdentity(
            "Set SENTINEL_URL (e.g. http://127.0.0.1:8484) and SENTINEL_TOKEN (`<key id>.<secret>`), "
            "or run this where `sentinel up` runs. `sentinel key create` makes a key."
        )
    _check(url, token)
    return CliIdentity(url=url.rstrip("/"), token=token, region=region)


def _check(url: str, token: str) -> None:
    try:
        parts = urlsplit(url)
        whole = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port)
    except ValueError:
        whole = False
    if not whole:
        raise NoIdentity(f"SENTINEL_URL is {url!r}; it must be the gateway's address, e.g. http://127.0.0.1:8484.")
    if not _TOKEN.fullmatch(token):
        raise NoIdentity("SENTINEL_TOKEN must be `<key id>.<secret>`, as `sentinel key create` prints it.")
