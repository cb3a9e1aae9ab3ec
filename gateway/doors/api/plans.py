"""The route that checks a Terraform plan before its apply."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request

from gateway.core.model.caller import Caller
from gateway.doors.api.plan_body import PlanBody
from gateway.doors.api.schemas import body_of, openapi_body
from gateway.doors.api.shared import ApiPorts, told
from gateway.plans.report import plan_report


def add_plan_routes(router: APIRouter, context: ApiPorts) -> None:
    """Add the route. Any caller may check a plan: it is judged as that caller's."""

    @router.post(
        "/plans",
        openapi_extra=openapi_body(PlanBody),
        summary="What an apply of a Terraform plan would undo or break, before the apply",
    )
    async def check(request: Request, caller: Annotated[Caller, Depends(context.caller)]) -> dict[str, Any]:
        body = await body_of(context.inbound(request), PlanBody, what="plan")
        motive = body.motive.motive() if body.motive else None
        verdict = await context.plans.check(caller, body.plan(), stack=body.stack, motive=motive)
        return told(caller, plan_report(verdict, sees_all=caller.sees_all))
