"""Pictures drawn here, as shapes whose positions are numbers: the history of one attribute, what depends on a resource, and decisions by the hour."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from gateway.core.model.json import Json
from gateway.core.times import utc_cell
from gateway.doors.console.rendering import brief, short, value_text

_LEFT, _RIGHT, _TOP, _BOTTOM = 90, 980, 20, 150
_LEAST_HOLDER: Final = 60
"""Width of a holder's bar from which its name fits into it."""
_MOST_VALUES: Final = 8
MOST_NODES: Final = 24
"""Resources in one column of the graph."""
_ROW: Final = 34
_GRAPH_NODE: Final = 300
_GRAPH_COLUMN: Final = 330
_LEAST_GRAPH: Final = 1000
"""Width of the picture from which it is drawn no larger."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineStep:
    """One change of the attribute: from `x` to `end` it had this value."""

    x: float
    end: float
    y: float
    value: str
    actor: str
    told: str
    """All of it in a sentence, which a pointer and a screen reader show."""
    named: bool
    """Whether the name of the actor fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """The history of one attribute."""

    path: str
    steps: tuple[TimelineStep, ...]
    ticks: tuple[tuple[float, str], ...]
    """Values on the left: height and text."""
    first: str
    last: str


def timeline(history: Sequence[Mapping[str, Any]], attribute: str, now: datetime) -> Timeline | None:
    """The picture of an attribute's history, newest entry first as the API lists it; None without a change of it."""
    points = [
        (datetime.fromisoformat(entry["at"]), change, entry)
        for entry in reversed(history)
        for change in entry["changes"]
        if change["attribute"] == attribute
    ]
    if not points:
        return None
    start, span = points[0][0], max((now - points[0][0]).total_seconds(), 1.0)
    heights, ticks = _scale([change["value"] for _, change, _ in points] + [points[0][1]["before"]])
    xs = [_LEFT + (_RIGHT - _LEFT) * (at - start).total_seconds() / span for at, _, _ in points]
    steps = tuple(
        _step(x, end, heights[value_text(change["value"])], change, entry)
        for x, end, (_, change, entry) in zip(xs, [*xs[1:], _RIGHT], points, strict=True)
    )
    before = heights[value_text(points[0][1]["before"])]
    lines = "".join(f"V{step.y:.1f}H{step.end:.1f}" for step in steps)
    times = (f"{at:%Y-%m-%d %H:%M}" for at in (start, now))
    return Timeline(
        path=f"M{_LEFT - 10},{before:.1f}H{steps[0].x:.1f}{lines}",
        steps=steps,
        ticks=ticks,
        first=next(times),
        last=next(times),
    )


def _step(x: float, end: float, y: float, change: Mapping[str, Any], entry: Mapping[str, Any]) -> TimelineStep:
    motive = entry["motive"] or {}
    why = f" for {motive['intent']} / {motive['motivation']}" if motive.get("intent") else ""
    value = short(value_text(change["value"]), 40)
    told = f"{utc_cell(entry['at'])} UTC: {entry['actor']} set {value}{why} ({entry['outcome']})"
    return TimelineStep(x=x, end=end, y=y, value=value, actor=entry["actor"], told=told, named=end - x >= _LEAST_HOLDER)


