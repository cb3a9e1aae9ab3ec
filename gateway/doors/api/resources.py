"""The API's routes about resources: which there are, what is known about one, and how it came to be so."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query

from gateway.context.lookup import MOST_LISTED, ResourceQuery
from gateway.context.ports import HistoryQuery
from gateway.core.model.caller import Caller
from gateway.doors.api.answers import context_answer, history_answer, resources_answer
from gateway.doors.api.shared import ApiPorts

OLDEST_SECONDS = 86_400.0
"""The greatest age of live values that a caller may ask for."""
MOST_CHANGES = 200
"""Changes in one answer."""
_LONGEST = Query(max_length=1_024)
_MAX_INTEGER = 2**63 - 1

Name = Annotated[str, _LONGEST]
Seq = Annotated[int, Query(ge=0, le=_MAX_INTEGER)]


def add_resource_routes(router: APIRouter, context: ApiPorts) -> None:
    """Add the routes. Any caller may ask: an agent must know what it would touch, and whom it would contradict."""

    @router.get("/resources", summary="Which resources the stacks have, by a part of a name, by ARN, type or stack")
    async def resources(
        caller: Annotated[Caller, Depends(context.caller)],
        *,
        q: Name = "",
        arn: Name = "",
        resource_type: Annotated[str, Query(alias="type", max_length=128)] = "",
        stack: Name = "",
        after: Name = "",
        limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = 50,
    ) -> dict[str, Any]:
        query = ResourceQuery(q=q, arn=arn, resource_type=resource_type, stack=stack, after=after, limit=limit)
        return await resources_answer(context, caller, query)

    @router.get(
        "/context",
        summary="What is declared, recorded and live, within which bounds, who holds it and until when, what changed last and why",
    )
    async def resource_context(
        caller: Annotated[Caller, Depends(context.caller)],
        address: Name,
        attribute: Name = "",
        max_age_seconds: Annotated[float | None, Query(ge=0, le=OLDEST_SECONDS, allow_inf_nan=False)] = None,
    ) -> dict[str, Any]:
        return await context_answer(context, caller, address, attribute, max_age_seconds)

    @router.get("/history", summary="What changed a resource, or one attribute of it: who, when, for what goal and why")
    async def history(
        caller: Annotated[Caller, Depends(context.caller)],
        address: Name,
        *,
        attribute: Name = "",
        after_seq: Seq = 0,
        before_seq: Seq = 0,
        limit: Annotated[int, Query(ge=1, le=MOST_CHANGES)] = 50,
    ) -> dict[str, Any]:
        query = HistoryQuery(attribute=attribute, after_seq=after_seq, before_seq=before_seq, limit=limit)
        return await history_answer(context, caller, address, query)
