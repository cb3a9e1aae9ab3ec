"""The API's routes for mutations: propose one, follow it, have it explained, and extend, end or put back a change for a time."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any

import structlog
from botocore.model import OperationModel
from fastapi import Request
from fastapi.responses import JSONResponse

from gateway.aws.client.outcome import parsed_reply
from gateway.core.errors import Malformed, NotFound, SentinelError
from gateway.core.http.motive_syntax import duration
from gateway.core.model.caller import Caller
from gateway.core.model.json import Json, to_json
from gateway.core.model.mutation import Call
from gateway.core.model.outcome import Applied, Failed, InDoubt, Refused, Reply
from gateway.core.model.verdict import Decision, Verdict
from gateway.core.off_loop import BYTES_OF_AN_EFFECT, off_loop
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Record, Stage
from gateway.doors.api.ports import ApiPorts, Authenticated, Ports, told
from gateway.doors.api.problems import problem
from gateway.doors.api.request_bodies import (
    IDEMPOTENCY_KEY,
    EndBody,
    ExtendBody,
    MutationBody,
    body_of,
    openapi_body,
)
from gateway.doors.api.routers import keyed_router
from gateway.doors.api.time_boxes import part_to_json
from gateway.doors.api.undo import undo_call
from gateway.identity.caller import active
from gateway.line.checks.stops import RULE as STOPPED
from gateway.line.pipeline import MutationResult
from gateway.line.wakeups import Wakeups
from gateway.line.withheld import withheld_names
from gateway.presentation.changes import change_to_json
from gateway.presentation.explanation import explanation_of
from gateway.presentation.mutation_state import UNDECIDED, mutation_state
from gateway.presentation.refusal import in_doubt_text, refusal_text
from gateway.presentation.serialize import (
    decision_to_json,
    mutation_to_json,
    outcome_to_json,
    record_to_json,
    time_to_json,
)

LONGEST_WAIT = timedelta(seconds=60)
"""The longest that one request waits; proxies often end a request without an answer after a minute."""
_BYTES_OF_A_RECORD = 2_000

ReadRecords = Callable[[], Awaitable[Sequence[Record]]]
"""Reads the records of one mutation that the caller may see, oldest first."""

log = structlog.get_logger()
router = keyed_router()


@router.post(
    "/mutations",
    openapi_extra={**openapi_body(MutationBody), "parameters": [IDEMPOTENCY_KEY]},
    summary="Propose a change; with dry_run, only see the decision",
)
async def propose(ports: Ports, request: Request) -> JSONResponse:
    """The mutation, its decision and outcome. A refusal is recorded."""
    caller, proposal = await ports.pipeline.admit(ports.inbound(request), ports.authenticator, ports.decoder)
    try:
        return await _response(ports, await ports.pipeline.execute(caller, proposal))
    except SentinelError:
        raise
    except Exception:
        log.exception("proposal_broke", service=proposal.call.service, operation=proposal.call.operation)
        return _outcome_unknown(
            "Check `sentinel records` whether anything was sent before you send it again.",
        )


@router.get(
    "/mutations/{mutation_id}",
    summary="The state and records of one mutation; with wait=30s, as soon as it is decided",
)
async def mutation(ports: Ports, caller: Authenticated, mutation_id: str, wait: str = "") -> dict[str, Any]:
    """The state and records of the mutation."""
    return await follow_mutation(ports, caller, mutation_id, wait_seconds(wait))


@router.get(
    "/mutations/{mutation_id}/explanation",
    summary="Why a mutation was decided as it was: every check, rule, fact and rival, and what to do next",
)
async def explanation(ports: Ports, caller: Authenticated, mutation_id: str) -> dict[str, Any]:
    """The explanation of the mutation."""
    return await explain_mutation(ports, caller, mutation_id)


@router.get(
    "/mutations/{mutation_id}/undo",
    summary="The call that sets back what an applied mutation changed, or why none is known; nothing is sent",
)
async def undo(ports: Ports, caller: Authenticated, mutation_id: str) -> dict[str, Any]:
    """The call, to be proposed like any other."""
    return told(caller, await undo_call(ports, caller, mutation_id))


@router.post(
    "/mutations/{mutation_id}/extend",
    openapi_extra=openapi_body(ExtendBody),
    summary="Have a change for a time last for this long from now on",
)
async def extend(ports: Ports, request: Request, caller: Authenticated, mutation_id: str) -> dict[str, Any]:
    """The parts of the change with their new end, and a warning where a claim does not move as far."""
    body = await body_of(ports.inbound(request), ExtendBody)
    return await extend_change(ports, caller, mutation_id, body)


async def extend_change(ports: ApiPorts, caller: Caller, mutation_id: str, body: ExtendBody) -> dict[str, Any]:
    """The same for every door. Raises what `TimeBoxes.extend` raises, and `errors.Malformed`."""
    parts = await ports.time_boxes.extend(caller, mutation_id, body.duration(), body.reason)
    claims = await ports.queries.claims(mutation_id=mutation_id)
    ends = min((claim.until for claim in claims if claim.until is not None), default=None)
    warning = ""
    if ends is not None and parts and ends < parts[0].until:
        warning = f"Policy grants its claim until {time_to_json(ends)} only: from then on others may change the value, and what they set stays."
    boxes = [part_to_json(part) for part in parts]
    return told(caller, {"mutation_id": mutation_id, "time_boxes": boxes, "warning": warning})


@router.post(
    "/mutations/{mutation_id}/end",
    openapi_extra=openapi_body(EndBody, required=False),
    summary="Let the end of a change for a time come now",
)
async def end(ports: Ports, request: Request, caller: Authenticated, mutation_id: str) -> dict[str, Any]:
    """The parts of the change, which are due now."""
    body = await body_of(ports.inbound(request), EndBody, default=EndBody())
    return await end_change(ports, caller, mutation_id, body)


async def end_change(ports: ApiPorts, caller: Caller, mutation_id: str, body: EndBody) -> dict[str, Any]:
    """The same for every door. Raises what `TimeBoxes.end` raises."""
    parts = await ports.time_boxes.end(caller, mutation_id, body.reason)
    return told(caller, {"mutation_id": mutation_id, "time_boxes": [part_to_json(part) for part in parts]})


@router.post("/mutations/{mutation_id}/put-back", summary="Put a change back whose time is up; for the reconciler")
async def put_back(ports: Ports, caller: Authenticated, mutation_id: str) -> JSONResponse:
    """The mutation that puts the change back, its decision and outcome."""
    try:
        return await _response(ports, await ports.time_boxes.put_back(caller, mutation_id))
    except SentinelError:
        raise
    except Exception:
        log.exception("put_back_broke", mutation=mutation_id)
        return _outcome_unknown("`sentinel claims` shows whether the change was put back.")


def _outcome_unknown(advice: str) -> JSONResponse:
    return problem(409, "outcome_unknown", f"Sentinel had an internal error. {advice}", retry_safe=False)


async def _response(ports: ApiPorts, result: MutationResult) -> JSONResponse:
    """The mutation, decision and outcome of one proposal; a refusal or failure as a problem document with the same members."""
    mutation, decision, outcome = result.mutation, result.decision, result.outcome
    members: dict[str, Any] = await off_loop(
        BYTES_OF_AN_EFFECT * len(mutation.effects),
        lambda: told(
            mutation.caller,
            {
                "mutation": mutation_to_json(mutation),
                "decision": None if decision is None else decision_to_json(decision),
                "outcome": outcome_to_json(outcome),
            },
        ),
    )
    match outcome:
        case None:
            return JSONResponse({**members, "dry_run": True})
        case Applied():
            reply = response_to_json(ports, mutation.call, outcome.reply)
            withheld = withheld_names(outcome.reply)
            return JSONResponse(
                {**members, "response": reply, "repeated": decision is None}
                | ({"withheld": withheld} if withheld else {})
            )
        case Refused():
            held = outcome.decision.verdict is Verdict.HOLD
            return problem(
                202 if held else 403,
                "held" if held else _refused_code(outcome.decision),
                refusal_text(mutation, outcome.decision),
                **members,
            )
        case Failed():
            detail = f"AWS refused the call: {outcome.code}: {outcome.message} Nothing changed."
            return problem(422, "aws_refused", detail, **members)
        case InDoubt():
            return problem(409, "outcome_unknown", in_doubt_text(mutation, outcome), **members, retry_safe=False)


def _refused_code(decision: Decision) -> str:
    """`stopped` if a person stopped such changes: it may be tried again once that is over; else `refused`."""
    return "stopped" if any(finding.rule == STOPPED for finding in decision.objections) else "refused"


def response_to_json(ports: ApiPorts, call: Call, reply: Reply) -> Json:
    """AWS's reply to the call as JSON, in the form that boto3 returns."""
    return reply_to_json(ports.decoder.operation(call), reply)