def _scale(values: Sequence[Json]) -> tuple[dict[str, float], tuple[tuple[float, str], ...]]:
    """The height of each value, and what is written on the left. Numbers have a scale; other values a line each."""
    texts = list(dict.fromkeys(value_text(value) for value in values))
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    if numbers and all(value is None or value in numbers for value in values):
        low, high = min(numbers), max(numbers)
        span = (high - low) or 1
        heights = {value_text(value): _BOTTOM - (_BOTTOM - _TOP) * (value - low) / span for value in numbers}
        ends = dict.fromkeys((low, high))
        return {value_text(None): float(_BOTTOM), **heights}, tuple(
            (heights[value_text(end)], value_text(end)) for end in ends
        )
    lines = min(len(texts), _MOST_VALUES)
    gap = (_BOTTOM - _TOP) / max(lines - 1, 1)
    heights = {text: _BOTTOM - gap * min(index, lines - 1) for index, text in enumerate(texts)}
    return heights, tuple((heights[text], brief(" ".join(text.split()), 10)) for text in texts[:lines])


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureNode:
    """A resource in the graph."""

    x: int
    y: int
    address: str
    label: str
    told: str
    critical: bool = False
    this: bool = False
    """Whether the picture is about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DependencyPicture:
    """Resources with what they need on the left, and what depends on them on the right: directly, then indirectly."""

    nodes: tuple[PictureNode, ...]
    edges: tuple[str, ...]
    width: int
    height: int
    left_out: int

    @property
    def others(self) -> int:
        """Resources besides those that the picture is about."""
        return sum(not node.this for node in self.nodes)


def graph(known: Sequence[Mapping[str, Any]]) -> DependencyPicture:
    """The picture of these resources, from what the API knows of each (`address`, `needs`, `dependants`)."""
    own = [str(each["address"]) for each in known]
    needs = list(dict.fromkeys(need for each in known for need in each["needs"] if need not in own))
    dependants = {each["address"]: each for one in reversed(known) for each in one["dependants"] if each["address"] not in own}  # fmt: skip
    direct = {each["address"] for one in known for each in one["dependants"] if each["direct"]}
    columns = [needs, own, [name for name in dependants if name in direct], [name for name in dependants if name not in direct]]  # fmt: skip
    shown = [column[:MOST_NODES] for column in columns]
    height = 20 + _ROW * max(len(column) for column in shown)
    places: dict[str, tuple[int, int]] = {}
    x = 10
    for number, column in enumerate(shown):
        top = (height - _ROW * len(column)) // 2 if number == 1 else 10
        places |= {name: (x, top + _ROW * row) for row, name in enumerate(column)}
        x += _GRAPH_COLUMN if column else 0
    edges = [
        _line(places[one], places[other])
        for each in known
        for one, other in [
            *((need, each["address"]) for need in each["needs"]),
            *((each["address"], other["address"]) for other in each["dependants"] if other["direct"]),
        ]
        if one in places and other in places and one != other
    ]
    between = shown[2] or shown[1]
    edges += [_line(places[between[len(between) // 2]], places[name]) for name in shown[3] if between]
    nodes = [_node(name, places[name], "they need it" if len(own) > 1 else "it needs this") for name in shown[0]]
    nodes += [PictureNode(x=places[name][0], y=places[name][1], address=name, label=short_address(name), told=name, this=True) for name in shown[1]]  # fmt: skip
    nodes += [
        _node(
            name,
            places[name],
            f"depends on it {'directly' if name in direct else 'indirectly'}",
            critical=bool(dependants[name]["critical"]),
        )
        for name in [*shown[2], *shown[3]]
    ]
    return DependencyPicture(
        nodes=tuple(nodes),
        edges=tuple(edges),
        width=max(x - 20, _LEAST_GRAPH),
        height=height,
        left_out=sum(map(len, columns)) - len(nodes),
    )


def _line(one: tuple[int, int], other: tuple[int, int]) -> str:
    """From the right side of what is needed to the left side of what needs it."""
    x1, y1, x2, y2 = one[0] + _GRAPH_NODE, one[1] + 13, other[0], other[1] + 13
    if x2 <= x1:  # both stand in one column
        x1, x2 = one[0] + _GRAPH_NODE, other[0] + _GRAPH_NODE
        return f"M{x1},{y1}C{x1 + 25},{y1} {x2 + 25},{y2} {x2},{y2}"
    return f"M{x1},{y1}C{x1 + 25},{y1} {x2 - 25},{y2} {x2},{y2}"


def _node(address: str, place: tuple[int, int], how: str, *, critical: bool = False) -> PictureNode:
    told = f"{address}: {how}{', and is critical' if critical else ''}"
    return PictureNode(
        x=place[0], y=place[1], address=address, label=short_address(address), told=told, critical=critical
    )


def short_address(address: str) -> str:
    """The end of an address, which tells resources apart, as much as fits into a box."""
    most = 40
    return address if len(address) <= most else f"…{address[-most + 1 :]}"


_DAY_WIDTH: Final = 1000
_DAY_HEIGHT: Final = 90
_BY_VERDICT: Final = ("allow", "hold", "deny")


@dataclass(frozen=True, slots=True, kw_only=True)
class HourBar:
    """The decisions of one verdict in one hour."""

    x: float
    y: float
    width: float
    height: float
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DayPicture:
    """Decisions by hour and verdict, stacked."""

    bars: tuple[HourBar, ...]
    hours: tuple[tuple[float, float, str], ...]
    """Of each hour: where it begins, its width, and what it says in words."""
    most: int
    """Decisions in the busiest hour."""
    totals: Mapping[str, int]
    """By verdict."""


def day_picture(hours: Sequence[Mapping[str, Any]]) -> DayPicture:
    """The picture of decisions, an hour each, oldest first, as the API counts them."""
    width = _DAY_WIDTH / max(len(hours), 1)
    most = max((sum(hour["counts"].values()) for hour in hours), default=0)
    bars: list[HourBar] = []
    told: list[tuple[float, float, str]] = []
    totals = dict.fromkeys(_BY_VERDICT, 0)
    for place, hour in enumerate(hours):
        y = float(_DAY_HEIGHT)
        for verdict in _BY_VERDICT:
            count = hour["counts"].get(verdict, 0)
            totals[verdict] += count
            if count:
                # One of many is still seen.
                height = max(_DAY_HEIGHT * count / most, 2.0)
                y -= height
                bars.append(HourBar(x=place * width + 1, y=y, width=width - 2, height=height, verdict=verdict))
        begin = datetime.fromisoformat(hour["start"])
        said = ", ".join(f"{hour['counts'].get(verdict, 0)} {word}" for verdict, word in _VERDICT_WORDS.items())
        told.append((place * width, width, f"{begin:%H:%M}: {said}"))
    return DayPicture(bars=tuple(bars), hours=tuple(told), most=most, totals=totals)


_VERDICT_WORDS: Final = {"allow": "allowed", "hold": "held", "deny": "denied"}


_MOST_LANES: Final = 8
_LANE: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One actor in a contest."""

    y: int
    actor: str
    held: tuple[tuple[float, float], ...]
    """From where to where it held the attribute."""
    wished: tuple[tuple[float, str, str], ...]
    """Where it asked for the attribute, with which verdict, and the time in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestPicture:
    """Who held an attribute and who asked for it, on one time axis."""

    lanes: tuple[Lane, ...]
    height: int
    first: str
    last: str
    left_out: int
    """Actors without a lane."""


def contest_picture(
    *, held: Sequence[tuple[str, datetime, datetime]], wished: Sequence[tuple[str, datetime, str]], now: datetime
) -> ContestPicture:
    """The picture of a contest: from when to when each actor held the attribute, and when who asked for it with which verdict."""
    actors = list(dict.fromkeys([*(actor for actor, *_ in wished), *(actor for actor, *_ in held)]))
    start = min((*(since for _, since, _ in held), *(at for _, at, _ in wished)), default=now)
    span = max((now - start).total_seconds(), 1.0)

    def x(at: datetime) -> float:
        return _LEFT + (_RIGHT - _LEFT) * min(max((at - start).total_seconds() / span, 0.0), 1.0)

    lanes = tuple(
        Lane(
            y=10 + _LANE * place,
            actor=actor,
            held=tuple(dict.fromkeys((x(since), x(until)) for who, since, until in held if who == actor)),
            wished=tuple((x(at), verdict, utc_cell(at.isoformat())) for who, at, verdict in wished if who == actor),
        )
        for place, actor in enumerate(actors[:_MOST_LANES])
    )
    return ContestPicture(
        lanes=lanes,
        height=34 + _LANE * len(lanes),
        first=f"{start:%Y-%m-%d %H:%M}",
        last=f"{now:%Y-%m-%d %H:%M}",
        left_out=len(actors) - len(lanes),
    )


_MOST_CLAIM_LANES: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimBar:
    """One claim on its attribute's line."""

    x: float
    width: float
    actor: str
    standing: bool
    mutation_id: str
    told: str
    """All of it in a sentence."""
    named: bool
    """Whether the name of the actor fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimLane:
    """The claims on one attribute."""

    y: int
    attribute: str
    bars: tuple[ClaimBar, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimsPicture:
    """Who held which attribute of a resource, from when to when, on one time axis; what lies ahead is on it too."""

    lanes: tuple[ClaimLane, ...]
    height: int
    now: float
    first: str
    last: str
    left_out: int
    """Attributes without a line."""


def claims_picture(claims: Sequence[Mapping[str, Any]], now: datetime) -> ClaimsPicture | None:
    """The picture of claims as the API lists them; None without any. A claim without an end reaches to the right side."""
    if not claims:
        return None
    spans = {each["id"]: _span(each, now) for each in claims}
    start = min(since for since, _ in spans.values())
    end = max(now, *(until for _, until in spans.values()))
    length = max((end - start).total_seconds(), 1.0)

    def x(at: datetime) -> float:
        return _CLAIMS_LEFT + (_RIGHT - _CLAIMS_LEFT) * (at - start).total_seconds() / length

    attributes = list(dict.fromkeys(str(each["attribute"]) for each in claims))
    lanes = tuple(
        ClaimLane(
            y=10 + _LANE * place,
            attribute=attribute,
            bars=tuple(
                _bar(each, x(spans[each["id"]][0]), _RIGHT if _is_endless(each) else x(spans[each["id"]][1]))
                for each in claims
                if each["attribute"] == attribute
            ),
        )
        for place, attribute in enumerate(attributes[:_MOST_CLAIM_LANES])
    )
    return ClaimsPicture(
        lanes=lanes,
        height=34 + _LANE * len(lanes),
        now=x(now),
        first=f"{start:%Y-%m-%d %H:%M}",
        last=f"{end:%Y-%m-%d %H:%M}",
        left_out=len(attributes) - len(lanes),
    )


_CLAIMS_LEFT: Final = 190


def _is_endless(claim: Mapping[str, Any]) -> bool:
    return not claim["ended_at"] and not claim["until"]


def _span(claim: Mapping[str, Any], now: datetime) -> tuple[datetime, datetime]:
    since = datetime.fromisoformat(claim["since"])
    until = claim["ended_at"] or claim["until"]
    return since, max(datetime.fromisoformat(until) if until else now, since)


def _bar(claim: Mapping[str, Any], x: float, end: float) -> ClaimBar:
    until = claim["ended_at"] or claim["until"]
    ends = f"to {utc_cell(until)} UTC" if until else "until it is released or superseded"
    value = short(value_text(claim["value"]), 60)
    told = f"{claim['actor']} held {claim['attribute']} at {value} from {utc_cell(claim['since'])} {ends}"
    standing = not claim["ended_at"]
    width = max(end - x, 2.0)
    return ClaimBar(
        x=x,
        width=width,
        actor=str(claim["actor"]),
        standing=standing,
        mutation_id=str(claim["mutation_id"]),
        told=told if not standing else told.replace(" held ", " holds ", 1),
        named=width >= _LEAST_HOLDER,
    )
