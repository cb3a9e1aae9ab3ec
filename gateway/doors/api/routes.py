"""The JSON API under `/v1`: propose a change, follow it, consent to it, and ask the ledger."""

from datetime import datetime
from typing import Annotated, Any

import structlog
from fastapi import APIRouter, Depends, Query, Request, Security
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBearer

from gateway.doors.api.context import Context
from gateway.doors.api.problems import problem
from gateway.doors.api.schemas import ApproveBody, MutationBody, RejectBody, SessionBody, body_of, described
from gateway.doors.refusal import refusal_text
from gateway.doors.serialize import (
    claim_to_json,
    decision_to_json,
    mutation_to_json,
    outcome_to_json,
    record_to_json,
    time_to_json,
)
from gateway.errors import Malformed, NotFound, SentinelError
from gateway.model.caller import Caller
from gateway.model.outcome import Applied, Failed, InDoubt, Refused
from gateway.model.record import Stage
from gateway.model.verdict import Verdict
from gateway.pipeline import MutationResult
from gateway.ports import RecordQuery

log = structlog.get_logger()

_BEARER = HTTPBearer(auto_error=False, description="`<key id>.<secret>` of a key that this gateway issued.")
"""For the description only; `Context.caller` is what lets people in."""
_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
_LARGEST = 2**63 - 1
"""The largest integer that the ledger's database can hold."""


def routes(context: Context) -> APIRouter:
    """All routes of the API, over one set of ports. What is under `/v1` and none of them is not there."""
    router = APIRouter(prefix="/v1", dependencies=[Security(_BEARER)])
    _changes(router, context)
    _consent(router, context)
    _questions(router, context)
    _nothing_else(router)
    return router


def _changes(router: APIRouter, context: Context) -> None:
    @router.post(
        "/mutations",
        openapi_extra=described(MutationBody),
        summary="Propose a change; with dry_run, only hear the decision",
    )
    async def propose(request: Request) -> JSONResponse:
        caller, asked = await context.admit(request)
        try:
            return await _replied(context, await context.pipeline.execute(caller, asked))
        except SentinelError:
            raise
        except Exception:
            log.exception("proposal_broke", service=asked.call.service, operation=asked.call.operation)
            message = "Sentinel met an error of its own. Whether anything was sent is in `sentinel records`; do not send it again before."
            return problem(409, "outcome_unknown", message, retry_safe=False)

    @router.get("/mutations/{mutation_id}", summary="One mutation's life, record by record")
    async def mutation(caller: Annotated[Caller, Depends(context.caller)], mutation_id: str) -> dict[str, Any]:
        records = await context.own_records(caller, RecordQuery(mutation_id=mutation_id, newest_first=False))
        if not records:
            raise NotFound(f"There is no mutation {mutation_id[:64]} that this key may see.")
        return {"mutation_id": mutation_id, "records": [record_to_json(record) for record in records]}

    @router.post(
        "/sessions",
        openapi_extra=described(SessionBody),
        summary="A temporary key that carries a motive, for unmodified AWS clients",
    )
    async def session(request: Request, caller: Annotated[Caller, Depends(context.caller)]) -> dict[str, Any]:
        body = await body_of(context.inbound(request), SessionBody)
        return await context.session(caller, body)


def _consent(router: APIRouter, context: Context) -> None:
    @router.post(
        "/mutations/{mutation_id}/approve",
        openapi_extra=described(ApproveBody, required=False),
        summary="Consent to exactly one held call",
    )
    async def approve(
        request: Request, caller: Annotated[Caller, Depends(context.caller)], mutation_id: str
    ) -> dict[str, Any]:
        consent = await body_of(context.inbound(request), ApproveBody, default=ApproveBody())
        approval = await context.commands.approve(
            mutation_id, approver=caller, at=context.clock.now(), lasts=consent.duration()
        )
        return {
            "approval_id": approval.id,
            "mutation_id": mutation_id,
            "approver": approval.approver,
            "until": time_to_json(approval.until),
        }

    @router.post(
        "/mutations/{mutation_id}/reject",
        openapi_extra=described(RejectBody, required=False),
        summary="Refuse a held call for good",
    )
    async def reject(
        request: Request, caller: Annotated[Caller, Depends(context.caller)], mutation_id: str
    ) -> dict[str, Any]:
        body = await body_of(context.inbound(request), RejectBody, default=RejectBody())
        await context.commands.reject(mutation_id, approver=caller, reason=body.reason, at=context.clock.now())
        return {"mutation_id": mutation_id, "rejected_by": caller.actor}

    @router.post("/mutations/{mutation_id}/release", summary="End a mutation's claims before their time")
    async def release(caller: Annotated[Caller, Depends(context.caller)], mutation_id: str) -> dict[str, Any]:
        ended = await context.commands.release(mutation_id, caller=caller, at=context.clock.now())
        return {"mutation_id": mutation_id, "released": [claim_to_json(claim) for claim in ended]}


