"""Who the command line speaks as: a token from the environment, else the human of a `sentinel up` that runs in this directory."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from gateway.errors import SentinelError

UP_DIRECTORY = Path(".sentinel") / "up"
"""Where `sentinel up` keeps everything, below the current directory."""


class NoIdentity(SentinelError):
    """The command line does not know as whom to speak."""

    code = "no_identity"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Where the API is, and the bearer token to use there."""

    url: str
    token: str


def identity(url: str = "", token: str = "", actor: str = "human") -> Identity:
    """The identity from arguments, `SENTINEL_URL` and `SENTINEL_TOKEN`, or the credentials that `sentinel up` keeps (as `actor`).

    Raises NoIdentity.
    """
    url = url or os.environ.get("SENTINEL_URL", "")
    token = token or os.environ.get("SENTINEL_TOKEN", "")
    kept = UP_DIRECTORY / "credentials.json"
    if not (url and token) and kept.is_file():
        known = json.loads(kept.read_text())
        if actor not in known["keys"]:
            raise NoIdentity(
                f"`sentinel up` keeps no credentials of {actor!r}; it has {', '.join(sorted(known['keys']))}."
            )
        key = known["keys"][actor]
        url = url or known["url"]
        token = token or f"{key['id']}.{key['secret']}"
    if not (url and token):
        raise NoIdentity(
            "Set SENTINEL_URL (e.g. http://127.0.0.1:8484) and SENTINEL_TOKEN (`<key id>.<secret>`), "
            "or run this where `sentinel up` runs. `sentinel key create` makes a key."
        )
    return Identity(url=url.rstrip("/"), token=token)
