"""The bounds of a contract: the limits that each takes, the values that break it, and the nearest legal value."""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import re2

from gateway.core.model.contract import Bound
from gateway.core.model.equality import equal, number, written
from gateway.core.model.json import Json
from gateway.terraform.contracts.network import Unreadable, covers_world, network, networks, outside, ports_outside

LONGEST_VALUE = 4096
"""Characters of one value. A longer one matches no pattern."""
MOST_TEXT = 65_536
"""Characters of all values of one attribute together. More text matches no pattern."""

_LONGEST_PATTERN = 2000
_LARGEST_PROGRAM = 3000
_MEMORY = 1 << 20
"""Bytes for the compiled pattern. Linear time is no help where the pattern is compiled to a million steps."""


class NotAPattern(Exception):
    """The text is not a regular expression that Sentinel matches; the message is the reason, as a sentence's end."""


def check_pattern(pattern: str) -> None:
    """Raise `NotAPattern` if the text is not a regular expression, or one that is too large."""
    _compiled(pattern)


def matches_whole(pattern: str, value: str) -> bool:
    """Whether the whole value matches. Raises `NotAPattern`."""
    compiled = _compiled(pattern)
    if len(value) > LONGEST_VALUE:
        return False
    try:
        return compiled.fullmatch(value) is not None
    except UnicodeEncodeError:
        return False  # half of a surrogate pair is no text


@functools.lru_cache(maxsize=1024)
def _compiled(pattern: str) -> "re2._Regexp":
    if len(pattern) > _LONGEST_PATTERN:
        raise NotAPattern(f"a regular expression may have {_LONGEST_PATTERN} characters, not {len(pattern)}")
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True  # remembering groups would cost more than linear time
    options.max_mem = _MEMORY
    try:
        compiled: re2._Regexp = re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as error:
        raise NotAPattern("it is not a regular expression that can be matched in linear time (RE2)") from error
    if compiled.programsize > _LARGEST_PROGRAM:
        raise NotAPattern("the regular expression is too large; repeat less in it")
    return compiled


NAMES = ("min", "max", "max_step", "one_of", "matches", "cidr_within", "ports", "forbid_world", "max_items")
"""Every bound that an attribute may have."""
CONDITION = "condition"
"""The name of a bound that is an author's own condition, true or false."""

_NUMERIC = ("min", "max", "max_step")
_HIGHEST_PORT = 65535
_MAX_LISTED = 5
_MOST_COMPARED = 100
_COMPARED = 64
"""Characters of two texts that are compared to find the nearest one."""


def limit_problem(name: str, limit: Json) -> str:
    """Why `limit` cannot be the limit of the bound `name`, as a sentence's end; empty if it can."""
    return _LIMITS[name](limit)


def breach(bound: Bound, wanted: Json, before: Json, *, created: bool = False) -> str:
    """How the wanted value breaks the bound, as the middle of a sentence (`is over max = 16`); empty if it does not.

    `before` is the attribute's current value. Only `max_step` uses it, and a resource that is being `created` cannot break that bound.
    Every value breaks a bound whose limit could not be evaluated.
    """
    if bound.unknown:
        return f"cannot be judged, because {bound.name} cannot be evaluated: {bound.unknown}"
    if bound.name == CONDITION:
        return "" if bound.limit is True else "does not hold"
    if created and bound.name == "max_step":
        return ""
    try:
        return _BREACHES[bound.name](bound.limit, wanted, before)
    except Unreadable as error:
        return f"cannot be judged by {bound.name}, because {error}"


def nearest(bounds: Sequence[Bound], wanted: Json, before: Json, *, created: bool = False) -> Json:
    """The value nearest to the wanted one that is legal under all these bounds of one attribute; None if none is found."""

    def legal(value: Json) -> bool:
        return not any(breach(bound, value, before, created=created) for bound in bounds)

    choices = [choice for bound in bounds if bound.name == "one_of" for choice in _items(bound.limit)]
    if choices:
        fits = [choice for choice in choices if legal(choice)]
        if number(wanted) is None:
            # A distance of texts costs the product of their lengths, so only those are compared that are about as long.
            fits = sorted(fits, key=lambda choice: abs(len(str(choice)) - len(str(wanted))))[:_MOST_COMPARED]
        return min(fits, key=lambda choice: _distance(choice, wanted), default=None)
    return next((value for value in _clamped(bounds, wanted, before, created) if legal(value)), None)


