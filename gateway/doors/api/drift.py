"""The API's routes for drift: list it, decide about a change from outside, report how well such changes are healed."""

from typing import Any, Literal

from fastapi import Request

from gateway.context.reader import FOREIGN, DriftQuery
from gateway.core.drift_book import DriftAction, ForeignDrift
from gateway.core.errors import NotAllowed
from gateway.core.model.caller import Caller
from gateway.core.model.json import to_json
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Record, Stage, to_members
from gateway.doors.api.ports import ApiPorts, Authenticated, Ports, told
from gateway.doors.api.request_bodies import DriftBody, body_of, openapi_body
from gateway.doors.api.routers import keyed_router
from gateway.drift.heal_report import heal_report
from gateway.presentation.serialize import time_to_json

_MOST = 10_000
_STAGES = (Stage.DRIFTED, Stage.DRIFT_DECIDED, Stage.DRIFT_SETTLED)


router = keyed_router()


@router.get(
    "/drift",
    summary="By which values live and code differ, by changes from outside or our own, and what becomes of them",
)
async def drift(
    ports: Ports,
    caller: Authenticated,
    stack: str = "",
    cause: Literal["", "applied", "foreign"] = "",
) -> dict[str, Any]:
    """The drift of the filter."""
    return await visible_drift(ports, caller, DriftQuery(stack=stack, cause=cause))


@router.post(
    "/drift/{drift_id}/decide", openapi_extra=openapi_body(DriftBody), summary="Decide about a change from outside"
)
async def decide(ports: Ports, request: Request, caller: Authenticated, drift_id: str) -> dict[str, Any]:
    """The change from outside, with the decision."""
    body = await body_of(ports.inbound(request), DriftBody)
    decided = await ports.drift.decide(drift_id, DriftAction(body.action), caller=caller, reason=body.reason)
    return {"drift": drift_to_json(decided)}


@router.get("/heal/report", summary="Time to repair, false positives and rollbacks of changes from outside")
async def report(ports: Ports, caller: Authenticated) -> dict[str, Any]:
    """How well changes from outside were healed."""
    _refuse_blind(caller)
    records: list[Record] = []
    for stage in _STAGES:
        records += await ports.queries.records(RecordQuery(stage=stage, limit=_MOST))
    return {"report": heal_report(records).to_json()}


async def visible_drift(ports: ApiPorts, caller: Caller, query: DriftQuery) -> dict[str, Any]:
    """By which values live and code differ. Raises `errors.NotAllowed` for those who see only what is their own."""
    _refuse_blind(caller)
    await ports.drift.book.read(ports.queries)
    foreign = [drift_to_json(each) for each in ports.drift.book.open.values()]
    return told(caller, await ports.readers.drift(caller, foreign, query, ports.drift.book.looked))


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
