"""Windows of time from a calendar in the form iCalendar (RFC 5545), with recurrence."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

from dateutil.rrule import rruleset, rrulestr
from icalendar import Calendar

from gateway.core.errors import Malformed
from gateway.signals.forms.fields import FiledSignal, clean

AHEAD: Final = timedelta(days=2)
"""How far the occurrences of a recurring event are worked out. The file is read again before they are used up."""
LONGEST: Final = timedelta(days=31)
"""A window that lasts longer is a mistake: it would prove launches for as long."""
_TOO_OFTEN: Final = ("SECONDLY", "MINUTELY", "HOURLY")
_DAY: Final = timedelta(days=1)


def read(content: bytes, now: datetime) -> Iterator[FiledSignal]:
    """The windows that are open now or open within `AHEAD`. Raises `errors.Malformed`."""
    try:
        events = _events(content)
        overridden = {(str(each["UID"]), _at(each["RECURRENCE-ID"].dt)) for each in events if "RECURRENCE-ID" in each}
        for event in events:
            yield from _windows(event, now, overridden)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise Malformed(
            f"The file is no calendar that can be read: {type(error).__name__}: {str(error)[:200]}."
        ) from error


def _events(content: bytes) -> list[Any]:
    """The events of all calendars in the file."""
    calendars = Calendar.from_ical(content, multiple=True)
    if not calendars:
        raise ValueError("it ends before its calendar does")
    return [event for calendar in calendars for event in calendar.walk("VEVENT")]


def _windows(event: Any, now: datetime, overridden: set[tuple[str, datetime]]) -> Iterator[FiledSignal]:
    if str(event.get("STATUS", "")).upper() == "CANCELLED":
        return
    key, lasts = clean(str(event["UID"])), _length(event)
    if not timedelta() < lasts <= LONGEST:
        raise ValueError(f"the event {key!r} must last between a moment and {LONGEST.days} days")
    name = clean(str(event.get("SUMMARY", ""))) or key
    for begin in _begins(event, now - lasts, now + AHEAD):
        if begin + lasts <= now or ("RECURRENCE-ID" not in event and (str(event["UID"]), begin) in overridden):
            continue
        yield FiledSignal(
            key=f"{key}/{begin.isoformat()}",
            name=name,
            since=begin,
            until=begin + lasts,
            labels=_labels(event, name),
            references=tuple(each for each in (key, clean(str(event.get("URL", "")))) if each),
        )


def _length(event: Any) -> timedelta:
    """How long one occurrence lasts: until its end, for its duration, or the whole day if it names neither and has a date only."""
    begin = event["DTSTART"].dt
    if "DTEND" in event:
        return _at(event["DTEND"].dt) - _at(begin)
    if "DURATION" in event:
        found: timedelta = event["DURATION"].dt
        return found
    return timedelta() if isinstance(begin, datetime) else _DAY


def _begins(event: Any, after: datetime, before: datetime) -> list[datetime]:
    """When the occurrences between two times begin."""
    begin = event["DTSTART"].dt
    if "RRULE" not in event:
        return [_at(begin)] if after <= _at(begin) <= before else []
    rules = event["RRULE"] if isinstance(event["RRULE"], list) else [event["RRULE"]]
    local = begin if isinstance(begin, datetime) else datetime.combine(begin, time(), UTC)
    if local.tzinfo is None:
        local = local.replace(tzinfo=UTC)
    found: Any = rruleset()  # type: ignore[no-untyped-call]  # dateutil ships no types
    for rule in rules:
        text = rule.to_ical().decode()
        if any(f"FREQ={each}" in text.upper() for each in _TOO_OFTEN):
            raise ValueError("an event repeats more often than daily")
        found.rrule(rrulestr(text, dtstart=local))
    for left_out in _left_out(event):
        found.exdate(left_out)
    return [each.astimezone(UTC) for each in found.between(after, before, inc=True)]


def _left_out(event: Any) -> list[datetime]:
    given = event.get("EXDATE", [])
    return [_at(each.dt) for group in (given if isinstance(given, list) else [given]) for each in group.dts]


def _at(moment: date) -> datetime:
    """The moment in UTC; a time without zone, and a date, count as UTC."""
    found = moment if isinstance(moment, datetime) else datetime.combine(moment, time())
    return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).astimezone(UTC)


def _labels(event: Any, name: str) -> dict[str, str]:
    categories = event.get("CATEGORIES")
    groups = categories if isinstance(categories, list) else [categories] if categories else []
    known = {
        "summary": name,
        "categories": clean(",".join(str(each) for group in groups for each in group.cats)),
        "location": clean(str(event.get("LOCATION", ""))),
    }
    return {label: value for label, value in known.items() if value}
