"""The ready-made credentials that `sentinel up` keeps for the commands that are run beside it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gateway.errors import SentinelError
from gateway.ports import Key

FILE_NAME = "credentials.json"
"""Its file's name in the directory of `sentinel up`."""


class NoIdentity(SentinelError):
    """The command line does not know as whom to speak."""

    code = "no_identity"


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedKey:
    """One ready-made key."""

    id: str
    secret: str
    actor: str

    @property
    def token(self) -> str:
        """The bearer token of the JSON API."""
        return f"{self.id}.{self.secret}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedCredentials:
    """Where a `sentinel up` listens, and its ready-made keys."""

    url: str
    region: str
    keys: Mapping[str, SavedKey]
    """By the name that `--as` takes: agent, human, pipeline …"""

    def key(self, name: str) -> SavedKey:
        """The key of that name. Raises NoIdentity, which lists the names there are."""
        if name not in self.keys:
            raise NoIdentity(f"`sentinel up` keeps no credentials of {name!r}; it has {', '.join(sorted(self.keys))}.")
        return self.keys[name]


def credentials_text(url: str, region: str, keys: Mapping[str, Key]) -> str:
    """What `read_kept` reads, as JSON."""
    shown = {name: {"id": key.id, "secret": key.secret, "actor": key.actor} for name, key in keys.items()}
    return json.dumps({"url": url, "region": region, "keys": shown}, indent=2) + "\n"


def read_credentials(home: Path) -> SavedCredentials | None:
    """What the `sentinel up` with this directory keeps, None where there is none. Raises NoIdentity where it is damaged."""
    path = home / FILE_NAME
    try:
        document = json.loads(path.read_text())
        return SavedCredentials(
            url=str(document["url"]),
            region=str(document["region"]),
            keys={name: SavedKey(**{part: str(key[part]) for part in key}) for name, key in document["keys"].items()},
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise NoIdentity(
            f"{path} cannot be read ({type(error).__name__}: {error}). `sentinel up` writes it anew whenever it starts."
        ) from error
