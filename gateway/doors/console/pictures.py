"""Pictures drawn here, as shapes whose positions are numbers: the history of one attribute, what depends on a resource, and decisions by the hour."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from gateway.core.model.json import Json
from gateway.core.times import utc_cell
from gateway.doors.console.rendering import short, value_text

_LEFT, _RIGHT, _TOP, _BOTTOM = 90, 980, 20, 150
_LEAST_HOLDER: Final = 60
"""Width of a holder's bar from which its name fits into it."""
_MOST_VALUES: Final = 8
MOST_NODES: Final = 24
"""Resources in one column of the graph."""
_ROW: Final = 34


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
    return heights, tuple((heights[text], short(text, 10)) for text in texts[:lines])


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureNode:
    """A resource in the graph."""

    x: int
    y: int
    address: str
    label: str
    told: str
    critical: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DependencyPicture:
    """A resource and what depends on it, directly in the middle, indirectly on the right."""

    this: PictureNode
    nodes: tuple[PictureNode, ...]
    edges: tuple[str, ...]
    height: int
    left_out: int


def graph(address: str, dependants: Sequence[Mapping[str, Any]]) -> DependencyPicture:
    """The picture of what depends on a resource."""
    columns = [[each for each in dependants if each["direct"] is direct] for direct in (True, False)]
    shown = [column[:MOST_NODES] for column in columns]
    rows = max(1, *(len(column) for column in shown))
    nodes = tuple(
        _node(each, 360 + 330 * place, 10 + _ROW * row)
        for place, column in enumerate(shown)
        for row, each in enumerate(column)
    )
    height = 20 + _ROW * rows
    this = PictureNode(
        x=10, y=height // 2 - 13, address=address, label=short_address(address), told=address, critical=False
    )
    direct = nodes[: len(shown[0])]
    edges = [f"M310,{this.y + 13}C335,{this.y + 13} 335,{node.y + 13} {node.x},{node.y + 13}" for node in direct]
    middle = direct[len(direct) // 2].y + 13 if direct else this.y + 13
    edges += [f"M660,{middle}C675,{middle} 675,{node.y + 13} {node.x},{node.y + 13}" for node in nodes[len(direct) :]]
    return DependencyPicture(
        this=this, nodes=nodes, edges=tuple(edges), height=height, left_out=len(dependants) - len(nodes)
    )


def _node(each: Mapping[str, Any], x: int, y: int) -> PictureNode:
    how = "directly" if each["direct"] else "indirectly"
    critical = bool(each["critical"])
    told = f"{each['address']} depends on it {how}{', and is critical' if critical else ''}"
    return PictureNode(
        x=x, y=y, address=each["address"], label=short_address(each["address"]), told=told, critical=critical
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
