"""The built-ins of numbers, units, semantic versions, and of what is random in OPA and follows from the decision here."""

import re
import uuid
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Final

from gateway.policy.builtins.evaluation import BuiltinError, Evaluation, TooMuch
from gateway.policy.builtins.operands import text, whole
from gateway.policy.rego_values import RegoLiteral, Term, to_text

_MOST_NUMBERS: Final = 100_000
_LARGEST_EXPONENT: Final = 400
"""Of ten. OPA has a larger limit; a number of this size counts nothing, and its digits cost memory."""
_MOST_EXPONENT_DIGITS: Final = 6
_SI: Final = {letter: 1000**power for power, letter in enumerate("kmgtpe", 1)}
_BINARY: Final = {f"{letter}i": 1024**power for power, letter in enumerate("kmgtpe", 1)}
_BYTES: Final = (
    {"": 1} | _SI | _BINARY | {f"{unit}b": size for unit, size in (_SI | _BINARY).items()}
)  # fmt: skip
_UNITS: Final = (
    {"": Fraction(1), "m": Fraction(0.001), "k": Fraction(1000), "M": Fraction(1000**2)}
    | {unit.upper(): Fraction(size) for unit, size in _SI.items() if unit != "m"}
    | {unit: Fraction(size) for unit, size in _SI.items() if unit != "m"}
    | {unit: Fraction(size) for unit, size in _BINARY.items()}
    | {unit.capitalize(): Fraction(size) for unit, size in _BINARY.items()}
)
_NUMBER: Final = re.compile(r"(?P<mantissa>[+-]?(?:\d+\.?\d*|\.\d+))(?:[eE](?P<exponent>[+-]?\d+))?", re.ASCII)
_VERSION: Final = re.compile(
    r"v?(?P<major>0|[1-9]\d*)\.(?P<minor>0|[1-9]\d*)\.(?P<patch>0|[1-9]\d*)"
    r"(?:-(?P<pre>[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?",
    re.ASCII,
)
_LARGEST_PART: Final = 2**63 - 1
_MAC_BITS: Final = {0: "global:unicast", 1: "global:multicast", 2: "local:unicast", 3: "local:multicast"}
_GREGORIAN: Final = 122192928000000000
"""100-nanosecond steps from 15 October 1582 to 1970."""


def _range_step(evaluation: Evaluation, first: Term, last: Term, step: Term) -> Term:
    begin, end, stride = whole(first), whole(last), whole(step)
    if stride <= 0:
        raise BuiltinError("the step must be positive")
    numbers = range(begin, end + 1, stride) if begin <= end else range(begin, end - 1, -stride)
    if abs(end - begin) // stride >= _MOST_NUMBERS:
        raise TooMuch(f"numbers.range_step would return more than {_MOST_NUMBERS} numbers")
    evaluation.step(len(numbers))
    return list(numbers)


def _rand_intn(evaluation: Evaluation, name: Term, below: Term) -> Term:
    limit = abs(whole(below))
    return int.from_bytes(evaluation.chance(f"rand.intn {text(name)} {limit}")) % limit if limit else 0


def _uuid(evaluation: Evaluation, name: Term) -> Term:
    return str(uuid.UUID(bytes=evaluation.chance(f"uuid {to_text(name)}")[:16], version=4))


def _uuid_parse(value: Term) -> Term:
    """The parts of a UUID, as google/uuid names them; undefined for any other text."""
    written = text(value)
    match len(written.encode()):
        case 36 | 32:
            plain = written
        case 45 if written[:9].lower() == "urn:uuid:":
            plain = written[9:]
        case 38:
            plain = written[1:-1]
        case _:
            raise BuiltinError("this is not a UUID")
    if not re.fullmatch(r"[0-9a-fA-F]{8}(-?)[0-9a-fA-F]{4}\1[0-9a-fA-F]{4}\1[0-9a-fA-F]{4}\1[0-9a-fA-F]{12}", plain):
        raise BuiltinError("this is not a UUID")
    parsed = uuid.UUID(plain)
    raw, version = parsed.bytes, parsed.bytes[6] >> 4
    found: dict[str, Term] = {"version": version, "variant": _variant(raw[8])}
    if version in (1, 2):
        found["nodeid"] = "-".join(f"{byte:02x}" for byte in raw[10:])
        found["macvariables"] = _MAC_BITS[raw[10] & 3]
        found["time"] = (parsed.time - _GREGORIAN) * 100
        found["clocksequence"] = int.from_bytes(raw[8:10]) & 0x3FFF
    if version == 2:  # noqa: PLR2004  DCE security
        domains = {0: "Person", 1: "Group", 2: "Org"}
        found["domain"] = domains.get(raw[9], f"Domain{raw[9]}")
        found["id"] = int.from_bytes(raw[:4])
    return found


