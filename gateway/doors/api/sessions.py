"""The API's route for sessions: temporary keys with a motive, for unmodified AWS clients."""

from typing import Any

from fastapi import APIRouter, Request

from gateway.core.errors import NotAllowed
from gateway.core.model.caller import Caller
from gateway.core.ports import KeyRing
from gateway.doors.api.ports import Authenticated, Ports
from gateway.doors.api.request_bodies import SessionBody, body_of, openapi_body
from gateway.presentation.serialize import time_to_json

router = APIRouter()


@router.post(
    "/sessions",
    openapi_extra=openapi_body(SessionBody),
    summary="A temporary key with a motive, for unmodified AWS clients",
)
async def session(ports: Ports, request: Request, caller: Authenticated) -> dict[str, Any]:
    """The new key: its id, secret and expiry."""
    return await open_session(ports.keys, caller, await body_of(ports.inbound(request), SessionBody))


async def open_session(keys: KeyRing, caller: Caller, body: SessionBody) -> dict[str, Any]:
    """A new session key for the caller: its id, secret and expiry.

    Raises `errors.NotAllowed` if the caller itself used a session key, because sessions could otherwise renew themselves for ever; and for a
    motive that the caller's key does not allow.
    """
    if caller.in_session:
        raise NotAllowed("A session key cannot make further session keys; use the standing key it was made with.")
    key = await keys.issue(
        actor=caller.actor,
        kind=caller.kind,
        roles=caller.roles,
        on_behalf_of=caller.on_behalf_of,
        motive=body.motive.motive(),
        lasts=body.duration(),
        session_of=caller.key_id,
    )
    return {"access_key_id": key.id, "secret_access_key": key.secret, "expires_at": time_to_json(key.expires_at)}
