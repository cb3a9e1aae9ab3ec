"""The system clock is aware and in UTC."""

from datetime import UTC, datetime, timedelta

from gateway.core.clock import SystemClock


def test_it_is_now_in_utc() -> None:
    now = SystemClock().now()
    assert now.utcoffset() == timedelta(0)
    assert abs(now - datetime.now(UTC)) < timedelta(seconds=5)
