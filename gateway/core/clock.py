"""The system clock."""

from datetime import UTC, datetime


class SystemClock:
    """A `ports.Clock` that reads the clock of this machine."""

    def now(self) -> datetime:
        """The current time: aware, in UTC."""
        return datetime.now(UTC)
