"""The API's routes for stops: stop changes, list the stops, resume."""

from typing import Annotated, Any

import structlog
from fastapi import Query, Request

from gateway.aws.models.routing_index import shipped
from gateway.core.errors import NotFound
from gateway.core.model.caller import Caller
from gateway.core.model.stop import Stop, StopScope
from gateway.doors.api.ports import ApiPorts, Authenticated, Ports
from gateway.doors.api.request_bodies import PerhapsReason, StopBody, body_of, openapi_body
from gateway.doors.api.routers import keyed_router
from gateway.presentation.serialize import time_to_json

log = structlog.get_logger()
router = keyed_router()


@router.post(
    "/stops",
    openapi_extra=openapi_body(StopBody),
    summary="Stop every change by an actor, in a stack, of an AWS service, or all",
)
async def stop(ports: Ports, request: Request, caller: Authenticated) -> dict[str, Any]:
    """The stop."""
    body = await body_of(ports.inbound(request), StopBody)
    await _require_known(ports, body.scope, body.name)
    new = await ports.stops.ledger.stop(body.scope, body.name, by=caller, reason=body.reason, at=ports.clock.now())
    await ports.stops.refresh()
    log.warning("stopped", stop=new.id, scope=new.scope.value, name=new.name, by=new.by, reason=new.reason)
    return stop_to_json(new)


@router.get("/stops", summary="What is stopped, by whom and why; with every, also what was resumed")
async def stops(ports: Ports, caller: Authenticated, *, every: bool = False) -> dict[str, Any]:
    """The stops that the caller may see."""
    found = await ports.stops.ledger.stops(every=every)
    return {"stops": [stop_to_json(each) for each in found if _may_see(caller, each)]}


@router.delete("/stops/{stop_id}", summary="End a stop")
async def resume(
    ports: Ports,
    caller: Authenticated,
    stop_id: str,
    reason: Annotated[PerhapsReason, Query()] = "",
) -> dict[str, Any]:
    """The stop, ended."""
    ended = await ports.stops.ledger.resume(stop_id, by=caller, reason=reason, at=ports.clock.now())
    await ports.stops.refresh()
    log.warning("resumed", stop=ended.id, scope=ended.scope.value, name=ended.name, by=ended.ended_by)
    return stop_to_json(ended)


async def _require_known(ports: ApiPorts, scope: StopScope, name: str) -> None:
    """Raise `errors.NotFound` for a name that nothing has: a stop that stops nothing would be taken for one that does."""
    match scope:
        case StopScope.ALL:
            return
        case StopScope.STACK:
            known = {stack.name for stack in ports.plans.stacks.all}
            hint = f"This gateway has {', '.join(sorted(known)) or 'none'}."
        case StopScope.SERVICE:
            known = set(shipped().services)
            hint = "Name it as in the AWS command line, e.g. autoscaling, rds, ec2."
        case StopScope.ACTOR:
            known = {actor for key in await ports.keys.standing() for actor in (key.actor, key.on_behalf_of)} - {""}
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
