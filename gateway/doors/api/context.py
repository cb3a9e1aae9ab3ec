"""What the API's routes share: the ports, and who may see what."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from fastapi import Request

from gateway.doors.api.decoder import ApiDecoder
from gateway.doors.api.response import parsed
from gateway.doors.api.schemas import SessionBody
from gateway.doors.asgi import RequestBody, inbound_of
from gateway.doors.serialize import time_to_json
from gateway.errors import NotAllowed, NotFound
from gateway.model.caller import Caller
from gateway.model.inbound import Inbound
from gateway.model.json import Json, to_json
from gateway.model.mutation import Call
from gateway.model.outcome import Reply
from gateway.model.record import Record, Stage
from gateway.pipeline import Pipeline
from gateway.ports import Authenticator, Clock, KeyRing, LedgerCommands, LedgerQueries, RecordQuery
from gateway.ports import Request as Asked


class Blamer(Protocol):
    """Who set an attribute."""

    async def blame(self, address: str, attribute: str) -> object | None:
        """A frozen dataclass with the whole story, None where nothing is known."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """One set of ports behind all routes."""

    pipeline: Pipeline
    authenticator: Authenticator
    decoder: ApiDecoder
    queries: LedgerQueries
    blamer: Blamer
    commands: LedgerCommands
    keys: KeyRing
    clock: Clock
    max_body_bytes: int

    async def caller(self, request: Request) -> Caller:
        """Who asks; strangers are recorded. A FastAPI dependency: it comes before any parameter is looked at.

        Raises `errors.NotAuthenticated`.
        """
        return await self.pipeline.authenticate(self.inbound(request), self.authenticator)

    async def admit(self, request: Request) -> tuple[Caller, Asked]:
        """Who asks for what change; strangers are recorded."""
        return await self.pipeline.admit(self.inbound(request), self.authenticator, self.decoder)

    async def session(self, caller: Caller, body: SessionBody) -> dict[str, Any]:
        """A temporary key for the caller. Raises `errors.NotAllowed` for one who holds only such a key: it would outlive its own end."""
        if caller.in_session:
            raise NotAllowed("A session key cannot make further session keys; use the standing key it was made with.")
        key = await self.keys.issue(
            actor=caller.actor,
            kind=caller.kind,
            roles=caller.roles,
            on_behalf_of=caller.on_behalf_of,
            motive=body.motive.motive(),
            lasts=body.duration(),
            session_of=caller.key_id,
        )
        return {"access_key_id": key.id, "secret_access_key": key.secret, "expires_at": time_to_json(key.expires_at)}

    async def own_records(self, caller: Caller, query: RecordQuery) -> Sequence[Record]:
        """The records a caller may see: people and pipelines all, agents and services their own."""
        if caller.sees_all:
            return await self.queries.records(query)
        if query.mutation_id:
            found = await self.queries.records(query)
            return (
                found if any(record.stage is Stage.DECIDED and record.actor == caller.actor for record in found) else ()
            )
        if query.actor not in ("", caller.actor):
            return ()
        return await self.queries.records(replace(query, actor=caller.actor))

    async def blamed(self, caller: Caller, address: str, attribute: str) -> dict[str, Any]:
        """The story of one attribute. Any caller may ask: an agent must know whom it would contradict."""
        del caller
        story = await self.blamer.blame(address, attribute)
        if story is None:
            raise NotFound(f"No mutation through Sentinel has set {address}.{attribute}.")
        return {name: to_json(getattr(story, name)) for name in story.__dataclass_fields__}  # type: ignore[attr-defined]

    def response(self, call: Call, reply: Reply) -> Json:
        """AWS's answer as boto3 would return it, as JSON."""
        return parsed(self.decoder.operation(call), reply)

    def inbound(self, request: Request) -> Inbound:
        """The request as it arrived, its body not yet read."""
        return inbound_of(request.scope, RequestBody(request.receive, self.max_body_bytes), self.clock)
