"""The API's routes for the playground: what edited rules, data or contracts would decide about one change, and about those of last week."""

from typing import Any, Final

from fastapi import Request

from gateway.core.errors import Malformed, NotAllowed, NotFound
from gateway.core.model.caller import Caller
from gateway.core.ports import RecordQuery
from gateway.core.records.decided import DecidedBody
from gateway.core.records.record import Record, Stage
from gateway.doors.api.ports import ApiPorts, Authenticated, Ports
from gateway.doors.api.request_bodies import TrialBody, TriedCallBody, body_of, openapi_body
from gateway.doors.api.routers import keyed_router
from gateway.ledger.decide.write_set import write_set
from gateway.policy.playground import LARGEST_FILE, MOST_FILES

router = keyed_router()

_LARGEST_REQUEST: Final = 2 * LARGEST_FILE * MOST_FILES


@router.get("/playground/files", summary="The rules, data and contracts that can be edited in a trial")
async def files(ports: Ports, caller: Authenticated) -> dict[str, Any]:
    """Their paths, and whether rules can be compiled."""
    return await ports.playground.files(caller)


@router.get("/playground/file", summary="The text of a rule, of data, or of a contract of a stack")
async def file(ports: Ports, caller: Authenticated, path: str, stack: str = "") -> dict[str, Any]:
    """The text that is in force or on disk."""
    return {"path": path, "stack": stack, "text": await ports.playground.text(caller, path=path, stack=stack)}


@router.post(
    "/playground",
    openapi_extra=openapi_body(TrialBody),
    summary="What edited rules, data or contracts would decide; nothing comes into force",
)
async def trial(ports: Ports, request: Request, caller: Authenticated) -> dict[str, Any]:
    """The decision before and after, the replay since a time, and the edits as a patch."""
    body = await body_of(ports.inbound(request, _LARGEST_REQUEST), TrialBody)
    if not caller.sees_all:
        raise NotAllowed("Agents and services do not use the playground. Ask a person, or use a pipeline's key.")
    edits = body.edits()
    if body.mutation and body.call is not None:
        raise Malformed("Name a recorded mutation or give a call, not both. Nothing was tried.")
    record: Record | None = None
    if body.mutation:
        record = await _recorded(ports, body.mutation)
    elif body.call is not None:
        record = await _decided(ports, caller, body.call)
    return await ports.playground.trial(caller, edits, record=record, since=body.since)


async def _recorded(ports: ApiPorts, mutation_id: str) -> Record:
    """The DECIDED record of the mutation. Raises `errors.NotFound`."""
    found = await ports.queries.records(RecordQuery(mutation_id=mutation_id, stage=Stage.DECIDED))
    record = next((each for each in found if isinstance(each.body, DecidedBody)), None)
    if record is None:
        raise NotFound(f"There is no decision about {mutation_id[:64]}.")
    return record


async def _decided(ports: ApiPorts, caller: Caller, body: TriedCallBody) -> Record:
    """The record that the call would have if it were sent now, by an actor of this kind. Raises what `ApiDecoder.proposed` raises."""
    actor = Caller(actor=body.actor or caller.actor, kind=body.kind or caller.kind, key_id=caller.key_id)
    request = await ports.decoder.proposed(body, len(body.model_dump_json()))
    mutation, facts, decision = await ports.pipeline.only_decided(actor, request)
    return write_set(mutation, facts, decision).record
