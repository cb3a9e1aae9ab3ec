"""The JSON API under `/v1`: propose a change, follow it, approve or reject it, and query the ledger."""

from datetime import UTC, datetime
from typing import Annotated, Any

import structlog
from fastapi import APIRouter, Depends, Query, Request, Security
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBearer

from gateway.core.errors import Malformed, NotFound, SentinelError
from gateway.core.http.asgi import door_of_scope
from gateway.core.model.approval import HoldFilter, HoldState
from gateway.core.model.caller import Caller
from gateway.core.model.facts import Approval
from gateway.core.model.outcome import Applied, Failed, InDoubt, Refused
from gateway.core.model.verdict import Decision, Verdict
from gateway.core.off_loop import BYTES_OF_AN_EFFECT, off_loop
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.doors.api.answers import LONGEST_LIST, claims_answer
from gateway.doors.api.budgets import add_budget_routes
from gateway.doors.api.drift import add_drift_routes
from gateway.doors.api.left import left_to_humans
from gateway.doors.api.mutations import add_explanation_route, add_glass_route
from gateway.doors.api.notices import add_chat_routes, add_delivery_routes, add_slack_route
from gateway.doors.api.plans import add_plan_routes
from gateway.doors.api.problems import ANSWER, problem
from gateway.doors.api.resources import add_resource_routes
from gateway.doors.api.run_task_route import add_run_task_route
from gateway.doors.api.schemas import (
    IDEMPOTENCY_KEY,
    ApproveBody,
    MutationBody,
    RejectBody,
    SessionBody,
    SettleBody,
    body_of,
    openapi_body,
)
from gateway.doors.api.shared import ApiPorts, told, wait_seconds
from gateway.doors.api.signals import add_message_route, add_signal_routes
from gateway.doors.api.stops import add_stop_routes
from gateway.doors.api.time_boxes import add_time_box_routes
from gateway.line.checks.stops import RULE as STOPPED
from gateway.line.pipeline import MutationResult
from gateway.presentation.refusal import in_doubt_text, refusal_text
from gateway.presentation.serialize import (
    claim_to_json,
    decision_to_json,
    hold_to_json,
    mutation_to_json,
    outcome_to_json,
    record_to_json,
    time_to_json,
)

log = structlog.get_logger()

_BEARER = HTTPBearer(auto_error=False, description="`<key id>.<secret>` of a key that this gateway issued.")
"""For the OpenAPI description only; `Context.caller` authenticates."""
_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
_MAX_INTEGER = 2**63 - 1
"""The largest integer that the ledger's database can store."""


def routes(context: ApiPorts) -> APIRouter:
    """Every API route. Any other path under `/v1` is a 404."""
    router, unkeyed = APIRouter(dependencies=[Security(_BEARER)]), APIRouter()
    add_message_route(unkeyed, context)
    add_run_task_route(unkeyed, context)
    add_slack_route(unkeyed, context)
    _add_mutation_routes(router, context)
    _add_approval_routes(router, context)
    _add_record_route(router, context)
    _add_claim_route(router, context)
    _add_query_routes(router, context)
    add_glass_route(router, context)
    add_explanation_route(router, context)
    add_drift_routes(router, context)
    add_resource_routes(router, context)
    add_signal_routes(router, context)
    add_stop_routes(router, context)
    add_budget_routes(router, context)
    add_plan_routes(router, context)
    add_chat_routes(router, context)
    add_delivery_routes(router, context)
    add_time_box_routes(router, context, lambda result: _response(context, result))
    every = APIRouter(prefix="/v1", responses=dict(ANSWER))
    for part in (unkeyed, router):
        every.include_router(part)
    _add_not_found_route(every)
    return every


def _add_mutation_routes(router: APIRouter, context: ApiPorts) -> None:
    @router.post(
        "/mutations",
        openapi_extra={**openapi_body(MutationBody), "parameters": [IDEMPOTENCY_KEY]},
        summary="Propose a change; with dry_run, only see the decision",
    )
    async def propose(request: Request) -> JSONResponse:
        caller, proposal = await context.admit(request)
        try:
            return await _response(context, await context.pipeline.execute(caller, proposal))
        except SentinelError:
            raise
        except Exception:
            log.exception("proposal_broke", service=proposal.call.service, operation=proposal.call.operation)
            message = "Sentinel had an internal error. Check `sentinel records` whether anything was sent before you send it again."
            return problem(409, "outcome_unknown", message, retry_safe=False)

    @router.get(
        "/mutations/{mutation_id}",
        summary="The state and records of one mutation; with wait=30s, as soon as it is decided",
    )
    async def mutation(
        caller: Annotated[Caller, Depends(context.caller)], mutation_id: str, wait: str = ""
    ) -> dict[str, Any]:
        return await context.mutation(caller, mutation_id, wait_seconds(wait))

    @router.post(
        "/sessions",
        openapi_extra=openapi_body(SessionBody),
        summary="A temporary key with a motive, for unmodified AWS clients",
    )
    async def session(request: Request, caller: Annotated[Caller, Depends(context.caller)]) -> dict[str, Any]:
        body = await body_of(context.inbound(request), SessionBody)
        return await context.session(caller, body)


