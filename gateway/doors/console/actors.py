"""The pages of actors: what each has left and whether it is stopped, and of one what it asked, got and was refused."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from gateway.core.errors import SentinelError
from gateway.core.model.approval import operator_objection
from gateway.core.model.stop import StopScope
from gateway.core.records.record import Stage
from gateway.doors.api.problems import status_of
from gateway.doors.console.api_client import ApiProblem, segment
from gateway.doors.console.feed import feed_row
from gateway.doors.console.forms import reason_in
from gateway.doors.console.visit import Page, Visit, go

_RECENT: Final = 50
"""Records, claims and held calls that the page of an actor shows. Of these records the verdicts are counted."""


async def actors(visit: Visit) -> Response:
    """Every actor with a key, with what is left of its budgets, and every stop that stands."""
    return await _all(visit, "", 200)


async def actor(visit: Visit) -> Response:
    """One actor."""
    return await _one(visit, "", 200)


async def stop(visit: Visit) -> Response:
    """Stop an actor, a stack, a service, or all."""
    fields = await visit.form()

    async def made() -> None:
        body = {"scope": fields.get("scope", ""), "name": fields.get("name", ""), "reason": reason_in(fields)}
        await visit.api.post("/stops", body)

    return await _acted(visit, made(), "stopped")


async def resume(visit: Visit) -> Response:
    """End a stop."""
    fields, stop_id = await visit.form(), segment(visit.request.path_params["stop_id"])

    async def ended() -> None:
        await visit.api.delete(f"/stops/{stop_id}", reason=reason_in(fields))

    return await _acted(visit, ended(), "resumed")


async def reset(visit: Visit) -> Response:
    """Close an actor's circuit breaker."""
    fields, name = await visit.form(), segment(visit.request.path_params["actor"])

    async def closed() -> None:
        await visit.api.post(f"/budgets/{name}/reset", {"reason": reason_in(fields)})

    return await _acted(visit, closed(), "reset")


async def _acted(visit: Visit, work: Any, done: str) -> Response:
    """The page after the work, with what went wrong if something did."""
    try:
        await work
    except SentinelError as error:
        return await _all(visit, str(error), error.status if isinstance(error, ApiProblem) else status_of(error))
    return go("/actors", done=done)


async def _all(visit: Visit, problem: str, status: int) -> Response:
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


async def _one(visit: Visit, problem: str, status: int) -> Response:
    name = visit.request.path_params["actor"]
    budgets, recent, claims, holds = await asyncio.gather(
        visit.api.get("/budgets", actor=name),
        visit.api.get("/records", actor=name, limit=_RECENT),
        visit.api.get("/claims", actor=name, limit=_RECENT),
        visit.api.get("/holds", actor=name, limit=_RECENT),
    )
    values = {
        "who": name,
        "budget": next(iter(budgets["budgets"]), None),
        "rows": [feed_row(record) for record in recent["records"]],
        "counted": _counted(recent["records"]),
        "newest": len(recent["records"]),
        "claims": claims["claims"],
        "holds": holds["holds"],
        "why_not": operator_objection(visit.caller, "stop and resume"),
    }
    return visit.page("actor.html", problem=problem, status=status, **values)


def _counted(records: list[Mapping[str, Any]]) -> list[tuple[str, int]]:
    """How often each verdict was given."""
    decided = (record["body"]["decision"] for record in records if record["stage"] == Stage.DECIDED)
    return Counter(str(decision["verdict"]) for decision in decided).most_common()


PAGES: Final[tuple[tuple[str, Page], ...]] = (("/actors", actors), ("/actors/{actor}", actor))
ACTS: Final[tuple[tuple[str, Page], ...]] = (
    ("/stops", stop),
    ("/stops/{stop_id}/resume", resume),
    ("/actors/{actor}/reset", reset),
)
