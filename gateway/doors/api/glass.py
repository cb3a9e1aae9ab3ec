"""The route by which a human passes a hold at once, in an emergency."""

from typing import Annotated, Any

import structlog
from fastapi import APIRouter, Depends, Request

from gateway.doors.api.context import Context
from gateway.doors.api.schemas import GlassBody, body_of, openapi_body
from gateway.doors.asgi import door_of_scope
from gateway.doors.serialize import time_to_json
from gateway.model.caller import Caller

log = structlog.get_logger()


def add_glass_route(router: APIRouter, context: Context) -> None:
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
