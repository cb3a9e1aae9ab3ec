"""The ports of the API's routes, the authentication of their callers, and the filter of records by caller."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Any, Protocol, TypeVar

from fastapi import Depends
from fastapi import Request as HttpRequest
from msgspec import structs

from gateway.context.reader import ContextReader
from gateway.context.stack_map import StackMaps
from gateway.core.errors import Malformed, NotAllowed, NotAuthenticated, NotFound
from gateway.core.http.asgi import RequestBody, declared_length, inbound_of
from gateway.core.model.caller import Caller
from gateway.core.model.inbound import Inbound
from gateway.core.model.json import to_json
from gateway.core.model.masking import without_digests
from gateway.core.pace import Pace
from gateway.core.ports import (
    ArchivedRecords,
    Authenticator,
    BudgetLedger,
    Clock,
    DoubtLedger,
    KeyRing,
    LedgerCommands,
    LedgerQueries,
    RecordQuery,
)
from gateway.core.records.decided import DecidedBody
from gateway.core.records.record import Record, Stage, UnreadableBody
from gateway.core.times import utc_text
from gateway.doors.api.decoder import ApiDecoder
from gateway.doors.api.run_task import HcpRunTask
from gateway.doors.api.time_boxes import TimeBoxes
from gateway.doors.api.verifier import Verifier
from gateway.doors.chat.deliveries import DeliveryBook
from gateway.doors.chat.slack_chat import SlackChat
from gateway.drift.decisions import DriftDecisions
from gateway.identity.roles import Roles
from gateway.line.checks.fairness import FairLimitsOf
from gateway.line.pipeline import Pipeline
from gateway.line.standing import Standing
from gateway.line.stop_book import StopBook
from gateway.line.wakeups import Wakeups
from gateway.plans.check import PlanCheck
from gateway.plans.open import PlanOpener
from gateway.policy.catalogue import Catalogue
from gateway.policy.playground import Playground
from gateway.policy.replays import Replays
from gateway.policy.rule_counts import RuleTally
from gateway.policy.who_wins import WhoWins
from gateway.signals.receiver import SignalReceiver

Answer = TypeVar("Answer")

SEARCHES = 60
"""So many times may each caller look for words in a minute: one look goes through five hundred decisions."""
_CALLER = "sentinel_caller"
"""A member of a request's state: its authenticated caller."""
MAX_INTEGER = 2**63 - 1
"""The largest integer that the ledger's database can store."""


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
    standing: Standing
    authenticator: Authenticator
    decoder: ApiDecoder
    queries: LedgerQueries
    doubts: DoubtLedger
    blamer: Blamer
    drift: DriftDecisions
    readers: ContextReader
    maps: StackMaps
    time_boxes: TimeBoxes
    intake: SignalReceiver
    stops: StopBook
    budgets: BudgetLedger
    limits: FairLimitsOf
    plans: PlanCheck
    opener: PlanOpener
    run_task: HcpRunTask
    chat: SlackChat
    deliveries: DeliveryBook
    commands: LedgerCommands
    keys: KeyRing
    roles: Roles
    clock: Clock
    replays: Replays
    playground: Playground
    searches: Pace
    """How often each caller looks for words."""
    catalogue: Catalogue
    rule_tally: RuleTally
    who_wins: WhoWins
    max_body_bytes: int
    wakeups: Wakeups = field(default_factory=Wakeups)
    verifier: Verifier = field(default_factory=Verifier)

    def inbound(self, request: HttpRequest, limit: int | None = None) -> Inbound:
        """The request as it arrived, with the body's limit in bytes, else that of the settings. The body is not read yet.

        Once its caller is authenticated, a body counts only if the key still holds when it has arrived: reading raises `errors.NotAllowed`.
        """
        most = self.max_body_bytes if limit is None else limit
        body = RequestBody(request.receive, most, declared=declared_length(request.scope))
        inbound = inbound_of(request.scope, body, self.clock)
        caller: Caller | None = getattr(request.state, _CALLER, None)
        if caller is None:
            return inbound

        async def read_body() -> bytes:
            content = await inbound.read_body()
            await self.standing.require_key(caller, inbound.received_at)
            return content

        return replace(inbound, read_body=read_body)

    async def take_signed(
        self, request: HttpRequest, limit: int, take: Callable[[Inbound], Awaitable[Answer]]
    ) -> Answer:
        """The answer of `take` to a request without a key, whose signature proves its sender.

        Raises what `take` raises; a request that it refuses is recorded, as any stranger's.
        """
        inbound = self.inbound(request, limit)
        try:
            return await take(inbound)
        except (NotAuthenticated, Malformed, NotAllowed) as error:
            await self.pipeline.turn_away(inbound, error)
            raise

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

    async def archived(self, since: datetime | None = None) -> dict[str, Any]:
        """What a list of records since this time may lack because older ones are archived, as its member `archived`; nothing if it lacks none."""
        found = await self.queries.archived()
        if found is None or (since is not None and since > found.until):
            return {}
        return {"archived": {"last": found.last, "until": to_json(found.until), "note": _archived(found)}}

    async def older(self) -> str:
        """A sentence for an answer that finds nothing, with a space before it; empty if no record is archived."""
        found = await self.queries.archived()
        return f" {_archived(found)}" if found is not None else ""

    async def blame(self, caller: Caller, address: str, attribute: str) -> dict[str, Any]:
        """The last mutation of an attribute. Any caller may read it: an agent must know whose change it would contradict.

        An agent is not given the digest of a secret: by dry runs it could guess until one fits. Raises `errors.NotFound`.
        """
        found = await self.blamer.blame(address, attribute)
        if found is None:
            older = await self.older()
            raise NotFound(
                f"No mutation through Sentinel has set {address}.{attribute}.{older} `sentinel history ADDRESS` lists what was changed."
            )
        answer = {name: to_json(getattr(found, name)) for name in found.__dataclass_fields__}  # type: ignore[attr-defined]
        return told(caller, answer)


def _archived(found: ArchivedRecords) -> str:
    return (
        f"Records up to number {found.last} (of {utc_text(found.until)} and before) are archived: of these the ledger has only what is still needed, "
        "and the operators have the files."
    )


async def ports_of(request: HttpRequest) -> ApiPorts:
    """The ports of the application that serves the request."""
    ports: ApiPorts = request.app.state.ports
    return ports


Ports = Annotated[ApiPorts, Depends(ports_of)]
"""A parameter of a route: the ports."""


async def authenticated(request: HttpRequest, ports: Ports) -> Caller:
    """The authenticated caller; a failure is recorded. A FastAPI dependency, so it runs before any parameter is validated.

    Raises `errors.NotAuthenticated`.
    """
    caller = await ports.pipeline.authenticate(ports.inbound(request), ports.authenticator)
    setattr(request.state, _CALLER, caller)
    return caller


Authenticated = Annotated[Caller, Depends(authenticated)]
"""A parameter of a route: the caller, authenticated."""
