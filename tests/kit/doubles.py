"""Doubles of the ports, which record their calls and fail on request, for tests of the pipeline without adapters."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from gateway.core.model.approval import Answered
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.claim import Claim
from gateway.core.model.facts import Facts
from gateway.core.model.inbound import Inbound, Refusal, Upload
from gateway.core.model.json import Json
from gateway.core.model.mutation import Call, CallClass, Mutation
from gateway.core.model.outcome import Applied, Attempt, Reply, Sent
from gateway.core.model.verdict import Decision, Finding, Mode, Verdict
from gateway.core.ports import LedgerView, Prepared, Request, SentFor
from gateway.effects.resolver import EffectResolver
from gateway.line.checks.chain import CheckChain, Opinion
from gateway.line.pipeline import Pipeline
from gateway.line.survey import Survey
from gateway.terraform.stacks import Stacks

NOW = datetime(2026, 11, 21, tzinfo=UTC)
AGENT = Caller(actor="agent", kind=ActorKind.AGENT, key_id="SNTLAAAAAAAAAAAAAAAA")
HUMAN = Caller(actor="human", kind=ActorKind.HUMAN, key_id="SNTLBBBBBBBBBBBBBBBB")
CALL = Call(service="sqs", operation="PurgeQueue", parameters={"QueueUrl": "https://q"}, region="us-east-1")
APPLIED = Applied(reply=Reply(status=200, headers=(("x-amzn-requestid", "r-1"),), body=b"{}"), request_id="r-1")


class FixedClock:
    """A clock that stands still."""

    def now(self) -> datetime:
        """`NOW`."""
        return NOW


@dataclass
class LedgerDouble:
    """A ledger that stores nothing. Each call takes the first entry of its list of failures and raises it unless it is None."""

    events: list[str] = field(default_factory=list)
    view_fails: list[Exception | None] = field(default_factory=list)
    decided_fails: list[Exception | None] = field(default_factory=list)
    settled_fails: list[Exception | None] = field(default_factory=list)
    attempts: list[Attempt | Exception | None] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    outcomes: list[Sent] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    known: LedgerView = field(default_factory=LedgerView)
    applied: dict[str, dict[str, Json]] = field(default_factory=dict)
    """Applied values by address and attribute, for `applied_with`."""
    refusal_fails: Exception | None = None
    flip_window: timedelta | None = None
    """The window of the last call of `view`."""

    async def view(
        self,
        *,
        addresses: Sequence[str],
        actor: str,
        call_digest: str,
        now: datetime,
        flip_window: timedelta,
        changing: Collection[tuple[str, str]] = (),
        idempotency_key: str = "",
    ) -> LedgerView:
        """The value of `known`, with the next of `attempts`."""
        self.events.append("view")
        self.flip_window = flip_window
        _fail(self.view_fails)
        return replace(self.known, attempt=self._next_attempt()) if idempotency_key else self.known

    async def applied_with(self, attribute: str, values: Sequence[str]) -> Mapping[str, Mapping[str, Json]]:
        """Those of `applied` that have the attribute with one of the values."""
        return {address: found for address, found in self.applied.items() if found.get(attribute) in values}

    async def attempt(self, actor: str, idempotency_key: str) -> Attempt | None:
        """The next of `attempts`."""
        return self._next_attempt()

    def _next_attempt(self) -> Attempt | None:
        found = self.attempts.pop(0) if self.attempts else None
        if isinstance(found, Exception):
            raise found
        return found

    async def answered(self, actor: str, call_digest: str) -> Answered:
        """Nothing: nobody was asked."""
        return Answered()

    async def record_refusal(self, refusal: Refusal) -> None:
        """Adds it to `refusals`."""
        if self.refusal_fails:
            raise self.refusal_fails
        self.refusals.append(refusal)

    async def record_decision(self, mutation: Mutation, facts: Facts, decision: Decision) -> Sequence[Claim]:
        """Adds it to `decisions`, and takes no claims."""
        _fail(self.decided_fails)
        self.events.append("decided")
        self.decisions.append(decision)
        return ()

    async def record_outcome(self, mutation: Mutation, outcome: Sent, at: datetime) -> None:
        """Adds it to `outcomes`."""
        _fail(self.settled_fails)
        self.events.append("settled")
        self.outcomes.append(outcome)


def _fail(failures: list[Exception | None]) -> None:
    if failures and (failure := failures.pop(0)):
        raise failure


@dataclass(frozen=True)
class PolicyDouble:
    """A policy engine that answers every question with an empty object."""

    revision: str = "r-1"
    flip_window: timedelta = timedelta(hours=1)

    async def ask(self, entrypoint: str, document: Json) -> Json:
        """An empty object."""
        return {}


@dataclass
class CloudDouble:
    """A cloud with a given outcome."""

    events: list[str]
    outcome: Sent = APPLIED
    prepare_fails: list[Exception | None] = field(default_factory=list)
    hold: asyncio.Event | None = None
    """If given, `send` waits until it is set."""
    sending: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when `send` is called."""

    scope: str = ""

    async def prepare(
        self, call: Call, mutation_id: str, upload: Upload | None = None, reason: SentFor | None = None
    ) -> Prepared:
        """A request, which is this double itself."""
        self.events.append("prepare")
        _fail(self.prepare_fails)
        return self

    async def send(self, prepared: Prepared) -> Sent:
        """The given outcome."""
        self.events.append("send")
        self.sending.set()
        if self.hold is not None:
            await self.hold.wait()
        return self.outcome


@dataclass(frozen=True)
class Says:
    """A check with a fixed verdict."""

    verdict: Verdict
    name: str = "says"

    async def examine(self, mutation: Mutation, facts: Facts) -> Opinion:
        """The verdict."""
        return Opinion(findings=(Finding(check=self.name, verdict=self.verdict, rule="says.so", reason="So."),))


@dataclass(frozen=True)
class Reads:
    """An authenticator and a decoder: they return `caller` and `request`, or raise it if it is an error."""

    request: Request | Exception
    caller: Caller | Exception = AGENT

    async def authenticate(self, inbound: Inbound) -> Caller:
        """The caller."""
        if isinstance(self.caller, Exception):
            raise self.caller
        return self.caller

    async def read(self, inbound: Inbound, caller: Caller) -> Request:
        """The request."""
        if isinstance(self.request, Exception):
            raise self.request
        return self.request


def asked(*, key: str = "", dry_run: bool = False, call_class: CallClass = CallClass.MUTATION) -> Request:
    """A request for `CALL`."""
    return Request(call=CALL, call_class=call_class, idempotency_key=key, dry_run=dry_run)


def inbound(target: str = "/", headers: tuple[tuple[str, str], ...] = (), body: bytes = b"") -> Inbound:
    """An inbound POST request."""

    async def read() -> bytes:
        return body

    return Inbound(method="POST", target=target, headers=headers, read_body=read, received_at=NOW, peer="10.0.0.9")


def line(
    ledger: LedgerDouble,
    cloud: CloudDouble,
    verdict: Verdict = Verdict.ALLOW,
    mode: Mode = Mode.ENFORCE,
    *,
    make: Callable[..., Pipeline] = Pipeline,
) -> Pipeline:
    """The real pipeline on the doubles. No stack is guarded, so `mode` applies to every mutation."""
    stacks = Stacks((), default_mode=mode)
    return make(
        resolver=EffectResolver(stacks, {}),
        survey=Survey(stacks=stacks, ledger=ledger, policy=PolicyDouble(), clock=FixedClock()),
        checks=CheckChain([Says(verdict)]),
        ledger=ledger,
        cloud=cloud,
        clock=FixedClock(),
    )
