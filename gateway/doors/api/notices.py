"""The routes about notices: requests of the chat, the links of its users, deliveries, and one to be sent again."""

from typing import Annotated, Any, Final, Literal

from fastapi import Query, Request
from fastapi.responses import JSONResponse, Response

from gateway.core.errors import Malformed, NotAllowed
from gateway.doors.api.ports import Authenticated, Ports
from gateway.doors.api.request_bodies import LinkBody, ResendBody, body_of, openapi_body
from gateway.doors.api.routers import keyed_router, unkeyed_router
from gateway.doors.chat.slack_request import LARGEST_REQUEST, is_user

router = keyed_router()
unkeyed = unkeyed_router()

_SIGNED: Final = {
    "name": "X-Slack-Signature",
    "in": "header",
    "required": True,
    "description": "HMAC-SHA256 of `v0:time:body` with the app's signing secret; it stands for the bearer key of the other routes.",
    "schema": {"type": "string"},
}


@unkeyed.post(
    "/chat/slack",
    openapi_extra={"parameters": [_SIGNED]},
    summary="What people click and type in Slack: signed with the app's signing secret",
)
async def slack(ports: Ports, request: Request) -> Response:
    """The text for the person who clicked or typed; an empty response if there is none."""
    said = await ports.take_signed(request, LARGEST_REQUEST, ports.chat.take)
    return JSONResponse({"response_type": "ephemeral", "text": said}) if said else Response()


@router.get("/chat/links", summary="Which user of the chat is which person")
async def links(ports: Ports, caller: Authenticated) -> dict[str, Any]:
    """The links between users of the chat and people."""
    ports.chat.require_on()
    if not caller.sees_all:
        raise NotAllowed("Only people and pipelines may list who is who in the chat.")
    return {"team": ports.chat.links.team, "links": await ports.chat.links.all()}


@router.post(
    "/chat/links",
    openapi_extra=openapi_body(LinkBody),
    summary="Ask to be a user of the chat; the code that this user must type there",
)
async def link(ports: Ports, request: Request, caller: Authenticated) -> dict[str, Any]:
    """The code with which the user proves in the chat who they are."""
    ports.chat.require_on()
    body = await body_of(ports.inbound(request), LinkBody)
    return await ports.chat.links.ask(caller, _user(body.user))


@router.delete("/chat/links/{user}", summary="End a link")
async def unlink(ports: Ports, caller: Authenticated, user: str) -> dict[str, Any]:
    """The link, ended."""
    ports.chat.require_on()
    return await ports.chat.links.unlink(caller, _user(user))


def _user(text: str) -> str:
    if not is_user(text):
        raise Malformed(f"{text[:40]!r} is not the id of a user of the chat, which looks like U0123ABCD.")
    return text


@router.get("/deliveries", summary="What became of webhooks and cards: the last attempt of each, newest first")
async def deliveries(
    ports: Ports,
    caller: Authenticated,
    *,
    receiver: Annotated[str, Query(max_length=64)] = "",
    state: Literal["", "delivered", "retrying", "given_up", "failed"] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> dict[str, Any]:
    """The last attempt of each delivery, newest first. Only people and pipelines see them: they name everybody's changes."""
    if not caller.sees_all:
        raise NotAllowed("Only people and pipelines may list deliveries.")
    found = await ports.deliveries.listed(receiver=receiver, state=state, limit=limit)
    return {"deliveries": found, "receivers": await ports.deliveries.summary()}


@router.post(
    "/deliveries/resend", openapi_extra=openapi_body(ResendBody), summary="Have a notice sent again, with its id"
)
async def resend(ports: Ports, request: Request, caller: Authenticated) -> dict[str, Any]:
    """The delivery that begins again."""
    body = await body_of(ports.inbound(request), ResendBody)
    return await ports.deliveries.resend(caller, body.receiver, body.id)
