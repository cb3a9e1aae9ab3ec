"""The API's route for the keys and sessions of an actor. Keys are made and revoked by `sentinel key`, where the master key is."""

from typing import Annotated, Any, Final

from fastapi import Query

from gateway.core.errors import NotAllowed
from gateway.core.ports import ActorKey, ActorSession
from gateway.doors.api.ports import Authenticated, Ports
from gateway.doors.api.routers import keyed_router
from gateway.presentation.serialize import time_to_json

_MOST_ROLES: Final = 50
"""Roles of the gateway whose sessions are looked for."""

router = keyed_router()


@router.get(
    "/keys", summary="The keys of an actor that have not ended, and the sessions open with each; never a secret"
)
async def keys(
    ports: Ports, caller: Authenticated, actor: Annotated[str, Query(min_length=1, max_length=256)]
) -> dict[str, Any]:
    """The keys, newest first, at most 50, each with at most 10 sessions: people and pipelines see everybody's, others their own."""
    if not caller.sees_all and actor != caller.actor:
        raise NotAllowed("Only people and pipelines may see which keys others have. Ask for your own.")
    found = await ports.queries.keys_of(actor, sorted(ports.roles.names)[:_MOST_ROLES], ports.clock.now())
    return {"keys": [_key_to_json(each) for each in found]}


def _key_to_json(key: ActorKey) -> dict[str, Any]:
    return {
        "id": key.id,
        "kind": key.kind,
        "roles": list(key.roles),
        "on_behalf_of": key.on_behalf_of,
        "created_at": time_to_json(key.created_at),
        "expires_at": time_to_json(key.expires_at),
        "open_sessions": key.open_sessions,
        "sessions": [_session_to_json(each) for each in key.sessions],
    }


def _session_to_json(session: ActorSession) -> dict[str, Any]:
    return {
        "id": session.id,
        "intent": session.intent,
        "motivation": session.motivation,
        "created_at": time_to_json(session.created_at),
        "expires_at": time_to_json(session.expires_at),
    }
