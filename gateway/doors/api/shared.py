"""What the API's routes share: the ports, authentication, the form of AWS's replies, waiting for a mutation, and which records a caller may see."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Protocol

from botocore.model import OperationModel
from botocore.parsers import ResponseParserFactory
from fastapi import Request as HttpRequest
from msgspec import structs

from gateway.context.reader import ContextReader
from gateway.core.errors import Malformed, NotAllowed, NotFound
from gateway.core.http.asgi import RequestBody, declared_length, inbound_of
from gateway.core.http.motive_syntax import duration
from gateway.core.model.caller import Caller
from gateway.core.model.inbound import Inbound
from gateway.core.model.json import Json, to_json
from gateway.core.model.masking import without_digests
from gateway.core.model.mutation import Call
from gateway.core.model.outcome import Reply
from gateway.core.ports import (
    Authenticator,
    BudgetLedger,
    Clock,
    DoubtLedger,
    KeyRing,
    LedgerCommands,
    LedgerQueries,
    RecordQuery,
    Request,
)
from gateway.core.records.decided import DecidedBody
from gateway.core.records.record import Record, Stage, UnreadableBody
from gateway.doors.api.decoder import ApiDecoder
from gateway.doors.api.run_task import HcpRunTask
from gateway.doors.api.schemas import SessionBody
from gateway.doors.api.time_box_commands import TimeBoxes
from gateway.doors.chat.deliveries import DeliveryBook
from gateway.doors.chat.slack_chat import SlackChat
from gateway.drift.decisions import DriftDecisions
from gateway.identity.caller import active
from gateway.line.checks.fairness import FairLimitsOf
from gateway.line.pipeline import Pipeline
from gateway.line.stop_book import StopBook
from gateway.line.wakeups import Wakeups
from gateway.plans.check import PlanCheck
from gateway.presentation.mutation_state import UNDECIDED, mutation_state
from gateway.presentation.serialize import record_to_json, time_to_json
from gateway.signals.receiver import SignalReceiver

_PARSERS = ResponseParserFactory()


def reply_to_json(model: OperationModel, reply: Reply) -> Json:
    """The parsed reply without boto3's own metadata; None if it cannot be parsed."""
    headers = {name.lower(): value for name, value in reply.headers}
    parser = _PARSERS.create_parser(model.service_model.resolved_protocol)
    document = {"body": reply.body, "headers": headers, "status_code": reply.status}
    try:
        result = parser.parse(document, model.output_shape)
        return to_json({name: value for name, value in result.items() if name != "ResponseMetadata"})
    except Exception:  # noqa: BLE001  botocore's parsers raise anything; the change is already applied and recorded
        return None


LONGEST_WAIT = timedelta(seconds=60)
"""The longest that one request waits; proxies often end a request without an answer after a minute."""

ReadRecords = Callable[[], Awaitable[Sequence[Record]]]
"""Reads the records of one mutation that the caller may see, oldest first."""


def wait_seconds(text: str) -> float:
    """How long a request wants to wait; 0 for none. Raises `errors.Malformed` for more than `LONGEST_WAIT`."""
    if not text:
        return 0.0
    wanted = duration(text)
    if wanted > LONGEST_WAIT:
        raise Malformed(f"A request waits for {LONGEST_WAIT.total_seconds():.0f}s at most; ask for less, and again.")
    return wanted.total_seconds()


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
        raise NotFound(f"There is no mutation {mutation_id[:64]} that this key may see.")
    decided = any(record.stage is Stage.DECIDED for record in records)
    return {
        "mutation_id": mutation_id,
        "state": mutation_state(records) if decided else None,
        "records": [record_to_json(record) for record in records],
    }


def told(caller: Caller, answer: dict[str, Any]) -> dict[str, Any]:
    """The answer as this caller may see it: agents and services are not given the digests of secrets, not even in their own records.

    What they send is merged with what the state has, so that they could compare the digests of guesses with that of the secret.
    """
    return answer if caller.sees_all else {name: without_digests(item) for name, item in answer.items()}


def without_contest(record: Record) -> Record:
    """The record without the contest of its decision, which shows other actors' motives and how to outrank them."""
    body = record.body
    if isinstance(body, UnreadableBody):
        shown = {name: value for name, value in body.raw.items() if name != "decision"}
        return replace(record, body=structs.replace(body, raw=shown))
    if not isinstance(body, DecidedBody) or body.decision.contest is None:
        return record
    return replace(record, body=structs.replace(body, decision=structs.replace(body.decision, contest=None)))


