"""Times on the command line."""

from datetime import UTC, datetime, timedelta

import pytest

from gateway.cli.options import time_of
from gateway.core.errors import Malformed


def test_a_time_and_an_age_are_times_with_a_zone() -> None:
    assert time_of("") is None
    assert time_of("2026-11-21T09:00:00Z") == datetime(2026, 11, 21, 9, tzinfo=UTC)
    local = time_of("2026-11-21T09:00:00")
    assert local is not None
    assert local.tzinfo is not None
    age = time_of("1d2h")
    assert age is not None
    assert age < datetime.now(UTC) - timedelta(hours=25)


@pytest.mark.parametrize("text", ["yesterday", "1x", "2026-13-01"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(Malformed, match="neither a time"):
        time_of(text)