def _questions(router: APIRouter, context: Context) -> None:
    @router.get("/records", summary="What was asked, decided and done")
    async def records(
        caller: Annotated[Caller, Depends(context.caller)],
        *,
        actor: str = "",
        intent: str = "",
        motivation: str = "",
        resource: str = "",
        stage: Stage | None = None,
        verdict: str = "",
        since: datetime | None = None,
        until: datetime | None = None,
        after_seq: Annotated[int, Query(ge=0, le=_LARGEST)] = 0,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> dict[str, Any]:
        query = RecordQuery(
            actor=actor,
            intent=intent,
            motivation=motivation,
            resource=resource,
            stage=stage,
            verdict=verdict,
            since=_aware(since),
            until=_aware(until),
            after_seq=after_seq,
            limit=limit,
        )
        found = await context.own_records(caller, query)
        return {"records": [record_to_json(record) for record in found]}

    @router.get("/claims", summary="Who holds what, why and until when")
    async def claims(
        caller: Annotated[Caller, Depends(context.caller)], address: str = "", actor: str = "", every: bool = False
    ) -> dict[str, Any]:
        found = await context.queries.claims(address=address, actor=actor, open_only=not every)
        return {"claims": [claim_to_json(claim) for claim in found if _may_see(caller, claim.actor)]}

    @router.get("/blame", summary="Who set an attribute, for what goal, why then")
    async def blame(caller: Annotated[Caller, Depends(context.caller)], address: str, attribute: str) -> dict[str, Any]:
        return await context.blamed(caller, address, attribute)


def _nothing_else(router: APIRouter) -> None:
    """Without this, a mistyped path of the API would reach the AWS door and be answered in XML."""

    @router.api_route("", methods=_METHODS, include_in_schema=False)
    @router.api_route("/{rest:path}", methods=_METHODS, include_in_schema=False)
    async def nothing(request: Request) -> JSONResponse:
        raise NotFound(f"The API has no {request.method} {request.url.path[:200]}. /v1/openapi.json lists what it has.")


async def _replied(context: Context, carried: MutationResult) -> JSONResponse:
    """The whole story of one proposal; a refusal as a problem document with the decision inside."""
    mutation, decision, outcome = carried.mutation, carried.decision, carried.outcome
    told_all = {
        "mutation": mutation_to_json(mutation),
        "decision": None if decision is None else decision_to_json(decision),
        "outcome": outcome_to_json(outcome),
    }
    match outcome:
        case None:
            return JSONResponse({**told_all, "dry_run": True})
        case Applied():
            return JSONResponse(
                {**told_all, "response": context.response(mutation.call, outcome.reply), "repeated": decision is None}
            )
        case Refused():
            held = outcome.decision.verdict is Verdict.HOLD
            return problem(
                202 if held else 403,
                "held" if held else "refused",
                refusal_text(mutation, outcome.decision),
                **told_all,
            )
        case Failed():
            detail = f"AWS refused the call: {outcome.code}: {outcome.message} Nothing changed."
            return problem(422, "aws_refused", detail, **told_all)
        case InDoubt():
            return problem(409, "outcome_unknown", in_doubt(outcome), **told_all, retry_safe=False)


def in_doubt(outcome: InDoubt) -> str:
    """What a caller is told when nobody knows yet whether AWS did it."""
    return f"Whether AWS carried this out is not known: {outcome.reason} It is not sent again and its claim stands until the truth is read back."


def _aware(moment: datetime | None) -> datetime | None:
    if moment is not None and moment.tzinfo is None:
        raise Malformed("A time needs a zone, e.g. 2026-11-21T09:00:00Z.")
    return moment


def _may_see(caller: Caller, actor: str) -> bool:
    """Agents and services see what they did; people and pipelines see everything."""
    return caller.sees_all or caller.actor == actor