def reply_to_json(model: OperationModel, reply: Reply) -> Json:
    """The parsed reply without boto3's own metadata; None if it cannot be parsed."""
    try:
        result = parsed_reply(model, reply)
        return to_json({name: value for name, value in result.items() if name != "ResponseMetadata"})
    except Exception:  # noqa: BLE001  botocore's parsers raise anything; the change is already applied and recorded
        return None


def wait_seconds(text: str) -> float:
    """How long a request wants to wait; 0 for none. Raises `errors.Malformed` for more than `LONGEST_WAIT`."""
    if not text:
        return 0.0
    wanted = duration(text)
    if wanted > LONGEST_WAIT:
        raise Malformed(f"A request waits for {LONGEST_WAIT.total_seconds():.0f}s at most; ask for less, and again.")
    return wanted.total_seconds()


async def follow_mutation(ports: ApiPorts, caller: Caller, mutation_id: str, seconds: float) -> dict[str, Any]:
    """The state and records of a mutation, as soon as it is decided, or after so many seconds.

    Raises `errors.NotFound`, `errors.Overloaded`, and `errors.NotAuthenticated` if the caller's key ended while it waited.
    """
    query = RecordQuery(mutation_id=mutation_id, newest_first=False)
    try:
        found = await mutation_when_decided(
            ports.wakeups, mutation_id, caller.actor, lambda: ports.visible_records(caller, query), seconds
        )
    except NotFound as error:
        raise _missing(mutation_id, await ports.older()) from error
    if seconds:
        active(await ports.keys.find(caller.key_id), ports.clock.now())
    return told(caller, found)