class Blamer(Protocol):
    """Answers who set an attribute, as `git blame` does for a line."""

    async def blame(self, address: str, attribute: str) -> object | None:
        """A frozen dataclass that describes the last mutation of the attribute; None if there was none."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiPorts:
    """The ports that all routes use."""

    pipeline: Pipeline
    authenticator: Authenticator
    decoder: ApiDecoder
    queries: LedgerQueries
    doubts: DoubtLedger
    blamer: Blamer
    drift: DriftDecisions
    readers: ContextReader
    time_boxes: TimeBoxes
    intake: SignalReceiver
    stops: StopBook
    budgets: BudgetLedger
    limits: FairLimitsOf
    plans: PlanCheck
    run_task: HcpRunTask
    chat: SlackChat
    deliveries: DeliveryBook
    commands: LedgerCommands
    keys: KeyRing
    clock: Clock
    max_body_bytes: int
    wakeups: Wakeups = field(default_factory=Wakeups)

    async def caller(self, request: HttpRequest) -> Caller:
        """The authenticated caller; a failure is recorded. A FastAPI dependency, so it runs before any parameter is validated.

        Raises `errors.NotAuthenticated`.
        """
        return await self.pipeline.authenticate(self.inbound(request), self.authenticator)

    async def admit(self, request: HttpRequest) -> tuple[Caller, Request]:
        """The authenticated caller and the decoded proposal; a refusal is recorded. Raises what `Pipeline.admit` raises."""
        return await self.pipeline.admit(self.inbound(request), self.authenticator, self.decoder)

    async def session(self, caller: Caller, body: SessionBody) -> dict[str, Any]:
        """A new session key for the caller: its id, secret and expiry.

        Raises `errors.NotAllowed` if the caller itself used a session key: sessions could otherwise renew themselves for ever. So does a motive
        that the caller's key does not allow.
        """
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

    async def visible_records(self, caller: Caller, query: RecordQuery) -> Sequence[Record]:
        """The matching records that the caller may see: people and pipelines see all, agents and services their own."""
        if caller.sees_all:
            return await self.queries.records(query)
        if query.mutation_id:
            found = await self.queries.records(query)
            own = any(record.stage is Stage.DECIDED and record.actor == caller.actor for record in found)
            return [without_contest(record) for record in found] if own else ()
        if query.actor not in ("", caller.actor):
            return ()
        return [without_contest(each) for each in await self.queries.records(replace(query, actor=caller.actor))]

    async def mutation(self, caller: Caller, mutation_id: str, seconds: float) -> dict[str, Any]:
        """The state and records of a mutation, as soon as it is decided, or after so many seconds.

        Raises `errors.NotFound`, `errors.Overloaded`, and `errors.NotAuthenticated` if the caller's key ended while it waited.
        """
        query = RecordQuery(mutation_id=mutation_id, newest_first=False)
        found = await mutation_when_decided(
            self.wakeups, mutation_id, caller.actor, lambda: self.visible_records(caller, query), seconds
        )
        if seconds:
            active(await self.keys.find(caller.key_id), self.clock.now())
        return told(caller, found)

    async def blame(self, caller: Caller, address: str, attribute: str) -> dict[str, Any]:
        """Who set an attribute, and why. Any caller may read it: an agent must know whose change it would contradict.

        Of a secret, an agent is not even given the digest: by dry runs it could guess until one fits.
        """
        found = await self.blamer.blame(address, attribute)
        if found is None:
            raise NotFound(f"No mutation through Sentinel has set {address}.{attribute}.")
        answer = {name: to_json(getattr(found, name)) for name in found.__dataclass_fields__}  # type: ignore[attr-defined]
        return told(caller, answer)

    def response(self, call: Call, reply: Reply) -> Json:
        """AWS's reply to the call as JSON, in the form that boto3 returns."""
        return reply_to_json(self.decoder.operation(call), reply)

    def inbound(self, request: HttpRequest) -> Inbound:
        """The request as it arrived; its body is not read yet."""
        body = RequestBody(request.receive, self.max_body_bytes, declared=declared_length(request.scope))
        return inbound_of(request.scope, body, self.clock)