def _clamped(bounds: Sequence[Bound], wanted: Json, before: Json, created: bool) -> list[Json]:
    """Candidates for the nearest value: the wanted number, clamped to the interval that the numeric bounds leave."""
    target, now = number(wanted), number(before)
    if target is None or any(bound.unknown for bound in bounds):
        return []
    limits = {name: [number(bound.limit) for bound in bounds if bound.name == name] for name in _NUMERIC}
    steps = [step for step in limits["max_step"] if step is not None and now is not None and not created]
    lows = [low for low in limits["min"] if low is not None] + [now - step for step in steps if now is not None]
    highs = [high for high in limits["max"] if high is not None] + [now + step for step in steps if now is not None]
    low, high = max(lows, default=None), min(highs, default=None)
    if target.denominator == 1 and (now is None or now.denominator == 1):
        low = None if low is None else Fraction(math.ceil(low))
        high = None if high is None else Fraction(math.floor(high))
    if low is not None:
        target = max(target, low)
    if high is not None:
        target = min(target, high)
    value = written(target, like=wanted)
    if not isinstance(value, float):
        return [value]
    # A float may be just outside the interval; then one of its neighbours is inside.
    return [value, math.nextafter(value, math.inf), math.nextafter(value, -math.inf)]


def _distance(choice: Json, wanted: Json) -> tuple[Fraction, str]:
    one, other = number(choice), number(wanted)
    if one is not None and other is not None:
        return abs(one - other), repr(choice)
    return Fraction(_edits(str(choice)[:_COMPARED], str(wanted)[:_COMPARED])), repr(choice)


def _edits(one: str, other: str) -> int:
    """Levenshtein distance."""
    row = list(range(len(other) + 1))
    for left in one:
        previous, row[0] = row[0], row[0] + 1
        for at, right in enumerate(other, start=1):
            previous, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, previous + (left != right))
    return row[-1]


def _items(value: Json) -> Sequence[Json]:
    if value is None:
        return ()
    return value if isinstance(value, Sequence) and not isinstance(value, str) else (value,)


# How a value breaks a bound -----------------------------------------------------------------------------------------


def _under_min(limit: Json, wanted: Json, _before: Json) -> str:
    return "" if _number(wanted) >= _number(limit) else f"is under min = {shown(limit)}"


def _over_max(limit: Json, wanted: Json, _before: Json) -> str:
    return "" if _number(wanted) <= _number(limit) else f"is over max = {shown(limit)}"


def _over_step(limit: Json, wanted: Json, before: Json) -> str:
    if before is None:
        raise Unreadable("the value before the change is not known")
    step = abs(_number(wanted) - _number(before))
    return "" if step <= _number(limit) else f"is more than max_step = {shown(limit)} away from {shown(before)}"


def _not_listed(limit: Json, wanted: Json, _before: Json) -> str:
    allowed = _items(limit)
    if any(equal(wanted, choice) for choice in allowed):
        return ""
    several = isinstance(wanted, Sequence) and not isinstance(wanted, str) and bool(wanted)
    if several and all(map(_membership(allowed), _items(wanted))):
        return ""
    return f"is not one of {shown(limit)}"


def _membership(allowed: Sequence[Json]) -> Callable[[Json], bool]:
    """Whether an item equals one of the choices. Texts and numbers, of which a call may hold many, cost one look each."""
    texts = frozenset(choice for choice in allowed if isinstance(choice, str))
    plain = [choice for choice in allowed if not isinstance(choice, str)]
    numbers = frozenset(number(choice) for choice in plain) - {None}
    every_number = frozenset(number(choice) for choice in allowed) - {None}
    bools = [choice for choice in plain if isinstance(choice, bool)]

    def is_one(item: Json) -> bool:
        if isinstance(item, str):
            return item in texts or number(item) in numbers or any(equal(item, choice) for choice in bools)
        if isinstance(item, int | float) and not isinstance(item, bool):
            return number(item) in every_number
        return any(equal(item, choice) for choice in allowed)

    return is_one


def _mismatch(limit: Json, wanted: Json, _before: Json) -> str:
    pattern = str(limit)
    values = _items(wanted) if isinstance(wanted, Sequence) and not isinstance(wanted, str) else (wanted,)
    texts = [value for value in values if isinstance(value, str)]
    if sum(map(len, texts)) > MOST_TEXT:
        return f"has more than the {MOST_TEXT} characters that are held against {shown(limit)}"
    fits = len(texts) == len(values) and all(matches_whole(pattern, value) for value in texts)
    return "" if fits else f"does not match {shown(limit)}"


