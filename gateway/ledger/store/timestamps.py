"""Times as the ledger stores them: ISO 8601 in UTC with microseconds, 27 characters, so that they sort as text."""

from datetime import UTC, datetime
from functools import lru_cache


@lru_cache(maxsize=256)
def to_text(at: datetime) -> str:
    """The stored text of an aware time. Raises ValueError for a naive one."""
    if at.tzinfo is None:
        message = "a time without a zone cannot be stored"
        raise ValueError(message)
    in_utc = at if at.tzinfo is UTC else at.astimezone(UTC)  # as nearly all are
    return in_utc.isoformat(timespec="microseconds")[: -len("+00:00")] + "Z"


def from_text(text: str) -> datetime:
    """The time of a stored text, aware, in UTC."""
    return datetime.fromisoformat(text)
