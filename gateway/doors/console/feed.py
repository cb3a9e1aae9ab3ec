"""The live feed: the newest records as rows of who did what and why, filtered by the address; new ones come by a stream."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode

from fastapi.sse import format_sse_event
from starlette.responses import Response, StreamingResponse

from gateway.core.errors import SentinelError
from gateway.core.model.motive import Intent, Motivation
from gateway.core.model.verdict import Verdict
from gateway.core.records.record import Stage
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


ROWS: Final = 50
"""Records on a page, and in each message of the stream."""
_FREE: Final = ("actor", "resource", "key")
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "stage": tuple(Stage),
    "verdict": tuple(Verdict),
    "intent": tuple(Intent),
    "motivation": tuple(Motivation),
}
"""Filters with a list of words, and these words."""


@dataclass(slots=True)
class Feed:
    """The page and its stream."""

    pulse: Pulse
    _drawn: dict[tuple[str, str], tuple[int, int, str]] = field(default_factory=dict)
    """The last message, by visitor and filter: visitors with the same feed share the work."""

    async def page(self, visit: Visit) -> Response:
        """The records of the filter, newest first."""
        chosen = filter_of(visit.query)
        before = visit.query.get("before", "")
        found = await visit.api.get(
            "/records", **chosen, limit=ROWS + 1, before_seq=before if before.isdecimal() else ""
        )
        rows, last = rows_of([feed_row(record) for record in found["records"]], ROWS)
        newest = rows[0].seq if rows else 0
        live = not before and "pause" not in visit.query
        return visit.page(
            "feed.html",
            rows=rows,
            chosen=chosen,
            choices=CHOICES,
            here=urlencode(chosen),
            older=last.seq if last else 0,
            stream=urlencode({**chosen, "after": newest}) if live else "",
            live=live,
        )

    async def stream(self, visit: Visit) -> Response:
        """The same, again whenever there are new records, four times a second at most."""
        self.pulse.require_room(visit.caller.actor)
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(self._messages(visit), media_type="text/event-stream", headers=headers)

    async def _messages(self, visit: Visit) -> AsyncIterator[bytes]:
        chosen = filter_of(visit.query)
        given = visit.query.get("after", "")
        start = int(given) if given.isdecimal() and len(given) < 19 else 0  # noqa: PLR2004  digits of the largest number
        shown = start
        yield b": open\n\n"
        async for last in self.pulse.beats(visit.caller.actor, start):
            if not await visit.still_in():
                return
            if not last:
                yield b": ping\n\n"
                continue
            try:
                newest, rows = await self._rows(visit, chosen, last)
            except SentinelError:
                return  # the browser asks again, and is told then
            values = {
                "rows": rows if newest > shown else "",
                "told": visit.caller.sees_all,
                "last": last,
                "more": last - start,
            }
            shown = max(shown, newest)
            yield format_sse_event(data_str=visit.templates.text("feed_message.html", **values), id=str(last))

    async def _rows(self, visit: Visit, chosen: Mapping[str, str], last: int) -> tuple[int, str]:
        """The number of the newest record that the filter lets through, and the rows."""
        whose = "" if visit.caller.sees_all else visit.caller.actor
        name = (whose, urlencode(chosen))
        kept = self._drawn.get(name)
        if kept is None or kept[0] < last:
            found = await visit.api.get("/records", **chosen, limit=ROWS)
            rows = [feed_row(record) for record in found["records"]]
            kept = (last, rows[0].seq if rows else 0, visit.templates.text("feed_rows.html", rows=rows))
            if len(self._drawn) > ROWS:
                self._drawn.clear()
            self._drawn[name] = kept
        return kept[1:]


def filter_of(query: Mapping[str, str]) -> dict[str, str]:
    """The members of the API's query that the address gives; a word outside its list counts as none."""
    words = {name: query.get(name, "") for name, known in CHOICES.items() if query.get(name, "") in known}
    free = {name: query[name][:512] for name in _FREE if query.get(name)}
    only = {name: "true" for name in ("refused", "no_evidence") if query.get(name) == "true"}
    return {**free, **{name: word for name, word in words.items() if word}, **only}
