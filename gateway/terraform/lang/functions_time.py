"""Terraform's functions of time stamps."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

from gateway.terraform.lang.values import EvaluationFailed, Unknown, Value, text

_STAMP = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)", re.ASCII)
_TOKEN = re.compile(
    r"'((?:[^']|'')*)'|(YYYY|YY|MMMM|MMM|MM|M|DD|D|EEEE|EEE|hh|h|HH|H|AA|aa|mm|m|ss|s|ZZZZZ|ZZZZ|ZZZ|Z)|([A-Za-z'])|(.)",
    re.DOTALL,
)
_UNIT = {"h": 3600 * 10**9, "m": 60 * 10**9, "s": 10**9, "ms": 10**6, "us": 10**3, "µs": 10**3, "ns": 1}
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


def _moment(value: Value) -> tuple[datetime, str]:
    """The moment of an RFC 3339 time stamp, and its zone as written."""
    match = _STAMP.fullmatch(text(value))
    if match is None:
        raise EvaluationFailed(f"{text(value)} is not an RFC 3339 time stamp")
    if match[7]:
        raise Unknown("fractions of a second are not calculated")
    zone = UTC if match[8] == "Z" else timezone(_offset(match[8]))
    try:
        return datetime(*(int(match[part]) for part in range(1, 7)), tzinfo=zone), match[8]  # type: ignore[arg-type,misc]
    except ValueError:
        raise EvaluationFailed(f"{text(value)} is not a time stamp") from None


def _offset(written: str) -> timedelta:
    sign = -1 if written[0] == "-" else 1
    return sign * timedelta(hours=int(written[1:3]), minutes=int(written[4:6]))


def _timeadd(stamp: Value, duration: Value) -> str:
    moment, zone = _moment(stamp)
    written = text(duration)
    match = re.fullmatch(r"([+-]?)((?:\d+(?:\.\d*)?(?:h|ms|us|µs|ns|m|s))+|0)", written, re.ASCII)
    if match is None:
        raise EvaluationFailed(f"{written} is not a duration")
    parts = re.findall(r"(\d+(?:\.\d*)?)(h|ms|us|µs|ns|m|s)", match[2], re.ASCII)
    nanoseconds = sum((Decimal(amount) * _UNIT[unit] for amount, unit in parts), Decimal(0))
    if nanoseconds % 10**9:
        raise Unknown("fractions of a second are not calculated")
    added = timedelta(seconds=int(nanoseconds) // 10**9)
    try:
        result = moment - added if match[1] == "-" else moment + added
    except OverflowError:
        raise Unknown("years beyond 9999 are not calculated") from None
    return result.strftime("%Y-%m-%dT%H:%M:%S").zfill(19) + ("Z" if zone in ("Z", "+00:00", "-00:00") else zone)


def _timecmp(one: Value, other: Value) -> Value:
    first, second = _moment(one)[0], _moment(other)[0]
    return (first > second) - (first < second)


def _formatdate(pattern: Value, stamp: Value) -> str:
    moment, zone = _moment(stamp)
    written: list[str] = []
    for quoted, token, letter, other in _TOKEN.findall(text(pattern)):
        if letter:
            raise EvaluationFailed(f"formatdate() has no {letter}")
        written.append(_token(moment, zone, token) if token else other or quoted.replace("''", "'"))
    if "''" in text(pattern):
        raise Unknown("formatdate() with two quotes in a row")
    return "".join(written)


def _token(moment: datetime, zone: str, token: str) -> str:
    hour = moment.hour % 12 or 12
    utc = not moment.utcoffset()
    short = zone.replace(":", "") if not utc else "+0000"
    table = {
        "YYYY": f"{moment.year:04}",
        "YY": f"{moment.year % 100:02}",
        "MMMM": _MONTHS[moment.month - 1],
        "MMM": _MONTHS[moment.month - 1][:3],
        "MM": f"{moment.month:02}",
        "M": str(moment.month),
        "DD": f"{moment.day:02}",
        "D": str(moment.day),
        "EEEE": _DAYS[moment.weekday()],
        "EEE": _DAYS[moment.weekday()][:3],
        "hh": f"{moment.hour:02}",
        "h": str(moment.hour),
        "HH": f"{hour:02}",
        "H": str(hour),
        "AA": "AM" if moment.hour < 12 else "PM",  # noqa: PLR2004  noon
        "aa": "am" if moment.hour < 12 else "pm",  # noqa: PLR2004  noon
        "mm": f"{moment.minute:02}",
        "m": str(moment.minute),
        "ss": f"{moment.second:02}",
        "s": str(moment.second),
        "ZZZZZ": f"{short[:3]}:{short[3:]}",
        "ZZZZ": short,
        "ZZZ": "UTC" if utc else short,
        "Z": "Z" if utc else f"{short[:3]}:{short[3:]}",
    }
    return table[token]


FUNCTIONS: Mapping[str, Callable[..., Value]] = {"formatdate": _formatdate, "timeadd": _timeadd, "timecmp": _timecmp}
