"""The pages of actors: all actors with their remaining budgets and stops, and one actor with its requests and their results."""

import asyncio
from collections import Counter
from typing import Final

from markupsafe import Markup
from starlette.responses import Response

from gateway.core.model.approval import operator_objection
from gateway.core.model.stop import StopScope
from gateway.doors.console.api_client import segment
from gateway.doors.console.changes import drawn_rows
from gateway.doors.console.forms import reason_in
from gateway.doors.console.visit import Visit, go

_RECENT: Final = 50
"""Changes, claims and held calls that the page of an actor shows. Of these changes the verdicts are counted."""


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
        visit.api.get("/mutations", actor=name, limit=_RECENT),
        visit.api.get("/claims", actor=name, limit=_RECENT),
        visit.api.get("/holds", actor=name, limit=_RECENT),
    )
    return visit.page(
        "actor.html",
        who=name,
        budget=next(iter(budgets["budgets"]), None),
        recent=Markup(drawn_rows(visit, recent["mutations"])),  # noqa: S704  a template made it
        counted=Counter(str(row["verdict"]) for row in recent["mutations"]).most_common(),
        newest=len(recent["mutations"]),
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
