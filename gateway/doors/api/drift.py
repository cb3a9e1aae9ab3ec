"""The API's routes about changes from outside: which there are, what a human decides, how well they are healed."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request

from gateway.context.reader import FOREIGN, DriftQuery
from gateway.core.drift_book import DriftAction, ForeignDrift
from gateway.core.errors import NotAllowed
from gateway.core.model.caller import Caller
from gateway.core.model.json import to_json
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Record, Stage, to_members
from gateway.doors.api.schemas import DriftBody, body_of, openapi_body
from gateway.doors.api.shared import ApiPorts, told
from gateway.drift.heal_report import heal_report
from gateway.presentation.serialize import time_to_json

_MOST = 10_000
_STAGES = (Stage.DRIFTED, Stage.DRIFT_DECIDED, Stage.DRIFT_SETTLED)


def add_drift_routes(router: APIRouter, context: ApiPorts) -> None:
    """Add the routes. Only people and pipelines see what happens to resources that are not their own."""

    @router.get(
        "/drift",
        summary="By which values live and code differ, by changes from outside or our own, and what becomes of them",
    )
    async def drift(
        caller: Annotated[Caller, Depends(context.caller)],
        stack: str = "",
        cause: Literal["", "applied", "foreign"] = "",
    ) -> dict[str, Any]:
        return await drift_answer(context, caller, DriftQuery(stack=stack, cause=cause))

    @router.post(
        "/drift/{drift_id}/decide", openapi_extra=openapi_body(DriftBody), summary="Decide about a change from outside"
    )
    async def decide(
        request: Request, caller: Annotated[Caller, Depends(context.caller)], drift_id: str
    ) -> dict[str, Any]:
        body = await body_of(context.inbound(request), DriftBody)
        decided = await context.drift.decide(drift_id, DriftAction(body.action), caller=caller, reason=body.reason)
        return {"drift": drift_to_json(decided)}

    @router.get("/heal/report", summary="Time to repair, false positives and rollbacks of changes from outside")
    async def report(caller: Annotated[Caller, Depends(context.caller)]) -> dict[str, Any]:
        _refuse_blind(caller)
        records: list[Record] = []
        for stage in _STAGES:
            records += await context.queries.records(RecordQuery(stage=stage, limit=_MOST))
        return {"report": heal_report(records).to_json()}


async def drift_answer(context: ApiPorts, caller: Caller, query: DriftQuery) -> dict[str, Any]:
    """By which values live and code differ. Raises `errors.NotAllowed` for those who see only what is their own."""
    _refuse_blind(caller)
    await context.drift.book.read(context.queries)
    foreign = [drift_to_json(each) for each in context.drift.book.open.values()]
    return told(caller, await context.readers.drift(caller, foreign, query))


def drift_to_json(drift: ForeignDrift) -> dict[str, Any]:
    """The JSON form of a change from outside."""
    return {
        "id": drift.id,
        "cause": FOREIGN,
        "since": time_to_json(drift.at),
        "stack": drift.stack,
        "address": drift.address,
        "attribute": drift.attribute,
        "live": to_json(drift.live),
        "declared": to_json(drift.declared),
        "sensitive": drift.sensitive,
        "origin": to_members(drift.origin),
        "action": drift.action.value if drift.action else "",
        "rule": drift.rule,
        "reason": drift.reason,
        "decided_by": drift.decided_by,
        "outcome": drift.outcome.value if drift.outcome else "",
        "commit": drift.commit,
        "proposal": {"branch": f"sentinel/{drift.stack}", "commit": drift.commit} if drift.commit else None,
        "needs_human": drift.needs_human,
    }


def _refuse_blind(caller: Caller) -> None:
    if not caller.sees_all:
        raise NotAllowed("Changes from outside concern every actor's resources, so only people and pipelines see them.")
