"""The API's routes for approvals: list held mutations; approve, reject, pass in an emergency, settle by hand, release claims."""

from typing import Annotated, Any

import structlog
from fastapi import Query, Request

from gateway.core.http.asgi import door_of_scope
from gateway.core.model.approval import HoldFilter, HoldState
from gateway.doors.api.ports import Authenticated, Ports, told
from gateway.doors.api.request_bodies import ApproveBody, GlassBody, RejectBody, SettleBody, body_of, openapi_body
from gateway.doors.api.routers import keyed_router
from gateway.presentation.serialize import claim_to_json, hold_to_json, time_to_json

log = structlog.get_logger()
router = keyed_router()


@router.get("/holds", summary="What waits for a human: the call, what it changes, why it is held, who asks, since when")
async def holds(
    ports: Ports,
    caller: Authenticated,
    *,
    state: HoldFilter = HoldFilter.OPEN,
    mutation_id: str = "",
    actor: str = "",
    stack: str = "",
    before: str = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> dict[str, Any]:
    """The held mutations of the filter, newest first."""
    if not caller.sees_all and actor not in {"", caller.actor}:
        return {"holds": []}
    found = await ports.queries.holds(
        state=None if state is HoldFilter.ALL else HoldState(state),
        actor=actor if caller.sees_all else caller.actor,
        stack=stack,
        mutation_id=mutation_id,
        before=before,
        limit=limit,
    )
    return told(caller, {"holds": [hold_to_json(hold) for hold in found]})


@router.post(
    "/mutations/{mutation_id}/approve",
    openapi_extra=openapi_body(ApproveBody, required=False),
    summary="Approve exactly one held call",
)
async def approve(ports: Ports, request: Request, caller: Authenticated, mutation_id: str) -> dict[str, Any]:
    """The approval, and how many more people must consent."""
    body = await body_of(ports.inbound(request), ApproveBody, default=ApproveBody())
    approval = await ports.commands.approve(
        mutation_id,
        approver=caller,
        at=ports.clock.now(),
        lasts=body.duration(),
        reason=body.reason,
        door=door_of_scope(request.scope),
    )
    ports.wakeups.wake(mutation_id)
    return {
        "approval_id": approval.id,
        "mutation_id": mutation_id,
        "approver": approval.approver,
        "approvers": [*approval.others, approval.approver],
        "missing": approval.missing,
        "until": time_to_json(approval.until),
    }


@router.post(
    "/mutations/{mutation_id}/reject",
    openapi_extra=openapi_body(RejectBody),
    summary="Reject a held call permanently",
)
async def reject(ports: Ports, request: Request, caller: Authenticated, mutation_id: str) -> dict[str, Any]:
    """The person who rejected the call."""
    body = await body_of(ports.inbound(request), RejectBody)
    door, at = door_of_scope(request.scope), ports.clock.now()
    await ports.commands.reject(mutation_id, approver=caller, reason=body.reason, at=at, door=door)
    ports.wakeups.wake(mutation_id)
    return {"mutation_id": mutation_id, "rejected_by": caller.actor}


@router.post(
    "/mutations/{mutation_id}/break-glass",
    openapi_extra=openapi_body(GlassBody),
    summary="Pass a held call at once, in an emergency; the reason is recorded",
)
async def break_glass(ports: Ports, request: Request, caller: Authenticated, mutation_id: str) -> dict[str, Any]:
    """The approval, the person who gave it, and the time until which the call passes."""
    body = await body_of(ports.inbound(request), GlassBody)
    approval = await ports.commands.break_glass(
        mutation_id, human=caller, reason=body.reason, at=ports.clock.now(), door=door_of_scope(request.scope)
    )
    ports.wakeups.wake(mutation_id)
    log.warning("glass_broken", mutation=mutation_id, by=caller.actor, reason=body.reason, approval=approval.id)
    until = time_to_json(approval.until)
    return {"approval_id": approval.id, "mutation_id": mutation_id, "passed_by": caller.actor, "until": until}


@router.post(
    "/mutations/{mutation_id}/settle",
    openapi_extra=openapi_body(SettleBody),
    summary="Settle a mutation in doubt by hand, with the reason",
)
async def settle(ports: Ports, request: Request, caller: Authenticated, mutation_id: str) -> dict[str, Any]:
    """The outcome, and the person who stated it."""
    body = await body_of(ports.inbound(request), SettleBody)
    await ports.commands.settle_by_hand(
        mutation_id,
        approver=caller,
        carried_out=body.outcome == "applied",
        reason=body.reason,
        at=ports.clock.now(),
    )
    ports.wakeups.wake(mutation_id)
    return {"mutation_id": mutation_id, "outcome": body.outcome, "settled_by": caller.actor}


@router.post("/mutations/{mutation_id}/release", summary="End a mutation's claims before their time")
async def release(ports: Ports, caller: Authenticated, mutation_id: str) -> dict[str, Any]:
    """The claims that ended."""
    ended = await ports.commands.release(mutation_id, caller=caller, at=ports.clock.now())
    return told(caller, {"mutation_id": mutation_id, "released": [claim_to_json(claim) for claim in ended]})
