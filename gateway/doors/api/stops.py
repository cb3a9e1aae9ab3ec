"""The API's routes by which people stop and resume changes, and everybody sees what is stopped."""

from typing import Annotated, Any

import structlog
from fastapi import APIRouter, Depends, Query, Request

from gateway.aws.models.routing_index import shipped
from gateway.core.errors import NotFound
from gateway.core.model.caller import Caller
from gateway.core.model.stop import Stop, StopScope
from gateway.doors.api.schemas import StopBody, body_of, openapi_body
from gateway.doors.api.shared import ApiPorts
from gateway.presentation.serialize import time_to_json

log = structlog.get_logger()


def add_stop_routes(router: APIRouter, context: ApiPorts) -> None:
    """Add `POST /stops`, `GET /stops` and `DELETE /stops/{stop_id}`."""

    @router.post(
        "/stops",
        openapi_extra=openapi_body(StopBody),
        summary="Stop every change by an actor, in a stack, of an AWS service, or all",
    )
    async def stop(request: Request, caller: Annotated[Caller, Depends(context.caller)]) -> dict[str, Any]:
        body = await body_of(context.inbound(request), StopBody)
        await _require_known(context, body.scope, body.name)
        made = await context.stops.ledger.stop(
            body.scope, body.name, by=caller, reason=body.reason, at=context.clock.now()
        )
        await context.stops.refresh()
        log.warning("stopped", stop=made.id, scope=made.scope.value, name=made.name, by=made.by, reason=made.reason)
        return stop_to_json(made)

    @router.get("/stops", summary="What is stopped, by whom and why; with every, also what was resumed")
    async def stops(caller: Annotated[Caller, Depends(context.caller)], *, every: bool = False) -> dict[str, Any]:
        found = await context.stops.ledger.stops(every=every)
        return {"stops": [stop_to_json(each) for each in found if _may_see(caller, each)]}

    @router.delete("/stops/{stop_id}", summary="End a stop")
    async def resume(
        caller: Annotated[Caller, Depends(context.caller)],
        stop_id: str,
        reason: Annotated[str, Query(max_length=1000)] = "",
    ) -> dict[str, Any]:
        ended = await context.stops.ledger.resume(stop_id, by=caller, reason=reason, at=context.clock.now())
        await context.stops.refresh()
        log.warning("resumed", stop=ended.id, scope=ended.scope.value, name=ended.name, by=ended.ended_by)
        return stop_to_json(ended)


async def _require_known(context: ApiPorts, scope: StopScope, name: str) -> None:
    """Raise `errors.NotFound` for a name that nothing has: a stop that stops nothing would be taken for one that does."""
    match scope:
        case StopScope.ALL:
            return
        case StopScope.STACK:
            known = {stack.name for stack in context.plans.stacks.all}
            hint = f"This gateway has {', '.join(sorted(known)) or 'none'}."
        case StopScope.SERVICE:
            known = set(shipped().services)
            hint = "Name it as in the AWS command line, e.g. autoscaling, rds, ec2."
        case StopScope.ACTOR:
            known = {actor for key in await context.keys.all() for actor in (key.actor, key.on_behalf_of)} - {""}
            hint = "`sentinel key list` shows who has one."
    if name not in known:
        kind = "actor has a key with the name" if scope is StopScope.ACTOR else f"{scope.value} has the name"
        raise NotFound(f"No {kind} {name[:200]}, so nothing was stopped. {hint}")


def _may_see(caller: Caller, stop: Stop) -> bool:
    """People and pipelines see all; agents and services what is about them, which is all but the stops of other actors."""
    return caller.sees_all or stop.scope is not StopScope.ACTOR or stop.name in {caller.actor, caller.on_behalf_of}


def stop_to_json(stop: Stop) -> dict[str, Any]:
    """The JSON form of a stop."""
    return {
        "id": stop.id,
        "scope": stop.scope.value,
        "name": stop.name,
        "by": stop.by,
        "reason": stop.reason,
        "at": time_to_json(stop.at),
        "ended_at": time_to_json(stop.ended_at),
        "ended_by": stop.ended_by,
    }
