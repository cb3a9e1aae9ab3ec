"""The API's route for what Sentinel left to a human: values not written into the code, changes for a time not put back, and outcomes that nothing showed."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Query

from gateway.core.model.json import to_json
from gateway.core.model.time_box import TimeBoxPart
from gateway.core.ports import DoubtLedger, LedgerQueries, RecordQuery, TimeBoxLedger
from gateway.core.records.codec import bodies_of, body_of
from gateway.core.records.record import Record, Stage, to_members
from gateway.core.records.settled import SettledBody
from gateway.core.records.time_boxes import AttributeKey, NotPutBackBody
from gateway.core.records.write_backs import ReconciledBody
from gateway.doors.api.ports import Authenticated, Ports, told
from gateway.doors.api.routers import keyed_router
from gateway.presentation.serialize import time_to_json

MOST_RECORDS = 10_000
"""How many reports of the reconciler that leave something are shown, the newest."""

router = keyed_router()


@router.get(
    "/left",
    summary="What Sentinel left to a human: values not written into code or not put back, outcomes that nothing showed",
)
async def left(
    ports: Ports, caller: Authenticated, limit: Annotated[int, Query(ge=1, le=MOST_RECORDS)] = MOST_RECORDS
) -> dict[str, Any]:
    """The list, newest first: people and pipelines see all, agents and services what is left of their own mutations.

    `limit` is how many reports of the reconciler are read; `more` says whether there are others.
    """
    actor = "" if caller.sees_all else caller.actor
    found, more = await left_to_humans(ports.queries, ports.doubts, ports.time_boxes.ledger, actor=actor, limit=limit)
    return told(caller, {"left": found, "more": more})


async def left_to_humans(
    queries: LedgerQueries,
    doubts: DoubtLedger,
    boxes: TimeBoxLedger | None = None,
    *,
    actor: str = "",
    limit: int = MOST_RECORDS,
) -> tuple[list[dict[str, Any]], bool]:
    """A list of the work that is left to humans now, newest first, and whether there is more; with `actor`, only of that actor's mutations.

    `limit` reports of the reconciler are read, and as many outcomes in doubt. Raises `errors.LedgerUnavailable`.
    """
    reports = await queries.records(RecordQuery(stage=Stage.RECONCILED, left=True, actor=actor, limit=limit))
    unwritten = [entry for record in reports for entry in _unwritten(record)]
    in_doubt = [doubt for doubt in await doubts.in_doubt() if doubt.left_to_human]
    unsettled = [
        _unsettled(record, record.body)
        for doubt in in_doubt[:limit]
        for record in await queries.records(_settled_query(doubt.mutation_id, actor))
        if isinstance(record.body, SettledBody) and record.body.left_to_human
    ]
    not_put_back = await _not_put_back(queries, boxes, actor) if boxes is not None else []
    rows = sorted([*unwritten, *unsettled, *not_put_back], key=lambda entry: str(entry["since"]), reverse=True)
    return rows, len(reports) == limit or len(in_doubt) > limit


async def _not_put_back(queries: LedgerQueries, boxes: TimeBoxLedger, actor: str) -> list[dict[str, Any]]:
    """The changes for a time that did not go back, and that nobody changed since."""
    left = await boxes.time_boxes(actor=actor, left=True)
    reasons = {
        mutation: await queries.records(RecordQuery(mutation_id=mutation, stage=Stage.NOT_PUT_BACK))
        for mutation in {part.mutation_id for part in left}
    }
    return [_kept(part, _about(reasons[part.mutation_id], part)) for part in left]


def _about(records: Sequence[Record], part: TimeBoxPart) -> Record | None:
    """The newest record about this attribute."""
    wanted = AttributeKey(address=part.address, attribute=part.attribute)
    return next(
        (each for each in records if isinstance(each.body, NotPutBackBody) and wanted in each.body.attributes), None
    )


def _kept(part: TimeBoxPart, record: Record | None) -> dict[str, Any]:
    return {
        "mutation_id": part.mutation_id,
        "since": time_to_json(record.at if record else part.until),
        "actor": part.actor,
        "stack": part.stack,
        "kind": "not_put_back",
        "address": part.address,
        "attribute": part.attribute,
        "value": to_json(part.value),
        "goes_back_to": to_json(part.base),
        "reason": body_of(record, NotPutBackBody).reason if record else "",
    }


def _settled_query(mutation_id: str, actor: str) -> RecordQuery:
    return RecordQuery(mutation_id=mutation_id, stage=Stage.SETTLED, actor=actor, limit=1)


def _unwritten(record: Record) -> list[dict[str, Any]]:
    left = (entry for body in bodies_of([record], ReconciledBody) for entry in to_members(body.left))
    return [{**_common(record), "kind": "write_back", **entry} for entry in left]


def _unsettled(record: Record, body: SettledBody) -> dict[str, Any]:
    return {**_common(record), "kind": "in_doubt", "reason": body.reason or ""}


def _common(record: Record) -> dict[str, Any]:
    return {
        "mutation_id": record.mutation_id,
        "since": time_to_json(record.at),
        "actor": record.actor,
        "stack": record.stack,
    }
