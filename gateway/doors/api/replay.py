"""The API's route for replays: what edited policies would have decided about recorded changes."""

from typing import Any, Final

from fastapi import APIRouter, Request

from gateway.doors.api.ports import Authenticated, Ports
from gateway.doors.api.request_bodies import ReplayBody, body_of, openapi_body
from gateway.policy.replay import HISTORY
from gateway.policy.replays import LARGEST_BUNDLE

router = APIRouter()

_LARGEST_REQUEST: Final = 2 * LARGEST_BUNDLE


@router.post(
    "/replay",
    openapi_extra=openapi_body(ReplayBody, required=False),
    summary="Which recorded verdicts would be others under edited policies",
)
async def replay(ports: Ports, request: Request, caller: Authenticated) -> dict[str, Any]:
    """One page, newest first: the flips, how many were replayed and how many could not be, and where the next page begins."""
    body = await body_of(ports.inbound(request, _LARGEST_REQUEST), ReplayBody, default=ReplayBody())
    page = await ports.replays.page(caller, body.range(), bundle=body.bundle, revision=body.revision)
    return {**page, "history": HISTORY}
