"""The API's routes about notices: what became of them, and one to be sent again."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from gateway.doors.api.context import Context
from gateway.doors.api.schemas import body_of, openapi_body
from gateway.errors import NotAllowed
from gateway.model.caller import Caller


class ResendBody(BaseModel):
    """Which notice is sent again, and to whom."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    receiver: Annotated[str, Field(max_length=64)]
    id: Annotated[str, Field(max_length=64, description="The notice's id, `rec_…`.")]


def add_delivery_routes(router: APIRouter, context: Context) -> None:
    """Add the routes. Only people and pipelines see deliveries: they name everybody's changes."""

    @router.get("/deliveries", summary="What became of webhooks and cards: the last attempt of each, newest first")
    async def deliveries(
        caller: Annotated[Caller, Depends(context.caller)],
        *,
        receiver: Annotated[str, Query(max_length=64)] = "",
        state: Literal["", "delivered", "retrying", "given_up", "failed"] = "",
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> dict[str, Any]:
        if not caller.sees_all:
            raise NotAllowed("Only people and pipelines may list deliveries.")
        found = await context.deliveries.listed(receiver=receiver, state=state, limit=limit)
        return {"deliveries": found, "receivers": await context.deliveries.summary()}

    @router.post(
        "/deliveries/resend", openapi_extra=openapi_body(ResendBody), summary="Have a notice sent again, with its id"
    )
    async def resend(request: Request, caller: Annotated[Caller, Depends(context.caller)]) -> dict[str, Any]:
        body = await body_of(context.inbound(request), ResendBody)
        return await context.deliveries.resend(caller, body.receiver, body.id)
