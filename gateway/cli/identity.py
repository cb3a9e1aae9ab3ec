"""The identity of the command line: a token from the environment, else an actor of the `sentinel up` in this directory."""

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


def identity(actor: str = "human") -> CliIdentity:
    """The identity from `SENTINEL_URL` and `SENTINEL_TOKEN`; what is missing comes from the credentials of `actor` saved by `sentinel up`.

    Raises `NoIdentity`.
    """
    url, token, region = os.environ.get("SENTINEL_URL", ""), os.environ.get("SENTINEL_TOKEN", ""), ""
    if not (url and token) and (saved := read_credentials(UP_DIRECTORY)) is not None:
        url, token, region = url or saved.url, token or saved.key(actor).token, saved.region
    if not (url and token):
        raise NoIdentity(
            "Set SENTINEL_URL (e.g. http://127.0.0.1:8484) and SENTINEL_TOKEN (`<key id>.<secret>`), "
            "or run this in the directory where `sentinel up` runs. `sentinel key create` issues a key."
        )
    _check(url, token)
    return CliIdentity(url=url.rstrip("/"), token=token, region=region)


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
