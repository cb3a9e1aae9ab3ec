"""The page of changes: a row for each mutation in plain words, with its reason, its verdict and how far it has come; bulk changes are one group."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from typing import Any, Final
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.responses import Response

from gateway.core.model.motive import Intent, Motivation
from gateway.core.model.verdict import Verdict
from gateway.core.times import utc_text
from gateway.doors.console.api_client import ApiProblem
from gateway.doors.console.live import LiveRows
from gateway.doors.console.pulse import Pulse
from gateway.doors.console.visit import Visit

SPANS: Final[Mapping[str, timedelta]] = {
    "1h": timedelta(hours=1),
    "24h": timedelta(hours=24),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
}
"""How far back the list goes, by the word in the address; without one, to the beginning."""
_FREE: Final = ("q", "actor", "resource", "plan")
_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "verdict": tuple(Verdict),
    "intent": tuple(Intent),
    "motivation": tuple(Motivation),
    "span": tuple(SPANS),
}
_LEAST_GROUP: Final = 4
"""Rows in a row by one actor, for one motive and with one result, from which they are shown as one."""
_ALIKE: Final = ("actor", "kind", "stack", "intent", "motivation", "verdict", "state", "mode")

_ROWS: Final = 26
"""Rows of a page: with them a first visit loads less than 100 KB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeGroup:
    """Changes that are shown as one: those of one actor, one after the other, that all passed or were all refused alike.

    What waits for a person always stands alone.
    """

    rows: tuple[Mapping[str, Any], ...]
    resources: int

    @property
    def newest(self) -> Mapping[str, Any]:
        """The newest of them, which stands for all in what they have in common."""
        return self.rows[0]


class Changes:
    """The page and its stream."""

    def __init__(self, pulse: Pulse) -> None:
        self._pulse = pulse
        self._live = LiveRows(pulse, filter_of, _draw)
        self.stream = self._live.stream

    async def page(self, visit: Visit) -> Response:
        """The mutations of the filter, newest first."""
        chosen = filter_of(visit.query)
        before, newest = visit.query.get("before", ""), await self._pulse.newest()
        found = await _asked(visit, chosen, before if before.isdecimal() else "")
        drawn = drawn_rows(visit, found["mutations"])
        live = not before and "pause" not in visit.query
        return visit.page(
            "changes.html",
            rows=Markup(drawn),  # noqa: S704  a template made it
            chosen=chosen,
            chips=_chips(chosen, await counts_of(visit) if chosen.keys() <= {"verdict", "span"} else None),
            words=_WORDS,
            here=urlencode(chosen),
            older=found["next_before_seq"],
            stream=self._live.address("/console/changes/stream", chosen, newest, drawn) if live else "",
            live=live,
        )


def filter_of(query: Mapping[str, str]) -> dict[str, str]:
    """What the address asks for; a word outside its list counts as none."""
    words = {name: query[name] for name, known in _WORDS.items() if query.get(name) in known}
    return {**{name: query[name][:200] for name in _FREE if query.get(name)}, **words}


def grouped(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any] | ChangeGroup]:
    """The rows, with those in a row that all passed alike, or were all refused for one reason, as one group."""
    return [each for _, alike in groupby(rows, key=_kind) for each in _group(list(alike))]


def _kind(row: Mapping[str, Any]) -> tuple[str, ...]:
    """What rows of one group have in common: of refused ones also the rule, what they are about, and the call."""
    refused = (str(row["rule"]), str(row["addresses"]), str(row["call"])) if row["verdict"] != Verdict.ALLOW else ()
    return (*(str(row[name]) for name in _ALIKE), *refused)


def _group(alike: list[Mapping[str, Any]]) -> Iterator[Mapping[str, Any] | ChangeGroup]:
    if len(alike) < _LEAST_GROUP or alike[0]["verdict"] == Verdict.HOLD:
        yield from alike
        return
    addresses = {address for row in alike for address in row["addresses"]}
    yield ChangeGroup(rows=tuple(alike), resources=len(addresses))


async def counts_of(visit: Visit) -> Mapping[str, int] | None:
    """How many calls of the last day got each verdict; None for those who may not see how much others do."""
    try:
        found = await visit.api.get("/activity", hours=24)
    except ApiProblem:
        return None
    counts: dict[str, int] = {}
    for hour in found["hours"]:
        for verdict, count in hour["counts"].items():
            counts[verdict] = counts.get(verdict, 0) + count
    return counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """A filter that is one press away."""

    text: str
    query: str
    """The address with it, or without it if it is chosen."""
    chosen: bool
    count: int | None


def _chips(chosen: Mapping[str, str], counts: Mapping[str, int] | None) -> list[Chip]:
    texts = {Verdict.ALLOW: "allowed", Verdict.HOLD: "held", Verdict.DENY: "denied"}
    return [
        _chip(chosen, "verdict", verdict.value, text, None if counts is None else counts.get(verdict.value, 0))
        for verdict, text in texts.items()
    ]


def _chip(chosen: Mapping[str, str], name: str, value: str, text: str, count: int | None) -> Chip:
    is_chosen = chosen.get(name) == value
    others = {each: given for each, given in chosen.items() if each != name}
    query = urlencode(others if is_chosen else {**others, name: value})
    return Chip(text=text, query=query, chosen=is_chosen, count=count)


async def _asked(visit: Visit, chosen: Mapping[str, str], before: str = "") -> dict[str, Any]:
    span = SPANS.get(chosen.get("span", ""))
    since = utc_text(visit.clock.now() - span) if span else ""
    query = {name: value for name, value in chosen.items() if name != "span"}
    return await visit.api.get("/mutations", **query, since=since, before_seq=before, limit=_ROWS)


def drawn_rows(visit: Visit, rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as HTML, in groups."""
    return visit.templates.text("change_rows.html", groups=grouped(rows), now=visit.clock.now())


async def _draw(visit: Visit, chosen: Mapping[str, str]) -> str:
    return drawn_rows(visit, (await _asked(visit, chosen))["mutations"])
