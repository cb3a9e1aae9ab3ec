"""The credentials file of `sentinel up`, which has its demo keys and is read by the other commands."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.core.errors import SentinelError

if TYPE_CHECKING:
    from gateway.core.ports import Key

FILE_NAME = "credentials.json"
"""Name of the file in the directory of `sentinel up`."""


class NoIdentity(SentinelError):
    """The command line has no identity to call the API with."""

    code = "no_identity"


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedKey:
    """A demo key from the credentials file."""

    id: str
    secret: str
    actor: str

    @property
    def token(self) -> str:
        """The bearer token of the JSON API."""
        return f"{self.id}.{self.secret}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedCredentials:
    """The URL, AWS region and demo keys of a `sentinel up`."""

    url: str
    region: str
    keys: Mapping[str, SavedKey]
    """Keys by the name that `--as` takes: agent, human, pipeline …"""

    def key(self, name: str) -> SavedKey:
        """The key with this name. Raises NoIdentity, which lists the known names."""
        if name not in self.keys:
            raise NoIdentity(f"`sentinel up` has no credentials for {name!r}, only for {', '.join(sorted(self.keys))}.")
        return self.keys[name]


def credentials_text(url: str, region: str, keys: "Mapping[str, Key]") -> str:
    """The JSON text that `read_credentials` reads."""
    keys_to_json = {name: {"id": key.id, "secret": key.secret, "actor": key.actor} for name, key in keys.items()}
    return json.dumps({"url": url, "region": region, "keys": keys_to_json}, indent=2) + "\n"


def read_credentials(home: Path) -> SavedCredentials | None:
    """The credentials in the directory of a `sentinel up`, None if there is no file. Raises NoIdentity if it is damaged."""
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
            f"{path} cannot be read ({type(error).__name__}: {error}). `sentinel up` rewrites it at each start."
        ) from error
