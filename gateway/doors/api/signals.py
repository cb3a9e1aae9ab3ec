"""The API's routes about signals: where sources send them, and which there are."""

from functools import partial
from typing import Annotated, Any

from fastapi import Query, Request

from gateway.core.errors import NotAllowed
from gateway.core.model.signal import Signal, SignalState, scopes_to_json
from gateway.core.ports import SignalQuery
from gateway.doors.api.ports import Authenticated, Ports
from gateway.doors.api.routers import keyed_router, unkeyed_router
from gateway.presentation.serialize import time_to_json

MAX_MESSAGE_BYTES = 1024 * 1024
"""Largest message of a source."""
MOST_PROVEN = 2_000
"""Open claims with a proof that are looked at to tell how many each signal proves."""

router = keyed_router()
unkeyed = unkeyed_router()


@unkeyed.post("/signals/{source}", summary="What a monitoring system says about its alerts, in its own form")
async def receive(ports: Ports, request: Request, source: str) -> dict[str, Any]:
    """How many signals the message had, and what became of them. Sources have no key: a message proves where it comes from."""
    receipt = await ports.take_signed(request, MAX_MESSAGE_BYTES, partial(ports.intake.receive, source))
    return {"received": receipt.received, "changed": receipt.changed, "unmapped": receipt.unmapped}


@router.get("/signals", summary="Open signals such as alerts, with what they concern; with every, closed ones too")
async def signals(
    ports: Ports,
    caller: Authenticated,
    *,
    stack: str = "",
    service: str = "",
    source: str = "",
    every: bool = False,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> dict[str, Any]:
    """The signals of the filter, each with how many open claims it proves, of 2,000 at most that are looked at.

    Agents do not see them: an alert that an agent does not know of is not why it acts.
    """
    if not caller.sees_all:
        raise NotAllowed("Only people and pipelines may list the signals. Name as evidence the alert that you act on.")
    query = SignalQuery(
        state=None if every else SignalState.OPEN, stack=stack, service=service, source=source, limit=limit
    )
    found = await ports.intake.ledger.signals(query)
    proves = await ports.queries.proofs(limit=MOST_PROVEN) if found else {}
    return {"signals": [signal_to_json(each) | {"proves": proves.get(each.id, 0)} for each in found]}


def signal_to_json(signal: Signal) -> dict[str, Any]:
    """The JSON form of a signal."""
    return {
        "id": signal.id,
        "source": signal.source,
        "key": signal.key,
        "name": signal.name,
        "state": signal.state.value,
        "since": time_to_json(signal.since),
        "at": time_to_json(signal.at),
        "heard_at": time_to_json(signal.heard_at),
        "service": signal.service,
        "labels": dict(signal.labels),
        "concerns": scopes_to_json(signal.scopes),
    }
