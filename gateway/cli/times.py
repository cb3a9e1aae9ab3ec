"""Reads the times that commands take: `2026-11-21T09:00:00Z`, or an age such as `1h` or `2d`."""

import re
from datetime import UTC, datetime

from gateway.doors.motive import duration
from gateway.errors import Malformed


def time_of(text: str) -> datetime | None:
    """The time with its zone, from a time or an age before now; None for no text. Raises `errors.Malformed`."""
    if not text:
        return None
    if re.fullmatch(r"(\d+[smhdw])+", text):
        return datetime.now(UTC) - duration(text)
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise Malformed(
            f"{text[:40]!r} is neither a time (2026-11-21T09:00:00Z) nor an age (90s, 30m, 1h, 2d, 1w)."
        ) from error
    return time if time.tzinfo else time.astimezone()
