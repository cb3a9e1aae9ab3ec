"""A request that was refused before it became a mutation, as the ledger records it."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Who sent the request, what it was and why it was refused. The ledger stores it as a TURNED_AWAY record."""

    at: datetime
    reason: str = ""
    """A whole sentence."""
    code: str
    """The machine name of the error, e.g. `not_authenticated`."""
    peer: str = ""
    """Network address of the client; empty where the gateway itself refused."""
    key_id: str = ""
    """The key that the caller proved or, where `actor` is empty, only named."""
    about: str = ""
    """What was requested, in short: `POST /path` or `service:operation`."""
    actor: str = ""
    """The authenticated actor; empty for a request that was not authenticated."""