async def mutation_when_decided(
    wakeups: Wakeups, mutation_id: str, actor: str, read: ReadRecords, seconds: float
) -> dict[str, Any]:
    """The mutation's state and records, as soon as it waits for nothing any more, or after this time as it is then.

    The ledger is read once, and again each time something about the mutation was recorded. Raises `errors.NotFound`, `errors.Overloaded`.
    """
    if not seconds:
        return _document(mutation_id, await read())
    end = asyncio.get_running_loop().time() + seconds
    with wakeups.waiting(mutation_id, actor) as event:
        while True:
            event.clear()
            document = _document(mutation_id, await read())
            if document["state"] not in UNDECIDED or not await _set_before(event, end):
                return document


async def _set_before(event: asyncio.Event, end: float) -> bool:
    """Whether the event is set before this time of the loop."""
    try:
        async with asyncio.timeout_at(end):
            await event.wait()
    except TimeoutError:
        return False
    return True


def _document(mutation_id: str, records: Sequence[Record]) -> dict[str, Any]:
    if not records:
        raise _missing(mutation_id)
    decided = any(record.stage is Stage.DECIDED for record in records)
    return {
        "mutation_id": mutation_id,
        "state": mutation_state(records) if decided else None,
        "change": change_to_json(records) if decided else None,
        "records": [record_to_json(record) for record in records],
    }


def _missing(mutation_id: str, older: str = "") -> NotFound:
    return NotFound(
        f"There is no mutation {mutation_id[:64]} that this key may see.{older} `sentinel changes` lists those that it may see."
    )


async def explain_mutation(ports: ApiPorts, caller: Caller, mutation_id: str) -> dict[str, Any]:
    """The explanation of a mutation, as this caller may see it. Raises `errors.NotFound`."""
    # Not `visible_records`: the contest is needed, and shown only as far as the caller may see it.
    records = await ports.queries.records(RecordQuery(mutation_id=mutation_id, newest_first=False))
    decided = [record for record in records if record.stage is Stage.DECIDED]
    if not decided or not (caller.sees_all or decided[0].actor == caller.actor):
        raise _missing(mutation_id, await ports.older())
    size = _BYTES_OF_A_RECORD * len(records)
    document = await off_loop(size, lambda: explanation_of(records, sees_all=caller.sees_all))
    return told(caller, document)