def _variant(byte: int) -> str:
    if byte & 0xC0 == 0x80:  # noqa: PLR2004  the bits of RFC 4122
        return "RFC4122"
    if byte & 0xE0 == 0xC0:  # noqa: PLR2004
        return "Microsoft"
    return "Future" if byte & 0xE0 == 0xE0 else "Reserved"  # noqa: PLR2004


def _amount(written: str) -> tuple[Fraction, str]:
    """The number and the unit of a quantity, split as OPA splits them."""
    if " " in written:
        raise BuiltinError("a quantity has no spaces")
    cut = _end_of_number(written)
    match = _NUMBER.fullmatch(written[:cut])
    if match is None:
        raise BuiltinError("a quantity begins with a number")
    exponent = int(match["exponent"] or 0)
    if len((match["exponent"] or "").lstrip("+-")) > _MOST_EXPONENT_DIGITS:
        raise BuiltinError("exponent too large")
    if abs(exponent) > _LARGEST_EXPONENT:
        raise TooMuch("the exponent of a quantity is too large")
    return Fraction(match["mantissa"].rstrip(".")) * Fraction(10) ** exponent, written[cut:]


def _end_of_number(written: str) -> int:
    at = 0
    while at < len(written):
        character = written[at]
        if character in "eE":
            after = written[at + 1 : at + 2]
            if not (after.isdigit() or after in ("+", "-")) or not after:
                return at
            at += 1
        elif not (character.isdigit() or character in ".+-"):
            return at
        at += 1
    return len(written)


def _units_parse(value: Term) -> Term:
    amount, unit = _amount(text(value).replace('"', ""))
    factor = _UNITS.get(unit[:1] + unit[1:].lower())
    if factor is None:
        raise BuiltinError(f"unit {unit} not recognized")
    exact = amount * factor
    if exact.denominator == 1:
        return exact.numerator
    scaled = _rounded(exact * 10**10)
    sign, digits = "-" if scaled < 0 else "", f"{abs(scaled):011d}"
    return RegoLiteral(f"{sign}{digits[:-10]}.{digits[-10:]}")


def _rounded(value: Fraction) -> int:
    """To the nearest integer, halves away from zero, as Go's `FloatString` rounds."""
    doubled = 2 * abs(value)
    nearest = (doubled.numerator + doubled.denominator) // (2 * doubled.denominator)
    return nearest if value >= 0 else -nearest


def _parse_bytes(value: Term) -> Term:
    amount, unit = _amount(text(value).lower().replace('"', ""))
    factor = _BYTES.get(unit)
    if factor is None:
        raise BuiltinError(f"byte unit {unit} not recognized")
    return int(_of_64_bits(_of_64_bits(amount) * factor))


def _of_64_bits(value: Fraction) -> Fraction:
    """The nearest number with 64 significant bits, which OPA calculates with here."""
    if not value:
        return value
    size = abs(value.numerator).bit_length() - value.denominator.bit_length()
    for shift in (64 - size, 63 - size):
        scaled = round(value * Fraction(2) ** shift)
        if abs(scaled).bit_length() <= 64 or abs(scaled) == 1 << 64:  # noqa: PLR2004  bits
            return scaled / Fraction(2) ** shift
    return value


def _version(value: Term) -> tuple[tuple[int, int, int], str]:
    match = _VERSION.fullmatch(text(value))
    if match is None:
        raise BuiltinError("this is not a semantic version")
    numbers = int(match["major"]), int(match["minor"]), int(match["patch"])
    pre: str = match["pre"] or ""
    leading = any(len(part) > 1 and part[0] == "0" and part.isdecimal() for part in pre.split("."))
    if max(numbers) > _LARGEST_PART or leading:
        raise BuiltinError("this is not a semantic version")
    return numbers, pre


def _semver_compare(one: Term, other: Term) -> Term:
    (numbers, pre), (others, after) = _version(one), _version(other)
    if numbers != others:
        return 1 if numbers > others else -1
    if not pre or not after or pre == after:
        return (pre == "") - (after == "")
    mine, theirs = _ranks(pre), _ranks(after)
    return (mine > theirs) - (mine < theirs)


def _ranks(pre: str) -> list[tuple[int, int, str]]:
    """The identifiers of a pre-release in their order: numbers by value, before any text."""
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in pre.split(".")]


def _semver_is_valid(value: Term) -> Term:
    try:
        _version(value)
    except BuiltinError:
        return False
    return True


PLAIN: Final[Mapping[str, Callable[..., Term]]] = {
    "uuid.parse": _uuid_parse,
    "units.parse": _units_parse,
    "units.parse_bytes": _parse_bytes,
    "semver.compare": _semver_compare,
    "semver.is_valid": _semver_is_valid,
}
MEASURED: Final[Mapping[str, Callable[..., Term]]] = {
    "numbers.range_step": _range_step,
    "rand.intn": _rand_intn,
    "uuid.rfc4122": _uuid,
}
