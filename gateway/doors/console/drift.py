"""The pages of drift and write-back: by which values live and code differ, what became of the proposals, and what is left to a human."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from gateway.core.model.approval import drift_objection
from gateway.doors.console.api_client import segment
from gateway.doors.console.differences import Difference, difference
from gateway.doors.console.forms import reason_in
from gateway.doors.console.visit import Visit, go

_CAUSES: Final = ("foreign", "applied")
ACTIONS: Final = ("codify", "revert", "quarantine", "leave")
_SHOWN: Final = 60
"""Differences on the page, those from outside first."""
_REPORTS: Final = 30
_LEFT: Final = 100
"""Reports of what is left to a human that are read."""
_LOOKED_AT: Final = 50
"""The newest allowed mutations among which those are looked for that the code does not declare yet."""


async def drift(visit: Visit, problem: str = "", status: int = 200) -> Response:
    """By which values live and code differ."""
    cause = visit.query.get("cause", "")
    chosen = {"stack": visit.query.get("stack", ""), "cause": cause if cause in _CAUSES else ""}
    found = await visit.api.get("/drift", **chosen)
    values = {
        "found": found,
        "shown": [(each, _difference(each)) for each in found["drift"][:_SHOWN]],
        "more": len(found["drift"]) - _SHOWN,
        "chosen": chosen,
        "causes": _CAUSES,
        "actions": ACTIONS,
        "why_not": drift_objection(visit.caller),
    }
    return visit.page("drift.html", problem=problem, status=status, **values)


async def decide(visit: Visit) -> Response:
    """Decide about a change from outside, as the API does it."""
    fields = await visit.form()
    body = {"action": fields.get("action", ""), "reason": reason_in(fields)}
    await visit.api.post(f"/drift/{segment(visit.request.path_params['drift_id'])}/decide", body)
    return go("/drift", done="decided")


async def write_back(visit: Visit) -> Response:
    """The proposals for the code, the reports of what was written, and the work left to humans."""
    left, proposed, reports, allowed = await asyncio.gather(
        visit.api.get("/left", limit=_LEFT),
        visit.api.get("/records", stage="proposed", limit=_REPORTS),
        visit.api.get("/records", stage="reconciled", limit=_REPORTS),
        visit.api.get("/mutations", verdict="allow", limit=_LOOKED_AT),
    )
    return visit.page(
        "write_back.html",
        left=left["left"],
        more_left=left["more"],
        proposed=proposed["records"],
        reports=[each for each in reports["records"] if each["body"].get("commit") or each["body"].get("reason")],
        looked_at_reports=_REPORTS,
        headlines={each["id"]: each["headline"] for each in allowed["mutations"]},
        waiting=[each for each in allowed["mutations"] if waits_for_code(each)],
        looked_at=_LOOKED_AT,
    )


def waits_for_code(change: Mapping[str, Any]) -> bool:
    """Whether the mutation was applied, and the protected branch does not declare it yet."""
    marks = {mark["name"]: mark["state"] for mark in change["path"]}
    return marks["applied"] == "done" and "waits" in (marks["in code"], marks["merged"])


def _difference(each: Mapping[str, Any]) -> Difference:
    """From what the code declares to what is live."""
    return Difference(lines=()) if each["sensitive"] else difference(each["declared"], each["live"])
