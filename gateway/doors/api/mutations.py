"""Routes about one mutation beside its records: its explanation, and passing it at once in an emergency."""

from typing import Annotated, Any

import structlog
from fastapi import APIRouter, Depends, Request

from gateway.core.errors import NotFound
from gateway.core.http.asgi import door_of_scope
from gateway.core.model.caller import Caller
from gateway.core.off_loop import off_loop
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.doors.api.schemas import GlassBody, body_of, openapi_body
from gateway.doors.api.shared import ApiPorts, told
from gateway.presentation.explanation import explanation_of
from gateway.presentation.serialize import time_to_json

_BYTES_OF_A_RECORD = 2_000


def add_explanation_route(router: APIRouter, context: ApiPorts) -> None:
    """Add `GET /mutations/{mutation_id}/explanation`."""

    @router.get(
        "/mutations/{mutation_id}/explanation",
        summary="Why a mutation was decided as it was: every check, rule, fact and rival, and what to do next",
    )
    async def explanation(caller: Annotated[Caller, Depends(context.caller)], mutation_id: str) -> dict[str, Any]:
        return await explanation_answer(context, caller, mutation_id)


async def explanation_answer(context: ApiPorts, caller: Caller, mutation_id: str) -> dict[str, Any]:
    """The explanation of a mutation, as this caller may see it. Raises `errors.NotFound`."""
    # Not `visible_records`: the contest is needed, and shown only as far as the caller may see it.
    records = await context.queries.records(RecordQuery(mutation_id=mutation_id, newest_first=False))
    decided = [record for record in records if record.stage is Stage.DECIDED]
    if not decided or not (caller.sees_all or decided[0].actor == caller.actor):
        raise NotFound(f"There is no mutation {mutation_id[:64]} that this key may see.")
    size = _BYTES_OF_A_RECORD * len(records)
    document = await off_loop(size, lambda: explanation_of(records, sees_all=caller.sees_all))
    return told(caller, document)


log = structlog.get_logger()


def add_glass_route(router: APIRouter, context: ApiPorts) -> None:
    """Add `POST /mutations/{mutation_id}/break-glass`."""

    @router.post(
        "/mutations/{mutation_id}/break-glass",
        openapi_extra=openapi_body(GlassBody),
        summary="Pass a held call at once, in an emergency; the reason is recorded",
    )
    async def break_glass(
        request: Request, caller: Annotated[Caller, Depends(context.caller)], mutation_id: str
    ) -> dict[str, Any]:
        body = await body_of(context.inbound(request), GlassBody)
        approval = await context.commands.break_glass(
            mutation_id, human=caller, reason=body.reason, at=context.clock.now(), door=door_of_scope(request.scope)
        )
        context.wakeups.wake(mutation_id)
        log.warning("glass_broken", mutation=mutation_id, by=caller.actor, reason=body.reason, approval=approval.id)
        until = time_to_json(approval.until)
        return {"approval_id": approval.id, "mutation_id": mutation_id, "passed_by": caller.actor, "until": until}
