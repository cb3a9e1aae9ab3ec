"""The demo keys of `sentinel up`, and the credentials file that the other commands read them from."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.core.errors import SentinelError
from gateway.core.model.caller import ActorKind
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.ports import Key, KeyRing

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


_LASTS = timedelta(days=90)
_MIN_REMAINING = timedelta(days=1)
"""A key that expires sooner is replaced."""

_KEYS: dict[str, tuple[str, ActorKind, tuple[str, ...], Motive | None]] = {
    "agent": ("agent-scaler", ActorKind.AGENT, (), None),
    "human": ("you", ActorKind.HUMAN, ("approver", "operator"), None),
    "pipeline": ("terraform", ActorKind.PIPELINE, (), Motive(intent=Intent.CONSISTENCY, motivation=Motivation.ROUTINE)),
    "optimizer": ("agent-optimizer", ActorKind.AGENT, (), None),  # the other agent of the tour
    "reconciler": ("reconciler", ActorKind.SERVICE, ("reconciler",), None),
}


async def demo_keys(keyring: KeyRing) -> Mapping[str, Key]:
    """The keys by the name that `--as` takes, and `reconciler`. Keys that are missing, revoked or about to expire are issued."""
    soon = datetime.now(UTC) + _MIN_REMAINING
    known = {
        (key.actor, key.kind, key.roles, key.motive): key
        for key in reversed(await keyring.standing())  # oldest first, so that the newest key of an actor wins
        if not key.is_session and not key.ended(soon)
    }
    return {
        name: known.get((actor, kind, roles, motive))
        or await keyring.issue(actor=actor, kind=kind, roles=roles, motive=motive, lasts=_LASTS)
        for name, (actor, kind, roles, motive) in _KEYS.items()
    }