def _outside(limit: Json, wanted: Json, _before: Json) -> str:
    found = outside(networks(wanted), [network(item) for item in _items(limit)])
    return f"opens {_listed(found)}, which lies outside cidr_within = {shown(limit)}" if found else ""


def _open_ports(limit: Json, wanted: Json, _before: Json) -> str:
    opened = ports_outside(wanted, (int(_number(port)) for port in _items(limit)))
    return f"opens {_listed(opened)}, beyond ports = {shown(limit)}" if opened else ""


def _open_world(limit: Json, wanted: Json, _before: Json) -> str:
    return (
        "is open to the whole Internet, which forbid_world forbids" if limit and covers_world(networks(wanted)) else ""
    )


def _too_many(limit: Json, wanted: Json, _before: Json) -> str:
    if wanted is not None and (isinstance(wanted, str) or not isinstance(wanted, Sequence | Mapping)):
        raise Unreadable(f"{shown(wanted)} is not a list")
    count = 0 if wanted is None else len(wanted)
    return "" if count <= _number(limit) else f"has {count} items, more than max_items = {shown(limit)}"


_BREACHES: Mapping[str, Callable[[Json, Json, Json], str]] = {
    "min": _under_min,
    "max": _over_max,
    "max_step": _over_step,
    "one_of": _not_listed,
    "matches": _mismatch,
    "cidr_within": _outside,
    "ports": _open_ports,
    "forbid_world": _open_world,
    "max_items": _too_many,
}


# The limits that a bound takes --------------------------------------------------------------------------------------


def _needs_number(limit: Json) -> str:
    return "" if number(limit) is not None and not isinstance(limit, str) else f"it takes a number, not {shown(limit)}"


def _needs_positive(limit: Json) -> str:
    return _needs_number(limit) or ("" if _number(limit) >= 0 else f"it cannot be negative, as {shown(limit)} is")


def _needs_count(limit: Json) -> str:
    return _needs_positive(limit) or ("" if _number(limit).denominator == 1 else "it takes a whole number")


def _needs_bool(limit: Json) -> str:
    return "" if isinstance(limit, bool) else f"it takes true or false, not {shown(limit)}"


def _needs_truth(limit: Json) -> str:
    return "" if isinstance(limit, bool) else "the condition is neither true nor false"


def _needs_choices(limit: Json) -> str:
    choices = isinstance(limit, Sequence) and not isinstance(limit, str)
    return "" if choices and limit else f"it takes a list with at least one value, not {shown(limit)}"


def _needs_pattern(limit: Json) -> str:
    if not isinstance(limit, str):
        return f"it takes a regular expression as text, not {shown(limit)}"
    try:
        check_pattern(limit)
    except NotAPattern as error:
        return f"{shown(limit)}: {error}"
    return ""


def _needs_networks(limit: Json) -> str:
    if problem := _needs_choices(limit):
        return problem.replace("value", "network in CIDR form")
    try:
        for item in _items(limit):
            network(item)
    except Unreadable as error:
        return str(error)
    return ""


def _needs_ports(limit: Json) -> str:
    if problem := _needs_choices(limit):
        return problem.replace("value", "port")
    for port in _items(limit):
        value = number(port)
        if value is None or isinstance(port, str) or value.denominator != 1 or not 0 <= value <= _HIGHEST_PORT:
            return f"{shown(port)} is not a port"
    return ""


_LIMITS: Mapping[str, Callable[[Json], str]] = {
    "min": _needs_number,
    "max": _needs_number,
    "max_step": _needs_positive,
    "one_of": _needs_choices,
    "matches": _needs_pattern,
    "cidr_within": _needs_networks,
    "ports": _needs_ports,
    "forbid_world": _needs_bool,
    "max_items": _needs_count,
    CONDITION: _needs_truth,
}


def _number(value: Json) -> Fraction:
    found = number(value)
    if found is None:
        raise Unreadable(f"{shown(value)} is not a number")
    return found


def _listed(items: Sequence[object]) -> str:
    text = ", ".join(str(item) for item in items[:_MAX_LISTED])
    return text if len(items) <= _MAX_LISTED else f"{text} and {len(items) - _MAX_LISTED} more"


def shown(value: Json) -> str:
    """A value in HCL syntax, cut to the length of a line; for sentences."""
    text = _hcl(value)
    return text if len(text) <= 100 else text[:97] + "…"  # noqa: PLR2004  a line's worth


def _hcl(value: Json) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_hcl(item)}" for key, item in value.items()) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(_hcl(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)
