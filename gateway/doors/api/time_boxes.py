"""The routes about time-boxed changes: extend one, end it early, and put it back at its end."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import structlog
from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse

from gateway.core.errors import SentinelError
from gateway.core.model.caller import Caller
from gateway.doors.api.problems import problem
from gateway.doors.api.schemas import EndBody, ExtendBody, body_of, openapi_body
from gateway.doors.api.shared import ApiPorts, told
from gateway.doors.api.time_box_commands import part_to_json
from gateway.line.pipeline import MutationResult

log = structlog.get_logger()

Responding = Callable[[MutationResult], Awaitable[JSONResponse]]
"""Makes the reply to a mutation."""


def add_time_box_routes(router: APIRouter, context: ApiPorts, respond: Responding) -> None:
    """Add `POST /mutations/{mutation_id}/extend`, `…/end` and `…/put-back`."""
    _add_moving_routes(router, context)

    @router.post("/mutations/{mutation_id}/put-back", summary="Put a change back whose time is up; for the reconciler")
    async def put_back(caller: Annotated[Caller, Depends(context.caller)], mutation_id: str) -> JSONResponse:
        try:
            return await respond(await context.time_boxes.put_back(caller, mutation_id))
        except SentinelError:
            raise
        except Exception:
            log.exception("put_back_broke", mutation=mutation_id)
            message = "Sentinel had an internal error. `sentinel claims` shows whether the change was put back."
            return problem(409, "outcome_unknown", message, retry_safe=False)


def _add_moving_routes(router: APIRouter, context: ApiPorts) -> None:
    @router.post(
        "/mutations/{mutation_id}/extend",
        openapi_extra=openapi_body(ExtendBody),
        summary="Have a change for a time last for this long from now on",
    )
    async def extend(
        request: Request, caller: Annotated[Caller, Depends(context.caller)], mutation_id: str
    ) -> dict[str, Any]:
        body = await body_of(context.inbound(request), ExtendBody)
        parts = await context.time_boxes.extend(caller, mutation_id, body.duration(), body.reason)
        return told(caller, {"mutation_id": mutation_id, "time_boxes": [part_to_json(part) for part in parts]})

    @router.post(
        "/mutations/{mutation_id}/end",
        openapi_extra=openapi_body(EndBody, required=False),
        summary="Let the end of a change for a time come now",
    )
    async def end(
        request: Request, caller: Annotated[Caller, Depends(context.caller)], mutation_id: str
    ) -> dict[str, Any]:
        body = await body_of(context.inbound(request), EndBody, default=EndBody())
        parts = await context.time_boxes.end(caller, mutation_id, body.reason)
        return told(caller, {"mutation_id": mutation_id, "time_boxes": [part_to_json(part) for part in parts]})
