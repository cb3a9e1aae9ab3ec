"""The first page: is all well, what waits for the visitor, what was refused and why, who is active, what needs a person, and the last day as a picture."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from starlette.responses import Response

from gateway.core.model.approval import approval_rule_from_json, objection, own_objection
from gateway.core.times import utc_text
from gateway.doors.api.health import Readiness
from gateway.doors.console.drift import waits_for_code
from gateway.doors.console.pictures import day_picture
from gateway.doors.console.visit import Visit, part

_SHOWN: Final = 5
"""Rows of each list."""
_ACTIVE: Final = 8
"""Actors that are listed."""
_LOOKED_AT: Final = 50
"""The newest mutations by which actors and write-back are told: not more than the page of write-back looks at, so that its list has all."""
_REFUSED: Final = 20
"""Refusals that are read: those of one actor by one rule are one row."""
_HOLDS: Final = 100
_LEFT: Final = 50
"""Reports of what is left to a human that are read."""
_SIGNALS: Final = 50
_DAY: Final = timedelta(hours=24)


@dataclass(frozen=True, slots=True, kw_only=True)
class Active:
    """What an actor did of late."""

    actor: str
    kind: str
    asked: int
    applied: int
    refused: int
    last: str
    """When it asked last."""


class Overview:
    """The page."""

    def __init__(self, readiness: Callable[[], Awaitable[Readiness]]) -> None:
        self._readiness = readiness

    async def page(self, visit: Visit) -> Response:
        """The page, with as much as the visitor may see."""
        now = visit.clock.now()
        since = utc_text(now - _DAY)
        asked = {
            "holds": visit.api.get("/holds", state="open", limit=_HOLDS),
            "refused": visit.api.get("/mutations", verdict="deny", since=since, limit=_REFUSED),
            "recent": visit.api.get("/mutations", since=since, limit=_LOOKED_AT),
            "signals": visit.api.get("/signals", limit=_SIGNALS),
            "drift": visit.api.get("/drift", cause="foreign"),
            "left": visit.api.get("/left", limit=_LEFT),
            "activity": visit.api.get("/activity", hours=24),
        }
        answers = await asyncio.gather(*(part(each) for each in asked.values()))
        parts = dict(zip(asked, answers, strict=True))
        holds = parts["holds"].answer.get("holds", [])
        recent: list[Mapping[str, Any]] = parts["recent"].answer.get("mutations", [])
        return visit.page(
            "overview.html",
            parts=parts,
            ready=await self._readiness(),
            holds=holds,
            refused=_refused(parts["refused"].answer.get("mutations", [])),
            mine=[hold for hold in holds if _may_decide(visit, hold)],
            shown=_SHOWN,
            holds_read=_HOLDS,
            active=active_in(recent)[:_ACTIVE],
            looked_at=_LOOKED_AT,
            recent=recent,
            unwritten=_unwritten(recent),
            unmerged=sum(waits_for_code(row) for row in recent),
            incidents=parts["signals"].answer.get("signals", []),
            drifted=[each for each in parts["drift"].answer.get("drift", ()) if each.get("needs_human")],
            left=parts["left"].answer.get("left", []),
            more_left=parts["left"].answer.get("more", False),
            day=day_picture(parts["activity"].answer.get("hours", ())),
        )


def _may_decide(visit: Visit, hold: Mapping[str, Any]) -> bool:
    requesters = (hold["requester"], hold["on_behalf_of"])
    rule = approval_rule_from_json(hold["approvers"])
    return not (objection(visit.caller, rule) or own_objection(visit.caller, hold["mutation_id"], requesters))


def active_in(rows: Sequence[Mapping[str, Any]]) -> list[Active]:
    """The actors of these mutations, which are newest first; the busiest first."""
    asked = Counter((str(row["actor"]), str(row["kind"])) for row in rows)
    applied = Counter(row["actor"] for row in rows if row["state"] in ("applied", "ended"))
    refused = Counter(row["actor"] for row in rows if row["state"] in ("denied", "rejected"))
    last = {row["actor"]: str(row["at"]) for row in reversed(rows)}
    return [
        Active(actor=actor, kind=kind, asked=count, applied=applied[actor], refused=refused[actor], last=last[actor])
        for (actor, kind), count in asked.most_common()
    ]


def _refused(rows: Sequence[Mapping[str, Any]]) -> list[tuple[Mapping[str, Any], int]]:
    """The newest refusal of each actor by each rule, with the number of those like it, the most frequent first.

    So one that asks again and again stands at the top, and hides nobody else.
    """
    alike = Counter((row["actor"], row["rule"]) for row in rows)
    newest = {(row["actor"], row["rule"]): row for row in reversed(rows)}
    return [(newest[each], count) for each, count in alike.most_common(_SHOWN)]


def _unwritten(rows: Sequence[Mapping[str, Any]]) -> tuple[int, datetime | None]:
    """How many applied mutations the reconciler has not looked at yet, and since when the oldest of them waits."""
    since = []
    for row in rows:
        marks = {mark["name"]: mark for mark in row["path"]}
        if marks["applied"]["state"] == "done" and marks["in code"]["state"] == "waits" and marks["applied"]["at"]:
            since.append(datetime.fromisoformat(marks["applied"]["at"]))
    return len(since), min(since, default=None)
