"""The API's routes about signals: where sources send them, and which there are."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request

from gateway.core.errors import Malformed, NotAllowed, NotAuthenticated
from gateway.core.http.asgi import RequestBody, declared_length, inbound_of
from gateway.core.model.caller import Caller
from gateway.core.model.signal import Signal, SignalState, scopes_to_json
from gateway.core.ports import SignalQuery
from gateway.doors.api.shared import ApiPorts
from gateway.presentation.serialize import time_to_json

MAX_MESSAGE_BYTES = 1024 * 1024
"""Largest message of a source."""


def add_message_route(router: APIRouter, context: ApiPorts) -> None:
    """Add the route for sources. They have no key: a message proves where it comes from."""

    @router.post("/signals/{source}", summary="What a monitoring system says about its alerts, in its own form")
    async def receive(request: Request, source: str) -> dict[str, Any]:
        body = RequestBody(request.receive, MAX_MESSAGE_BYTES, declared=declared_length(request.scope))
        inbound = inbound_of(request.scope, body, context.clock)
        try:
            receipt = await context.intake.receive(source, inbound)
        except (NotAuthenticated, Malformed) as error:
            await context.pipeline.turn_away(inbound, error)
            raise
        return {"received": receipt.received, "changed": receipt.changed, "unmapped": receipt.unmapped}


def add_signal_routes(router: APIRouter, context: ApiPorts) -> None:
    """Add the query. Only people and pipelines see all signals: one that an agent does not know of is not why it acts."""

    @router.get("/signals", summary="Open signals such as alerts, with what they concern; with every, closed ones too")
    async def signals(
        caller: Annotated[Caller, Depends(context.caller)],
        *,
        stack: str = "",
        service: str = "",
        source: str = "",
        every: bool = False,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> dict[str, Any]:
        if not caller.sees_all:
            raise NotAllowed(
                "Only people and pipelines may list the signals. Name as evidence the alert that you act on."
            )
        query = SignalQuery(
            state=None if every else SignalState.OPEN, stack=stack, service=service, source=source, limit=limit
        )
        return {"signals": [signal_to_json(each) for each in await context.intake.ledger.signals(query)]}


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
