"""The API's route for sessions: temporary keys with a motive, for unmodified AWS clients."""

from typing import Any

from fastapi import Request

from gateway.core.errors import NotAllowed
from gateway.core.model.caller import Caller
from gateway.core.ports import Key, KeyRing
from gateway.doors.api.ports import Authenticated, Ports
from gateway.doors.api.request_bodies import CredentialsBody, SessionBody, body_of, openapi_body
from gateway.doors.api.routers import keyed_router
from gateway.identity.roles import SessionRequest, assumed_key, own_key
from gateway.presentation.serialize import time_to_json

router = keyed_router()


@router.post(
    "/sessions",
    openapi_extra=openapi_body(SessionBody),
    summary="A temporary key with a motive, for unmodified AWS clients",
)
async def session(ports: Ports, request: Request, caller: Authenticated) -> dict[str, Any]:
    """The new key: its id, secret and expiry."""
    return await open_session(ports.keys, caller, await body_of(ports.inbound(request), SessionBody))


@router.post(
    "/credentials",
    openapi_extra=openapi_body(CredentialsBody),
    summary="A temporary key for an AWS client that fetches its keys, in a role of the gateway or without one",
)
async def credentials(ports: Ports, request: Request, caller: Authenticated) -> dict[str, Any]:
    """The key: its id, secret, session token and expiry. One like it that was made a moment ago is given again."""
    body = await body_of(ports.inbound(request), CredentialsBody)
    motive = body.motive.motive() if body.motive is not None else None
    wish = SessionRequest(role=body.role, name=body.name, motive=motive, lasts=body.duration())
    if body.role:
        wanted, lasts = assumed_key(caller, ports.roles.named(body.role), wish)
    else:
        wanted, lasts = own_key(caller, wish, roles=caller.roles), body.duration()
    if caller.plan:
        raise NotAllowed("The key of a plan's session makes no other key. No key was made.")
    key = await ports.keys.assume(wanted, lasts=lasts)
    return {**_shown(key), "session_token": key.session_token}


def _shown(key: Key) -> dict[str, Any]:
    return {"access_key_id": key.id, "secret_access_key": key.secret, "expires_at": time_to_json(key.expires_at)}


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
    return _shown(key)
