"""The API's routes for Terraform plans, which are checked before their apply: one for every caller, one for HCP Terraform's run task."""

from typing import Any, Final

from fastapi import Request

from gateway.core.ports import Key
from gateway.doors.api.ports import Authenticated, Ports, told
from gateway.doors.api.request_bodies import EndSessionBody, PlanBody, body_of, openapi_body
from gateway.doors.api.routers import keyed_router, unkeyed_router
from gateway.doors.api.run_task import LARGEST_REQUEST
from gateway.plans.report import plan_report
from gateway.presentation.serialize import time_to_json

router = keyed_router()
unkeyed = unkeyed_router()

_SIGNED: Final = {
    "name": "X-Tfc-Task-Signature",
    "in": "header",
    "required": True,
    "description": "HMAC-SHA512 of the body in hexadecimal digits; it stands for the bearer key of the other routes.",
    "schema": {"type": "string"},
}


@router.post(
    "/plans",
    openapi_extra=openapi_body(PlanBody),
    summary="What an apply of a Terraform plan would undo or break, before the apply",
)
async def check(ports: Ports, request: Request, caller: Authenticated) -> dict[str, Any]:
    """The report. Any caller may check a plan: it is judged as that caller's."""
    body = await body_of(ports.inbound(request), PlanBody, what="plan")
    motive = body.motive.motive() if body.motive else None
    if body.open_session is None:
        verdict = await ports.plans.check(caller, body.plan(), stack=body.stack, motive=motive)
        return told(caller, plan_report(verdict, sees_all=caller.sees_all))
    opened = await ports.opener.open(
        caller, body.plan(), stack=body.stack, motive=motive, lasts=body.open_session.duration()
    )
    report = told(caller, plan_report(opened.verdict, sees_all=caller.sees_all))
    return {**report, "mutation": opened.verdict.mutation.id, "session": _session(opened.key)}


@router.delete(
    "/plans/{mutation_id}/session",
    openapi_extra=openapi_body(EndSessionBody, required=False),
    summary="End the session in which a plan was applied",
)
async def end(ports: Ports, request: Request, caller: Authenticated, mutation_id: str) -> dict[str, Any]:
    """Whether it ended. The key that it was opened with ends it, and its own key."""
    body = await body_of(ports.inbound(request), EndSessionBody, default=EndSessionBody())
    await ports.opener.end(caller, mutation_id, exit_code=body.exit_code)
    return {"ended": True}


def _session(key: Key | None) -> dict[str, Any] | None:
    """The session's key, with its secret; None if none was opened."""
    if key is None:
        return None
    return {"access_key_id": key.id, "secret_access_key": key.secret, "expires_at": time_to_json(key.expires_at)}


@unkeyed.post(
    "/run-tasks/hcp",
    openapi_extra={"parameters": [_SIGNED]},
    summary="The run task of HCP Terraform: signed with its HMAC key",
)
async def run_task(ports: Ports, request: Request) -> dict[str, Any]:
    """The state of the request, in one word."""
    return {"run_task": await ports.take_signed(request, LARGEST_REQUEST, ports.run_task.take)}
