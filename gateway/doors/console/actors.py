"""The pages of actors: all actors with their remaining budgets and stops, and one actor with its requests and their results."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from gateway.core.model.approval import operator_objection
from gateway.core.model.stop import StopScope
from gateway.core.records.record import Stage
from gateway.doors.console.api_client import segment
from gateway.doors.console.feed import feed_row
from gateway.doors.console.forms import reason_in
from gateway.doors.console.visit import Visit, go

_RECENT: Final = 50
"""Records, claims and held calls that the page of an actor shows. Of these records the verdicts are counted."""


async def actors(visit: Visit, problem: str = "", status: int = 200) -> Response:
    """Every actor with a key, with what is left of its budgets, and every stop that stands."""
    budgets, stops = await asyncio.gather(
        visit.api.get("/budgets"), visit.api.get("/stops", every="true" if "every" in visit.query else "")
    )
    return visit.page(
        "actors.html",
        problem=problem,
        status=status,
        budgets=budgets["budgets"],
        stops=stops["stops"],
        scopes=list(StopScope),
        why_not=operator_objection(visit.caller, "stop and resume"),
    )


async def actor(visit: Visit) -> Response:
    """One actor."""
    name = visit.request.path_params["actor"]
    budgets, recent, claims, holds = await asyncio.gather(
        visit.api.get("/budgets", actor=name),
        visit.api.get("/records", actor=name, limit=_RECENT),
        visit.api.get("/claims", actor=name, limit=_RECENT),
        visit.api.get("/holds", actor=name, limit=_RECENT),
    )
    return visit.page(
        "actor.html",
        who=name,
        budget=next(iter(budgets["budgets"]), None),
        rows=[feed_row(record) for record in recent["records"]],
        counted=_counted(recent["records"]),
        newest=len(recent["records"]),
        claims=claims["claims"],
        holds=holds["holds"],
        why_not=operator_objection(visit.caller, "stop and resume"),
    )


async def stop(visit: Visit) -> Response:
    """Stop an actor, a stack, a service, or all."""
    fields = await visit.form()
    body = {"scope": fields.get("scope", ""), "name": fields.get("name", ""), "reason": reason_in(fields)}
    await visit.api.post("/stops", body)
    return go("/actors", done="stopped")


async def resume(visit: Visit) -> Response:
    """End a stop."""
    stop_id, reason = segment(visit.request.path_params["stop_id"]), reason_in(await visit.form())
    await visit.api.delete(f"/stops/{stop_id}", reason=reason)
    return go("/actors", done="resumed")


async def reset(visit: Visit) -> Response:
    """Close an actor's circuit breaker."""
    name, reason = segment(visit.request.path_params["actor"]), reason_in(await visit.form())
    await visit.api.post(f"/budgets/{name}/reset", {"reason": reason})
    return go("/actors", done="reset")


def _counted(records: list[Mapping[str, Any]]) -> list[tuple[str, int]]:
    """How often each verdict was given."""
    decided = (record["body"]["decision"] for record in records if record["stage"] == Stage.DECIDED)
    return Counter(str(decision["verdict"]) for decision in decided).most_common()
