"""Windows of a calendar: one by one, recurring, moved, cancelled, in their time zone."""

from datetime import UTC, datetime, timedelta

import pytest

from gateway.core.errors import Malformed
from gateway.signals.forms.calendar import read

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
ZONE = """BEGIN:VTIMEZONE
TZID:Europe/Berlin
BEGIN:STANDARD
DTSTART:19701025T030000
RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
END:STANDARD
END:VTIMEZONE
"""


def calendar(*events: str) -> bytes:
    text = "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//t//t//EN\n" + ZONE
    inner = "".join(f"BEGIN:VEVENT\nUID:launch-1\nDTSTAMP:20261101T000000Z\n{event}\nEND:VEVENT\n" for event in events)
    return (text + inner + "END:VCALENDAR\n").replace("\n", "\r\n").encode()


def windows(*events: str) -> list[tuple[datetime, datetime | None]]:
    return [(each.since, each.until) for each in read(calendar(*events), NOW)]


def test_a_window_is_named_labelled_and_in_its_zone() -> None:
    event = "DTSTART;TZID=Europe/Berlin:20261122T120000\nDURATION:PT4H\nSUMMARY:Black Friday\nCATEGORIES:launch,shop\nURL:https://plan/1"
    [found] = read(calendar(event), NOW)
    assert (found.since, found.until) == (NOW - timedelta(hours=1), NOW + timedelta(hours=3))
    assert (found.name, found.labels["categories"]) == ("Black Friday", "launch,shop")
    assert found.references == ("launch-1", "https://plan/1")
    assert found.key.startswith("launch-1/2026-11-22T11:00")


def test_only_what_is_open_or_soon_is_kept() -> None:
    assert windows("DTSTART:20261122T090000Z\nDTEND:20261122T120000Z") == []
    assert windows("DTSTART:20261201T090000Z\nDTEND:20261201T120000Z") == []
    assert windows("DTSTART:20261122T090000Z\nDTEND:20261122T130000Z\nSTATUS:CANCELLED") == []
    [(begin, end)] = windows("DTSTART;VALUE=DATE:20261122")
    assert (begin.hour, end) == (0, begin + timedelta(days=1))


def test_a_recurring_window_has_its_exceptions() -> None:
    daily = "DTSTART:20260101T110000Z\nDTEND:20260101T130000Z\nRRULE:FREQ=DAILY"
    assert [begin.day for begin, _ in windows(daily)] == [22, 23, 24]
    assert [begin.day for begin, _ in windows(daily + "\nEXDATE:20261123T110000Z")] == [22, 24]
    moved = "RECURRENCE-ID:20261123T110000Z\nDTSTART:20261123T150000Z\nDTEND:20261123T160000Z"
    assert [(begin.day, begin.hour) for begin, _ in windows(daily, moved)] == [(22, 11), (24, 11), (23, 15)]


@pytest.mark.parametrize(
    "content",
    [
        b"BEGIN:VCALENDAR",
        b"\xff",
        calendar("DTSTART:20261122T090000Z"),
        calendar("DTSTART:20261122T090000Z\nDTEND:20271122T090000Z"),
        calendar("DTSTART:20261122T090000Z\nDTEND:20261122T080000Z"),
        calendar("DTSTART:19700101T000000Z\nDURATION:PT1S\nRRULE:FREQ=SECONDLY"),
        calendar("DTSTART:noon"),
    ],
)
def test_what_is_no_window_is_refused(content: bytes) -> None:
    with pytest.raises(Malformed, match="no calendar"):
        list(read(content, NOW))
