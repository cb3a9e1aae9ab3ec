"""The records for auditors, live: a row of who did what and why for each, filtered by the address."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.responses import Response

from gateway.core.model.motive import Intent, Motivation
from gateway.core.model.verdict import Verdict
from gateway.core.records.record import Stage
from gateway.doors.console.live import ROWS, LiveRows
from gateway.doors.console.pulse import Pulse
from gateway.doors.console.visit import Visit, rows_of

_RESOURCES: Final = 3
"""Resources that a row names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedRow:
    """One record in one line."""

    seq: int
    at: str
    stage: str
    actor: str
    kind: str
    motive: str
    what: str
    resources: tuple[str, ...]
    more: int
    """Resources that are not named."""
    result: str
    """The verdict, or what came of it."""
    mutation: str
    stack: str


def feed_row(record: Mapping[str, Any]) -> FeedRow:
    """The row of a record, as the API has it."""
    body = record["body"]
    resources = _resources(body)
    motive = body.get("motive") or {}
    return FeedRow(
        seq=record["seq"],
        at=record["at"],
        stage=record["stage"],
        actor=record["actor"],
        kind=str((body.get("caller") or {}).get("kind", "")),
        motive=" / ".join(str(motive[name]) for name in ("intent", "motivation") if motive.get(name)),
        what=_what(record["stage"], body),
        resources=tuple(resources[:_RESOURCES]),
        more=max(0, len(resources) - _RESOURCES),
        result=_result(record["stage"], body),
        mutation=record["mutation_id"],
        stack=record["stack"],
    )


def _resources(body: Mapping[str, Any]) -> Sequence[str]:
    listed = body.get("effects") or ([body] if body.get("address") else [])
    named = (
        f"{each['address']}.{each['attribute']}" if each.get("attribute") else str(each["address"]) for each in listed
    )
    return list(dict.fromkeys(named))


def _what(stage: str, body: Mapping[str, Any]) -> str:
    call = body.get("call") or {}
    if call.get("operation"):
        count = f", {body['count']} calls" if "count" in body else ""
        return f"{call['service']}:{call['operation']}{count}"
    return str(body.get("about") or body.get("reason") or body.get("key") or stage.replace("_", " "))


def _result(stage: str, body: Mapping[str, Any]) -> str:
    match stage:
        case Stage.DECIDED:
            return str((body.get("decision") or {}).get("verdict", ""))
        case Stage.SETTLED | Stage.DRIFT_SETTLED:
            return str(body.get("outcome", ""))
        case Stage.DRIFT_DECIDED:
            return str(body.get("action", ""))
        case Stage.PROPOSED | Stage.SIGNALLED | Stage.BREAKER:
            return str(body.get("state", ""))
        case _:
            return ""


_FREE: Final = ("actor", "resource", "key")
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "stage": tuple(Stage),
    "verdict": tuple(Verdict),
    "intent": tuple(Intent),
    "motivation": tuple(Motivation),
}
"""Filters with a list of words, and these words."""


class Feed:
    """The page and its stream."""

    def __init__(self, pulse: Pulse) -> None:
        self._live = LiveRows(pulse, filter_of, _draw)
        self.stream = self._live.stream

    async def page(self, visit: Visit) -> Response:
        """The records of the filter, newest first."""
        chosen = filter_of(visit.query)
        before = visit.query.get("before", "")
        found = await visit.api.get(
            "/records", **chosen, limit=ROWS + 1, before_seq=before if before.isdecimal() else ""
        )
        rows, last = rows_of([feed_row(record) for record in found["records"]], ROWS)
        drawn = visit.templates.text("feed_rows.html", rows=rows)
        newest = rows[0].seq if rows else 0
        live = not before and "pause" not in visit.query
        return visit.page(
            "feed.html",
            rows=Markup(drawn),  # noqa: S704  a template made it
            chosen=chosen,
            choices=CHOICES,
            here=urlencode(chosen),
            older=last.seq if last else 0,
            stream=self._live.address("/console/feed/stream", chosen, newest, drawn) if live else "",
            live=live,
        )


async def _draw(visit: Visit, chosen: Mapping[str, str]) -> str:
    found = await visit.api.get("/records", **chosen, limit=ROWS)
    return visit.templates.text("feed_rows.html", rows=[feed_row(record) for record in found["records"]])


def filter_of(query: Mapping[str, str]) -> dict[str, str]:
    """The members of the API's query that the address gives; a word outside its list counts as none."""
    words = {name: query.get(name, "") for name, known in CHOICES.items() if query.get(name, "") in known}
    free = {name: query[name][:512] for name in _FREE if query.get(name)}
    only = {name: "true" for name in ("refused", "no_evidence") if query.get(name) == "true"}
    return {**free, **{name: word for name, word in words.items() if word}, **only}
