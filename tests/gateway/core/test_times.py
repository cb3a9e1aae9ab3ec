"""Times are written in UTC with `Z`, whatever their zone."""

from datetime import UTC, datetime, timedelta, timezone

from gateway.core.times import SystemClock, utc_cell, utc_seconds, utc_text

AT = datetime(2026, 11, 21, 9, 0, 0, 250_000, tzinfo=UTC)


def test_a_time_is_written_in_utc() -> None:
    assert utc_text(AT) == "2026-11-21T09:00:00.250000Z"
    assert utc_text(AT.astimezone(timezone(timedelta(hours=2)))) == "2026-11-21T09:00:00.250000Z"
    assert utc_text(AT.replace(microsecond=0)) == "2026-11-21T09:00:00Z"
    assert utc_seconds(AT) == "2026-11-21T09:00:00Z"


def test_a_cell_has_neither_zone_nor_fraction() -> None:
    assert utc_cell(utc_text(AT)) == "2026-11-21 09:00:00"
    assert utc_cell(None) == utc_cell("") == ""


def test_it_is_now_in_utc() -> None:
    now = SystemClock().now()
    assert now.utcoffset() == timedelta(0)
    assert abs(now - datetime.now(UTC)) < timedelta(seconds=5)
