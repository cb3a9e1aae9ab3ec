"""The API's route for records: what was requested, decided and done."""

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Depends, Query

from gateway.core.errors import Malformed
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.doors.api.ports import MAX_INTEGER, Authenticated, Ports, told
from gateway.doors.api.routers import keyed_router
from gateway.presentation.serialize import record_to_json

router = keyed_router()


def record_filter(
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
    after_seq: Annotated[int, Query(ge=0, le=MAX_INTEGER)] = 0,
    before_seq: Annotated[int, Query(ge=0, le=MAX_INTEGER)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> RecordQuery:
    """The filter that the address gives, for every list that is made of records. Raises `errors.Malformed`."""
    return RecordQuery(
        actor=actor,
        intent=intent,
        motivation=motivation,
        resource=resource,
        stage=stage,
        verdict=verdict,
        key_id=key,
        refused=refused,
        no_evidence=no_evidence,
        since=_in_utc(since),
        until=_in_utc(until),
        after_seq=after_seq,
        before_seq=before_seq,
        limit=limit,
    )


RecordFilter = Annotated[RecordQuery, Depends(record_filter)]
"""A parameter of a route: which records are asked for."""


@router.get("/records", summary="What was requested, decided and done")
async def records(ports: Ports, caller: Authenticated, query: RecordFilter) -> dict[str, Any]:
    """The records of the filter that the caller may see, newest first."""
    found = await ports.visible_records(caller, query)
    older = {} if query.after_seq else await ports.archived(query.since)
    return told(caller, {"records": [record_to_json(record) for record in found], **older})


def _in_utc(time: datetime | None) -> datetime | None:
    """The same time in UTC. Raises `errors.Malformed` if it has no time zone, or is outside the calendar there."""
    if time is None:
        return None
    if time.tzinfo is None:
        raise Malformed("A time needs a zone, e.g. 2026-11-21T09:00:00Z.")
    try:
        return time.astimezone(UTC)
    except OverflowError:
        raise Malformed("A time lies outside the calendar, which has the years 1 to 9999 in UTC.") from None
