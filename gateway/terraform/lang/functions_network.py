"""Terraform's functions of IP addresses and of time stamps."""

import ipaddress
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

from gateway.terraform.lang.values import EvaluationFailed, ListOf, Unknown, Value, decimal, text

_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def _network(value: Value) -> _Network:
    try:
        return ipaddress.ip_network(text(value), strict=False)
    except ValueError:
        if re.search(r"(?:^|\.)0\d", text(value)):
            raise Unknown("addresses with leading zeros are not read") from None
        raise EvaluationFailed(f"{text(value)} is not a network in CIDR notation") from None


def _prefix(value: Value) -> _Network:
    if "/" not in text(value):
        raise EvaluationFailed(f"{text(value)} is not a network in CIDR notation")
    return _network(value)


def _whole(value: Value) -> int:
    exact = decimal(value)
    if exact != int(exact):
        raise EvaluationFailed("a whole number is needed")
    return int(exact)


def _cidrhost(prefix: Value, host: Value) -> str:
    network, number = _prefix(prefix), _whole(host)
    if not -network.num_addresses <= number < network.num_addresses:
        raise EvaluationFailed(f"{network} has no host number {number}")
    return str(network[number])


def _cidrnetmask(prefix: Value) -> str:
    network = _prefix(prefix)
    if network.version != 4:  # noqa: PLR2004  IPv4
        raise EvaluationFailed("only IPv4 networks have a netmask")
    return str(network.netmask)


def _subnet(network: _Network, bits: int, number: int) -> _Network:
    length = network.prefixlen + bits
    if bits < 0:
        raise Unknown("cidrsubnet() with fewer bits is a network above")
    if length > network.max_prefixlen or not 0 <= number < 1 << bits:
        raise EvaluationFailed(f"{network} has no subnet number {number} of {bits} more bits")
    first = int(network.network_address) + (number << (network.max_prefixlen - length))
    return type(network)((first, length))


def _cidrsubnet(prefix: Value, bits: Value, number: Value) -> str:
    return str(_subnet(_prefix(prefix), _whole(bits), _whole(number)))


def _cidrsubnets(prefix: Value, *bits: Value) -> Value:
    network = _prefix(prefix)
    following = int(network.network_address)
    found: list[Value] = []
    for each in bits:
        more = _whole(each)
        length = network.prefixlen + more
        if more < 1 or length > network.max_prefixlen:
            raise EvaluationFailed(f"{network} cannot be extended by {more} bits")
        size = 1 << (network.max_prefixlen - length)
        first = -(-following // size) * size
        if first + size > int(network.network_address) + network.num_addresses:
            raise EvaluationFailed(f"{network} is too small for these subnets")
        found.append(str(type(network)((first, length))))
        following = first + size
    return ListOf(found)


# ---------------------------------------------------------------------------------------------------- time

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


FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    "cidrhost": _cidrhost,
    "cidrnetmask": _cidrnetmask,
    "cidrsubnet": _cidrsubnet,
    "cidrsubnets": _cidrsubnets,
    "formatdate": _formatdate,
    "timeadd": _timeadd,
    "timecmp": _timecmp,
}
