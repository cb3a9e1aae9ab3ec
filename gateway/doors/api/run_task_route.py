"""The API's route for HCP Terraform's run task. Its requests carry no key of ours but a signature over the body."""

from typing import Any, Final

from fastapi import APIRouter, Request

from gateway.core.errors import Malformed, NotAllowed, NotAuthenticated
from gateway.core.http.asgi import RequestBody, declared_length, inbound_of
from gateway.doors.api.run_task import LARGEST_REQUEST
from gateway.doors.api.shared import ApiPorts

_SIGNED: Final = {
    "name": "X-Tfc-Task-Signature",
    "in": "header",
    "required": True,
    "description": "HMAC-SHA512 of the body in hexadecimal digits; it stands for the bearer key of the other routes.",
    "schema": {"type": "string"},
}


def add_run_task_route(router: APIRouter, context: ApiPorts) -> None:
    """Add the route. A request that is refused is recorded, as any stranger's."""

    @router.post(
        "/run-tasks/hcp",
        openapi_extra={"parameters": [_SIGNED]},
        summary="The run task of HCP Terraform: signed with its HMAC key",
    )
    async def run_task(request: Request) -> dict[str, Any]:
        body = RequestBody(request.receive, LARGEST_REQUEST, declared=declared_length(request.scope))
        inbound = inbound_of(request.scope, body, context.clock)
        try:
            return {"run_task": await context.run_task.take(inbound)}
        except (NotAuthenticated, Malformed, NotAllowed) as error:
            await context.pipeline.turn_away(inbound, error)
            raise
