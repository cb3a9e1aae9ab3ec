"""The pages of actors: all with their remaining budgets and stops, one with its keys and what it asked over time, and what a stop would stop."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from markupsafe import Markup
from starlette.responses import Response

from gateway.core.errors import NotFound
from gateway.core.model.approval import operator_objection
from gateway.core.model.stop import Stop, StopScope
from gateway.core.times import utc_text
from gateway.doors.console.api_client import segment
from gateway.doors.console.changes import drawn_rows
from gateway.doors.console.forms import reason_in
from gateway.doors.console.overview import active_in
from gateway.doors.console.pictures import day_picture
from gateway.doors.console.visit import Visit, go, part
from gateway.line.checks.stops import RULE as STOPPED

_RECENT: Final = 50
"""Changes, claims and held calls that the page of an actor shows. Of these changes the verdicts are counted."""
_LONGEST_NAME: Final = 256
_COUNTED: Final = 80
"""The newest mutations of a day by which the list says what each actor did."""
_HOURS: Final = 72
"""Of the picture of what an actor asked."""


async def actors(visit: Visit, problem: str = "", status: int = 200) -> Response:
    """Every actor with a key, with what is left of its budgets, and every stop that stands."""
    budgets, stops, recent = await asyncio.gather(
        visit.api.get("/budgets"),
        visit.api.get("/stops", every="true" if "every" in visit.query else ""),
        visit.api.get("/mutations", since=utc_text(visit.clock.now() - timedelta(hours=24)), limit=_COUNTED),
    )
    return visit.page(
        "actors.html",
        problem=problem,
        status=status,
        budgets=budgets["budgets"],
        tightest={each["actor"]: _tightest(each["mutations"]) for each in budgets["budgets"]},
        did={each.actor: each for each in active_in(recent["mutations"])},
        looked_at=_COUNTED,
        stops=stops["stops"],
        stopped=[each["name"] for each in stops["stops"] if each["scope"] == StopScope.ACTOR and not each["ended_at"]],
        scopes=list(StopScope),
        why_not=operator_objection(visit.caller, "stop and resume"),
    )


def _tightest(buckets: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The budget that ends first, of those for whatever motivation; None without any."""
    general = [each for each in buckets if not each["motivation"]]
    return min(general, key=lambda each: each["left"] / max(each["most"], 1), default=None)


async def actor(visit: Visit) -> Response:
    """One actor."""
    name = visit.request.path_params["actor"]
    budgets, recent, claims, holds, activity, keys = await asyncio.gather(
        visit.api.get("/budgets", actor=name),
        visit.api.get("/mutations", actor=name, limit=_RECENT),
        visit.api.get("/claims", actor=name, limit=_RECENT),
        visit.api.get("/holds", actor=name, limit=_RECENT),
        part(visit.api.get("/activity", actor=name, hours=_HOURS)),
        part(visit.api.get("/keys", actor=name)),
    )
    return visit.page(
        "actor.html",
        activity=activity,
        day=day_picture(activity.answer.get("hours", ())),
        hours=_HOURS,
        keys=keys,
        who=name,
        budget=next(iter(budgets["budgets"]), None),
        recent=Markup(drawn_rows(visit, recent["mutations"])),  # noqa: S704  a template made it
        counted=Counter(str(row["verdict"]) for row in recent["mutations"]).most_common(),
        newest=len(recent["mutations"]),
        claims=claims["claims"],
        holds=holds["holds"],
        why_not=operator_objection(visit.caller, "stop and resume"),
    )


async def ask_stop(visit: Visit) -> Response:
    """Name what a stop would stop, and ask for the reason: the first of two steps."""
    scope, name = visit.query.get("scope", ""), visit.query.get("name", "")[:_LONGEST_NAME]
    if scope not in set(StopScope) or (scope != StopScope.ALL and not name):
        raise NotFound("Nothing was stopped. Say what: an actor, a stack or a service with its name, or all.")
    if scope == StopScope.ALL:
        name = ""
    wanted = Stop(id="", scope=StopScope(scope), name=name, by="", reason="", at=visit.clock.now())
    which = {"actor": name} if scope == StopScope.ACTOR else {"stack": name} if scope == StopScope.STACK else {}
    recent, holds, keys = await asyncio.gather(
        visit.api.get("/mutations", **which, limit=_RECENT),
        visit.api.get("/holds", **which, limit=_RECENT),
        visit.api.get("/keys", actor=name) if scope == StopScope.ACTOR else _nothing(),
    )
    return visit.page(
        "stop.html",
        wanted=wanted,
        asked=_asked(recent["mutations"]),
        under_way=[each for each in recent["mutations"] if each["state"] == "in_flight"],
        looked_at=len(recent["mutations"]),
        holds=holds["holds"],
        most=_RECENT,
        keys=keys.get("keys", ()),
        why_not=operator_objection(visit.caller, "stop and resume"),
    )


async def ask_resume(visit: Visit) -> Response:
    """Name what may change again once a stop ends, and what it refused: the first of two steps."""
    stop_id = segment(visit.request.path_params["stop_id"])
    found = next((each for each in (await visit.api.get("/stops"))["stops"] if each["id"] == stop_id), None)
    if found is None:
        raise NotFound("No such stop stands. It may have been ended meanwhile.")
    which = {found["scope"]: found["name"]} if found["scope"] in (StopScope.ACTOR, StopScope.STACK) else {}
    refused = await visit.api.get("/mutations", **which, verdict="deny", since=found["at"], limit=_RECENT)
    at = visit.clock.now()
    standing = Stop(id=stop_id, scope=StopScope(found["scope"]), name=found["name"], by="", reason="", at=at)
    return visit.page(
        "resume.html",
        stop=found,
        what=standing.what,
        refused=[each for each in refused["mutations"] if each["rule"] == STOPPED],
        most=_RECENT,
        why_not=operator_objection(visit.caller, "stop and resume"),
    )


async def _nothing() -> dict[str, Any]:
    return {}


def _asked(changes: list[Mapping[str, Any]]) -> list[tuple[str, int]]:
    """Who asked for these changes, and how often, the busiest first."""
    return Counter(str(each["actor"]) for each in changes).most_common()


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
