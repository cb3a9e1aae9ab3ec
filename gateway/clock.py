"""The machine's clock, as `ports.Clock`."""

from datetime import UTC, datetime


class SystemClock:
    """What time it is on this machine."""

    def now(self) -> datetime:
        """Now, in UTC."""
        return datetime.now(UTC)
