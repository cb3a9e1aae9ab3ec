"""The built-ins of times. The clock is the decision's (`now_ns` of the input), never that of the machine."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal
from typing import Final
from zoneinfo import ZoneInfo

from gateway.policy.builtins.evaluation import BuiltinError, Evaluation, limited
from gateway.policy.builtins.go_layout import DAYS, LAYOUTS, SECOND, formatted, parsed
from gateway.policy.builtins.operands import text, whole
from gateway.policy.rego_values import RegoLiteral, Term

_EARLIEST, _LATEST = -(2**63), 2**63 - 1
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_UNIT: Final = {
    "ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": SECOND, "m": 60 * SECOND, "h": 3600 * SECOND,
}  # fmt: skip
_DIGITS: Final = 19
"""Of the fraction of a duration: more do not fit into 64 bits."""
_HOURS: Final = {"d": 24, "w": 7 * 24, "y": 365 * 24}
_PART: Final = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h|d|w|y)", re.ASCII)
_MOST_YEARS: Final = 10_000


def _in_range(nanoseconds: int) -> int:
    if not _EARLIEST <= nanoseconds <= _LATEST:
        raise BuiltinError("time outside of valid range")
    return nanoseconds


def _now(evaluation: Evaluation) -> Term:
    return evaluation.clock()


def _parse_ns(layout: Term, value: Term) -> Term:
    written = text(layout)
    return _in_range(parsed(LAYOUTS.get(written, written), text(value)))


def _parse_rfc3339(value: Term) -> Term:
    return _in_range(parsed(LAYOUTS["RFC3339"], text(value)))


def _parse_duration(value: Term) -> Term:
    written = text(value)
    sign, rest = (-1 if written.startswith("-") else 1), written.removeprefix("-")
    if not written.startswith("-"):
        rest = written.removeprefix("+")
    if rest == "0":
        return 0
    parts = list(_PART.finditer(rest))
    if not parts or "".join(part[0] for part in parts) != rest:
        raise BuiltinError(f"{written} is not a duration")
    total = sign * sum(_nanoseconds(part[1], part[2]) for part in parts)
    if not _EARLIEST <= total <= _LATEST:
        raise BuiltinError(f"{written} is out of range")
    return total


def _nanoseconds(amount: str, unit: str) -> int:
    """One part of a duration. Go counts the whole exactly and the fraction as a float; OPA writes longer units as hours first."""
    if unit in _HOURS:
        amount, unit = f"{Decimal(repr(float(amount) * _HOURS[unit])):f}", "h"
    whole_part, _, fraction = amount.partition(".")
    fraction = fraction[:_DIGITS]
    if int(fraction or 0) > _LATEST:  # Go leaves out the digits that overflow
        fraction = fraction[:-1]
    share = float(fraction or 0) * (_UNIT[unit] / 10 ** len(fraction))
    return int(whole_part or 0) * _UNIT[unit] + int(share)


def _moment(value: Term) -> tuple[datetime, int, str]:
    """The moment in its zone, its nanoseconds below a second, and the layout: of a number, or an array of number, zone and layout."""
    zone = layout = ""
    if isinstance(value, list):
        if not value:
            raise BuiltinError("a time has at least its nanoseconds")
        zone = text(value[1]) if len(value) > 1 else ""
        layout = text(value[2]) if len(value) > 2 else ""  # noqa: PLR2004  number, zone, layout
        value = value[0]
    if isinstance(value, RegoLiteral):
        value = int(value) if value.is_integer() else value
    seconds, nanoseconds = divmod(_in_range(whole(value)), SECOND)
    return (_EPOCH + timedelta(seconds=seconds)).astimezone(_zone(zone)), nanoseconds, layout


def _zone(name: str) -> tzinfo:
    if name in {"", "UTC"}:
        return UTC
    if name == "Local":
        raise BuiltinError("the zone of the machine would not be replayed; name a zone")
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        raise BuiltinError(f"{name[:64]} is not a time zone") from None


def _format(value: Term) -> Term:
    moment, nanoseconds, layout = _moment(value)
    layout = layout or LAYOUTS["RFC3339Nano"]
    return limited(formatted(moment, nanoseconds, LAYOUTS.get(layout, layout)))


def _date(value: Term) -> Term:
    moment, _, _ = _moment(value)
    return [moment.year, moment.month, moment.day]


def _clock(value: Term) -> Term:
    moment, _, _ = _moment(value)
    return [moment.hour, moment.minute, moment.second]


def _weekday(value: Term) -> Term:
    moment, _, _ = _moment(value)
    return DAYS[moment.weekday()]


def _add_date(value: Term, years: Term, months: Term, days: Term) -> Term:
    """The moment so many years, months and days later on the wall clock; days that a month lacks go on into the next, as in Go."""
    moment, nanoseconds, _ = _moment(value)
    added, more, later = whole(years), whole(months), whole(days)
    if max(abs(added), abs(more) // 12, abs(later) // 366) > _MOST_YEARS:
        raise BuiltinError("time outside of valid range")
    year, month = divmod(moment.year * 12 + moment.month - 1 + added * 12 + more, 12)
    try:
        wall = moment.replace(tzinfo=None, year=year, month=month + 1, day=1)
        wall += timedelta(days=moment.day - 1 + later)
    except (ValueError, OverflowError):
        raise BuiltinError("time outside of valid range") from None
    since = _unfolded(wall, moment) - _EPOCH
    return _in_range((since.days * 86400 + since.seconds) * SECOND + nanoseconds)


def _unfolded(wall: datetime, moment: datetime) -> datetime:
    """The wall clock's time in the zone of a moment, in UTC."""
    return wall.replace(tzinfo=moment.tzinfo, fold=moment.fold).astimezone(UTC)


def _diff(one: Term, other: Term) -> Term:
    """The difference of two moments in years, months, days, hours, minutes and seconds, as OPA counts them."""
    first, _, _ = _moment(one)
    second = _moment(other)[0].astimezone(first.tzinfo)
    begin, end = sorted((first, second))
    parts = [
        end.year - begin.year, end.month - begin.month, end.day - begin.day,
        end.hour - begin.hour, end.minute - begin.minute, end.second - begin.second,
    ]  # fmt: skip
    for place, size in ((5, 60), (4, 60), (3, 24)):
        if parts[place] < 0:
            parts[place] += size
            parts[place - 1] -= 1
    if parts[2] < 0:
        following = datetime(begin.year, begin.month, 1, tzinfo=UTC) + timedelta(days=31)
        parts[2] += 32 - following.day
        parts[1] -= 1
    if parts[1] < 0:
        parts[1] += 12
        parts[0] -= 1
    return list(parts)


PLAIN: Final[Mapping[str, Callable[..., Term]]] = {
    "time.parse_ns": _parse_ns,
    "time.parse_rfc3339_ns": _parse_rfc3339,
    "time.parse_duration_ns": _parse_duration,
    "time.format": _format,
    "time.date": _date,
    "time.clock": _clock,
    "time.weekday": _weekday,
    "time.add_date": _add_date,
    "time.diff": _diff,
}
MEASURED: Final[Mapping[str, Callable[..., Term]]] = {"time.now_ns": _now}