def _consent(mutation_id: str, approval: Approval) -> dict[str, Any]:
    """What an approver is told."""
    return {
        "approval_id": approval.id,
        "mutation_id": mutation_id,
        "approver": approval.approver,
        "approvers": [*approval.others, approval.approver],
        "missing": approval.missing,
        "until": time_to_json(approval.until),
    }


def _add_approval_routes(router: APIRouter, context: ApiPorts) -> None:
    @router.post(
        "/mutations/{mutation_id}/approve",
        openapi_extra=openapi_body(ApproveBody, required=False),
        summary="Approve exactly one held call",
    )
    async def approve(
        request: Request, caller: Annotated[Caller, Depends(context.caller)], mutation_id: str
    ) -> dict[str, Any]:
        body = await body_of(context.inbound(request), ApproveBody, default=ApproveBody())
        approval = await context.commands.approve(
            mutation_id,
            approver=caller,
            at=context.clock.now(),
            lasts=body.duration(),
            reason=body.reason,
            door=door_of_scope(request.scope),
        )
        context.wakeups.wake(mutation_id)
        return _consent(mutation_id, approval)

    @router.post(
        "/mutations/{mutation_id}/reject",
        openapi_extra=openapi_body(RejectBody, required=False),
        summary="Reject a held call permanently",
    )
    async def reject(
        request: Request, caller: Annotated[Caller, Depends(context.caller)], mutation_id: str
    ) -> dict[str, Any]:
        body = await body_of(context.inbound(request), RejectBody, default=RejectBody())
        door, at = door_of_scope(request.scope), context.clock.now()
        await context.commands.reject(mutation_id, approver=caller, reason=body.reason, at=at, door=door)
        context.wakeups.wake(mutation_id)
        return {"mutation_id": mutation_id, "rejected_by": caller.actor}

    @router.post("/mutations/{mutation_id}/release", summary="End a mutation's claims before their time")
    async def release(caller: Annotated[Caller, Depends(context.caller)], mutation_id: str) -> dict[str, Any]:
        ended = await context.commands.release(mutation_id, caller=caller, at=context.clock.now())
        return told(caller, {"mutation_id": mutation_id, "released": [claim_to_json(claim) for claim in ended]})

    @router.post(
        "/mutations/{mutation_id}/settle",
        openapi_extra=openapi_body(SettleBody),
        summary="Settle a mutation in doubt by hand, with the reason",
    )
    async def settle(
        request: Request, caller: Annotated[Caller, Depends(context.caller)], mutation_id: str
    ) -> dict[str, Any]:
        body = await body_of(context.inbound(request), SettleBody)
        await context.commands.settle_by_hand(
            mutation_id,
            approver=caller,
            carried_out=body.outcome == "applied",
            reason=body.reason,
            at=context.clock.now(),
        )
        context.wakeups.wake(mutation_id)
        return {"mutation_id": mutation_id, "outcome": body.outcome, "settled_by": caller.actor}


