"""The system clock, and the one form of times in texts: ISO 8601 in UTC, `2026-11-21T09:00:00Z`."""

from datetime import UTC, datetime, timedelta


def utc_text(at: datetime) -> str:
    """The time in ISO 8601, UTC with `Z`, with its microseconds if it has any."""
    return at.astimezone(UTC).isoformat().removesuffix("+00:00") + "Z"


def utc_seconds(at: datetime) -> str:
    """As `utc_text`, to the second."""
    return utc_text(at.replace(microsecond=0))


def utc_cell(text: str | None) -> str:
    """Such a text as people read it in a table, to the second and without its zone: `2026-11-21 09:00:00`; empty for no text."""
    return (text or "")[:19].replace("T", " ")


class SystemClock:
    """A `ports.Clock` that reads the clock of this machine."""

    def now(self) -> datetime:
        """The current time: aware, in UTC."""
        return datetime.now(UTC)


def moment_text(at: datetime) -> str:
    """A moment in a sentence, to the second."""
    at += timedelta(microseconds=999_999)  # rounded up, so that it is not too early
    return utc_seconds(at)
