"""Go's layouts of times (`Mon Jan 2 15:04:05 MST 2006`): a moment as text and a text as a moment, as Go's package `time` does it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from gateway.policy.builtins.evaluation import BuiltinError

SECOND: Final = 10**9
MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
LAYOUTS: Final[Mapping[str, str]] = {
    "ANSIC": "Mon Jan _2 15:04:05 2006",
    "UnixDate": "Mon Jan _2 15:04:05 MST 2006",
    "RubyDate": "Mon Jan 02 15:04:05 -0700 2006",
    "RFC822": "02 Jan 06 15:04 MST",
    "RFC822Z": "02 Jan 06 15:04 -0700",
    "RFC850": "Monday, 02-Jan-06 15:04:05 MST",
    "RFC1123": "Mon, 02 Jan 2006 15:04:05 MST",
    "RFC1123Z": "Mon, 02 Jan 2006 15:04:05 -0700",
    "RFC3339": "2006-01-02T15:04:05Z07:00",
    "RFC3339Nano": "2006-01-02T15:04:05.999999999Z07:00",
}
"""The layouts that OPA knows by name."""
_ELEMENT: Final = re.compile(
    r"January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|2006|_2006|__2|_2|002|0[1-6]|15|PM|pm|"
    r"Z070000|Z07:00:00|Z0700|Z07:00|Z07|-070000|-07:00:00|-0700|-07:00|-07|"
    r"[.,](?:0+|9+)(?![0-9])|[1-5]"
)
_ZONE: Final = re.compile(r"[A-Z]{3}T?|[A-Z]{5}|GMT[+-]\d{1,2}|ChST|MeST|[+-]\d\d", re.ASCII)
_YEAR_2000_FROM: Final = 69
_NOON: Final = 12


def _elements(layout: str) -> Iterator[tuple[str, str]]:
    """The text before each element of the layout, and the element; last the text behind all of them."""
    done = 0
    for match in _ELEMENT.finditer(layout):
        element, before = match[0], layout[done : match.start()]
        if element == "_2006":  # an underscore before a year
            element, before = "2006", before + "_"
        yield before, element
        done = match.end()
    yield layout[done:], ""


def formatted(moment: datetime, nanoseconds: int, layout: str) -> str:
    """The moment, whose part below a second is `nanoseconds`, in the layout."""
    parts: list[str] = []
    for before, element in _elements(layout):
        parts += [before, _shown(moment, nanoseconds, element)]
    return "".join(parts)


def _shown(moment: datetime, nanoseconds: int, element: str) -> str:
    if element[:1] in {".", ","} and len(element) > 1:
        digits = f"{nanoseconds:09d}"[: len(element) - 1].ljust(len(element) - 1, "0")
        digits = digits.rstrip("0") if element[1] == "9" else digits
        return element[0] + digits if digits else ""
    if element[:1] in {"Z", "-"}:
        return _offset_text(moment, element)
    hour = moment.hour % _NOON or _NOON
    shown: Mapping[str, str] = {
        "": "",
        "2006": f"{moment.year:04d}",
        "06": f"{moment.year % 100:02d}",
        "January": MONTHS[moment.month - 1],
        "Jan": MONTHS[moment.month - 1][:3],
        "01": f"{moment.month:02d}",
        "1": str(moment.month),
        "Monday": DAYS[moment.weekday()],
        "Mon": DAYS[moment.weekday()][:3],
        "02": f"{moment.day:02d}",
        "_2": f"{moment.day:2d}",
        "2": str(moment.day),
        "002": f"{moment.timetuple().tm_yday:03d}",
        "__2": f"{moment.timetuple().tm_yday:3d}",
        "15": f"{moment.hour:02d}",
        "03": f"{hour:02d}",
        "3": str(hour),
        "04": f"{moment.minute:02d}",
        "4": str(moment.minute),
        "05": f"{moment.second:02d}",
        "5": str(moment.second),
        "PM": "PM" if moment.hour >= _NOON else "AM",
        "pm": "pm" if moment.hour >= _NOON else "am",
        "MST": _zone_name(moment),
    }
    return shown[element]


def _zone_name(moment: datetime) -> str:
    name = moment.tzname() or ""
    return name if name and not name.startswith(("UTC+", "UTC-")) else _offset_text(moment, "-0700")


def _offset_text(moment: datetime, element: str) -> str:
    seconds = int((moment.utcoffset() or timedelta()).total_seconds())
    if element[0] == "Z" and not seconds:
        return "Z"
    sign, seconds = "-" if seconds < 0 else "+", abs(seconds)
    parts = [f"{seconds // 3600:02d}", f"{seconds // 60 % 60:02d}", f"{seconds % 60:02d}"]
    joint = ":" if ":" in element else ""
    return sign + joint.join(parts[: (len(element.replace(":", "")) - 1) // 2])


@dataclass(slots=True, kw_only=True)
class _Read:
    """What has been read of a time so far."""

    year: int = 0
    month: int = 0
    day: int = 0
    of_year: int = 0
    hour: int = 0
    minute: int = 0
    second: int = 0
    nanoseconds: int = 0
    afternoon: bool | None = None
    offset: timedelta | None = None
    seen: set[str] = field(default_factory=set)


def parsed(layout: str, value: str) -> int:
    """Nanoseconds since 1970 of a text in the layout. Raises `BuiltinError` if it is not in it."""
    read, at = _Read(), 0
    elements = list(_elements(layout))
    for number, (before, element) in enumerate(elements):
        at = _skip(value, at, before)
        at = _take(read, element, value, at)
        following = elements[number + 1][1] if number + 1 < len(elements) else ""
        if element in {"05", "5"} and value[at : at + 1] in {".", ","} and following[:1] not in {".", ","}:
            fraction = re.compile(r"[.,](\d+)", re.ASCII).match(value, at)
            if fraction:  # Go takes a fraction of a second that the layout does not name
                read.nanoseconds, at = _nanoseconds(fraction[1]), fraction.end()
    if at != len(value):
        raise BuiltinError("text after the time")
    return _moment(read)


def _skip(value: str, at: int, prefix: str) -> int:
    """Behind the text of the layout. A run of spaces stands for any number of them, also for none."""
    place = 0
    while place < len(prefix):
        if prefix[place] == " ":
            if at < len(value) and value[at] != " ":
                raise BuiltinError("a space is missing")
            place = len(prefix) - len(prefix[place:].lstrip(" "))
            at = len(value) - len(value[at:].lstrip(" "))
            continue
        if at >= len(value) or value[at] != prefix[place]:
            raise BuiltinError(f"{prefix!r} is missing")
        place, at = place + 1, at + 1
    return at


def _take(read: _Read, element: str, value: str, at: int) -> int:
    """Read one element at a place; returns the place behind it."""
    match element:
        case "":
            return at
        case "January" | "Jan":
            read.month, at = _name(value, at, MONTHS if element == "January" else tuple(m[:3] for m in MONTHS))
        case "Monday" | "Mon":
            _, at = _name(value, at, DAYS if element == "Monday" else tuple(day[:3] for day in DAYS))
        case "PM" | "pm":
            found = value[at : at + 2]
            if found not in (("PM", "AM") if element == "PM" else ("pm", "am")):
                raise BuiltinError("AM or PM is missing")
            read.afternoon, at = found.lower() == "pm", at + 2
        case "MST":
            at = _take_zone_name(read, value, at)
        case _ if element[0] in "Z-":
            at = _take_offset(read, element, value, at)
        case _ if element[0] in ".,":
            at = _take_fraction(read, element, value, at)
        case _:
            at = _take_number(read, element, value, at)
    return at


def _name(value: str, at: int, names: tuple[str, ...]) -> tuple[int, int]:
    for number, name in enumerate(names, 1):
        if value[at : at + len(name)].lower() == name.lower():
            return number, at + len(name)
    raise BuiltinError("a name is missing")


_WIDTHS: Final[Mapping[str, tuple[str, int, int]]] = {
    "2006": ("year", 4, 4), "06": ("short_year", 2, 2), "01": ("month", 2, 2), "1": ("month", 1, 2),
    "02": ("day", 1, 2), "2": ("day", 1, 2), "_2": ("day", 1, 2), "002": ("of_year", 3, 3), "__2": ("of_year", 1, 3),
    "15": ("hour", 1, 2), "03": ("twelve", 2, 2), "3": ("twelve", 1, 2), "04": ("minute", 2, 2), "4": ("minute", 1, 2),
    "05": ("second", 2, 2), "5": ("second", 1, 2),
}  # fmt: skip
"""What a numeric element is, and its least and most digits."""
_LIMITS: Final[Mapping[str, tuple[int, int]]] = {
    "month": (1, 12), "hour": (0, 23), "twelve": (0, 12), "minute": (0, 59), "second": (0, 59),
}  # fmt: skip


def _take_number(read: _Read, element: str, value: str, at: int) -> int:
    name, least, most = _WIDTHS[element]
    if element in {"_2", "__2"}:
        padded = len(value) - len(value[at:].lstrip(" "))
        most -= min(padded - at, len(element) - 1)
        at = min(padded, at + len(element) - 1)
    match = re.compile(rf"\d{{{least},{most}}}", re.ASCII).match(value, at)
    if match is None:
        raise BuiltinError("a number is missing")
    number = int(match[0])
    low, high = _LIMITS.get(name, (0, 9999))
    if not low <= number <= high:
        raise BuiltinError(f"{number} is out of range")
    if name == "short_year":
        name, number = "year", number + (1900 if number >= _YEAR_2000_FROM else 2000)
    setattr(read, "hour" if name == "twelve" else name, number)
    read.seen.add(name)
    return match.end()


def _take_fraction(read: _Read, element: str, value: str, at: int) -> int:
    optional = element[1] == "9"
    width = r"\d+" if optional else rf"\d{{{len(element) - 1}}}(?!\d)"
    match = re.compile(rf"[.,]({width})", re.ASCII).match(value, at)
    if match is None:
        if optional:
            return at
        raise BuiltinError("a fraction of a second is missing")
    read.nanoseconds = _nanoseconds(match[1])
    return match.end()


def _nanoseconds(digits: str) -> int:
    return int(digits[:9].ljust(9, "0"))


def _take_offset(read: _Read, element: str, value: str, at: int) -> int:
    if element[0] == "Z" and value[at : at + 1] == "Z":
        read.offset = timedelta()
        return at + 1
    joint = ":" if ":" in element else ""
    count = (len(element.replace(":", "")) - 1) // 2
    more = rf"{joint}(\d\d)" * (count - 1)
    match = re.compile(rf"([+-])(\d\d){more}", re.ASCII).match(value, at)
    if match is None:
        raise BuiltinError("an offset is missing")
    hours, minutes, seconds = (int(each) for each in (*match.groups()[1:], 0, 0)[:3])
    if hours > 24 or minutes > 60 or seconds > 60:  # noqa: PLR2004  Go's limits
        raise BuiltinError("the offset is out of range")
    offset = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    read.offset = -offset if match[1] == "-" else offset
    return match.end()


def _take_zone_name(read: _Read, value: str, at: int) -> int:
    """A zone's abbreviation. Go knows the offset of none but UTC and `GMT±h`; others are zones without an offset."""
    if value.startswith("UTC", at):
        read.offset = timedelta()
        return at + 3
    match = _ZONE.match(value, at)
    if match is None:
        raise BuiltinError("a time zone is missing")
    gmt = re.fullmatch(r"GMT([+-]\d+)", match[0])
    if read.offset is None:
        read.offset = timedelta(hours=int(gmt[1])) if gmt else timedelta()
    return match.end()


def _moment(read: _Read) -> int:
    if read.afternoon is not None:
        read.hour = read.hour % _NOON + _NOON * read.afternoon if read.hour <= _NOON else read.hour
    year, month, day = read.year, read.month or 1, read.day or 1
    if ("day" in read.seen and not read.day) or ("of_year" in read.seen and not read.of_year):
        raise BuiltinError("the day is out of range")
    try:
        # A Gregorian calendar has a period of 400 years, and Python has no year 0.
        shift = 400 if year == 0 else 0
        start = datetime(year + shift, month, day, read.hour, read.minute, read.second, tzinfo=UTC)
        if read.of_year:
            start = start.replace(month=1, day=1) + timedelta(days=read.of_year - 1)
            if start.year != year + shift:
                raise BuiltinError("the day of the year is out of range")
    except ValueError as error:
        raise BuiltinError(str(error)) from None
    since = start - datetime(1970, 1, 1, tzinfo=UTC) - (read.offset or timedelta())
    whole = since.days * 86400 + since.seconds - shift // 400 * 146097 * 86400
    return whole * SECOND + read.nanoseconds
