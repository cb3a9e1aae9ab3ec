"""The routes about notices: requests of the chat, the links of its users, deliveries, and one to be sent again."""

from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from gateway.core.errors import Malformed, NotAllowed, NotAuthenticated
from gateway.core.http.asgi import RequestBody, declared_length, inbound_of
from gateway.core.model.caller import Caller
from gateway.doors.api.schemas import body_of, openapi_body
from gateway.doors.api.shared import ApiPorts
from gateway.doors.chat.slack_request import LARGEST_REQUEST, is_user

_SIGNED: Final = {
    "name": "X-Slack-Signature",
    "in": "header",
    "required": True,
    "description": "HMAC-SHA256 of `v0:time:body` with the app's signing secret; it stands for the bearer key of the other routes.",
    "schema": {"type": "string"},
}


class LinkBody(BaseModel):
    """Which user of the chat the caller is."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    user: Annotated[str, Field(max_length=32, description="The id of your own user in the chat, `U…`.")]


def add_slack_route(router: APIRouter, context: ApiPorts) -> None:
    """Add the route for the chat. A request that is refused is recorded, as any stranger's."""

    @router.post(
        "/chat/slack",
        openapi_extra={"parameters": [_SIGNED]},
        summary="What people click and type in Slack: signed with the app's signing secret",
    )
    async def slack(request: Request) -> Response:
        body = RequestBody(request.receive, LARGEST_REQUEST, declared=declared_length(request.scope))
        inbound = inbound_of(request.scope, body, context.clock)
        try:
            said = await context.chat.take(inbound)
        except (NotAuthenticated, Malformed, NotAllowed) as error:
            await context.pipeline.turn_away(inbound, error)
            raise
        return JSONResponse({"response_type": "ephemeral", "text": said}) if said else Response()


def add_chat_routes(router: APIRouter, context: ApiPorts) -> None:
    """Add the routes by which people link themselves."""

    @router.get("/chat/links", summary="Which user of the chat is which person")
    async def links(caller: Annotated[Caller, Depends(context.caller)]) -> dict[str, Any]:
        context.chat.require_on()
        if not caller.sees_all:
            raise NotAllowed("Only people and pipelines may list who is who in the chat.")
        return {"team": context.chat.links.team, "links": await context.chat.links.all()}

    @router.post(
        "/chat/links",
        openapi_extra=openapi_body(LinkBody),
        summary="Ask to be a user of the chat; the code that this user must type there",
    )
    async def link(request: Request, caller: Annotated[Caller, Depends(context.caller)]) -> dict[str, Any]:
        context.chat.require_on()
        body = await body_of(context.inbound(request), LinkBody)
        return await context.chat.links.ask(caller, _user(body.user))

    @router.delete("/chat/links/{user}", summary="End a link")
    async def unlink(caller: Annotated[Caller, Depends(context.caller)], user: str) -> dict[str, Any]:
        context.chat.require_on()
        return await context.chat.links.unlink(caller, _user(user))


def _user(text: str) -> str:
    if not is_user(text):
        raise Malformed(f"{text[:40]!r} is not the id of a user of the chat, which looks like U0123ABCD.")
    return text


class ResendBody(BaseModel):
    """Which notice is sent again, and to whom."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    receiver: Annotated[str, Field(max_length=64)]
    id: Annotated[str, Field(max_length=64, description="The notice's id, `rec_…`.")]


def add_delivery_routes(router: APIRouter, context: ApiPorts) -> None:
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