def _add_record_route(router: APIRouter, context: ApiPorts) -> None:
    @router.get("/records", summary="What was requested, decided and done")
    async def records(
        caller: Annotated[Caller, Depends(context.caller)],
        *,
        actor: str = "",
        intent: str = "",
        motivation: str = "",
        resource: str = "",
        stage: Stage | None = None,
        verdict: str = "",
        key: str = "",
        refused: bool = False,
        no_evidence: bool = False,
        since: datetime | None = None,
        until: datetime | None = None,
        after_seq: Annotated[int, Query(ge=0, le=_MAX_INTEGER)] = 0,
        before_seq: Annotated[int, Query(ge=0, le=_MAX_INTEGER)] = 0,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> dict[str, Any]:
        query = RecordQuery(
            actor=actor,
            intent=intent,
            motivation=motivation,
            resource=resource,
            stage=stage,
            verdict=verdict,
            key_id=key,
            refused=refused,
            no_evidence=no_evidence,
            since=_aware(since),
            until=_aware(until),
            after_seq=after_seq,
            before_seq=before_seq,
            limit=limit,
        )
        found = await context.visible_records(caller, query)
        return told(caller, {"records": [record_to_json(record) for record in found]})


def _add_claim_route(router: APIRouter, context: ApiPorts) -> None:
    @router.get("/claims", summary="Who holds which attribute, why and until when")
    async def claims(
        caller: Annotated[Caller, Depends(context.caller)],
        *,
        address: str = "",
        actor: str = "",
        mutation_id: str = "",
        every: bool = False,
        before: str = "",
        limit: Annotated[int, Query(ge=1, le=LONGEST_LIST)] = LONGEST_LIST,
    ) -> dict[str, Any]:
        return await claims_answer(
            context,
            caller,
            address=address,
            actor=actor,
            mutation_id=mutation_id,
            every=every,
            before=before,
            limit=limit,
        )


def _add_query_routes(router: APIRouter, context: ApiPorts) -> None:
    @router.get(
        "/holds", summary="What waits for a human: the call, what it changes, why it is held, who asks, since when"
    )
    async def holds(
        caller: Annotated[Caller, Depends(context.caller)],
        *,
        state: HoldFilter = HoldFilter.OPEN,
        mutation_id: str = "",
        actor: str = "",
        stack: str = "",
        before: str = "",
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> dict[str, Any]:
        if not caller.sees_all and actor not in {"", caller.actor}:
            return {"holds": []}
        found = await context.queries.holds(
            state=None if state is HoldFilter.ALL else HoldState(state),
            actor=actor if caller.sees_all else caller.actor,
            stack=stack,
            mutation_id=mutation_id,
            before=before,
            limit=limit,
        )
        return told(caller, {"holds": [hold_to_json(hold) for hold in found]})

    @router.get(
        "/left",
        summary="What Sentinel left to a human: values not written into code or not put back, outcomes that nothing showed",
    )
    async def left(caller: Annotated[Caller, Depends(context.caller)]) -> dict[str, Any]:
        actor = "" if caller.sees_all else caller.actor
        return told(
            caller,
            {"left": await left_to_humans(context.queries, context.doubts, context.time_boxes.ledger, actor=actor)},
        )

    @router.get("/blame", summary="Who set an attribute, for what goal, and why at that time")
    async def blame(caller: Annotated[Caller, Depends(context.caller)], address: str, attribute: str) -> dict[str, Any]:
        return await context.blame(caller, address, attribute)


def _add_not_found_route(router: APIRouter) -> None:
    """Answer unknown paths under `/v1` with a problem document. Otherwise they would reach the AWS door, which answers in XML."""

    @router.api_route("", methods=_METHODS, include_in_schema=False)
    @router.api_route("/{rest:path}", methods=_METHODS, include_in_schema=False)
    async def not_found(request: Request) -> JSONResponse:
        raise NotFound(
            f"The API has no {request.method} {request.url.path[:200]}. /v1/openapi.json lists all its routes."
        )


async def _response(context: ApiPorts, result: MutationResult) -> JSONResponse:
    """The mutation, decision and outcome of one proposal; a refusal or failure as a problem document with the same members."""
    mutation, decision, outcome = result.mutation, result.decision, result.outcome
    size = BYTES_OF_AN_EFFECT * len(mutation.effects)
    members: dict[str, Any] = await off_loop(
        size,
        lambda: told(
            mutation.caller,
            {
                "mutation": mutation_to_json(mutation),
                "decision": None if decision is None else decision_to_json(decision),
                "outcome": outcome_to_json(outcome),
            },
        ),
    )
    match outcome:
        case None:
            return JSONResponse({**members, "dry_run": True})
        case Applied():
            return JSONResponse(
                {**members, "response": context.response(mutation.call, outcome.reply), "repeated": decision is None}
            )
        case Refused():
            held = outcome.decision.verdict is Verdict.HOLD
            return problem(
                202 if held else 403,
                "held" if held else _refused_code(outcome.decision),
                refusal_text(mutation, outcome.decision),
                **members,
            )
        case Failed():
            detail = f"AWS refused the call: {outcome.code}: {outcome.message} Nothing changed."
            return problem(422, "aws_refused", detail, **members)
        case InDoubt():
            return problem(409, "outcome_unknown", in_doubt_text(mutation, outcome), **members, retry_safe=False)


def _refused_code(decision: Decision) -> str:
    """`stopped` if a person stopped such changes: it may be tried again once that is over; else `refused`."""
    return "stopped" if any(finding.rule == STOPPED for finding in decision.objections) else "refused"


def _aware(time: datetime | None) -> datetime | None:
    """The same time in UTC. Raises `errors.Malformed` if it has no time zone, or is outside the calendar there."""
    if time is None:
        return None
    if time.tzinfo is None:
        raise Malformed("A time needs a zone, e.g. 2026-11-21T09:00:00Z.")
    try:
        return time.astimezone(UTC)
    except OverflowError:
        raise Malformed("A time lies outside the calendar, which has the years 1 to 9999 in UTC.") from None
