"""The ports: one Protocol for each dependency on the outside, and the values they exchange. No implementations.

Those of the line come first, then those of people and of the reconciler, then those of one topic each.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

from gateway.core.model.approval import Answered, Hold, HoldState
from gateway.core.model.budget import Used
from gateway.core.model.caller import UNKNOWN, ActorKind, Assumed, Caller, Sender
from gateway.core.model.claim import Claim
from gateway.core.model.facts import Approval, Facts
from gateway.core.model.ids import is_session_key
from gateway.core.model.inbound import Inbound, Refusal, Upload
from gateway.core.model.json import Json
from gateway.core.model.motive import Motive
from gateway.core.model.mutation import Call, CallClass, Door, Mutation, PutBack
from gateway.core.model.outcome import Attempt, Resolution, Sent
from gateway.core.model.plan_session import PlanSession, SessionChange, UsedChange
from gateway.core.model.signal import Signal, SignalEvent, SignalState
from gateway.core.model.stop import Stop, StopScope
from gateway.core.model.time_box import ClaimSpans, TimeBoxPart, TimeBoxState
from gateway.core.model.verdict import Decision, Verdict
from gateway.core.quick_init import quick_init
from gateway.core.records.record import Record, Stage
from gateway.core.records.write_backs import ReconciledBody

# What the line needs ---------------------------------------------------------------------------------------------


class Clock(Protocol):
    """A source of the current time."""

    def now(self) -> datetime:
        """The current time: aware, in UTC."""
        ...


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key that this gateway issued. One pair works at the AWS endpoint (as SigV4 credentials) and at the API (as bearer `id.secret`)."""

    id: str
    """`SNTL…` for standing keys, `SNTS…` for sessions; 20 characters, upper case and digits."""
    secret: str = field(repr=False)
    """Derived from the gateway's master key and the id; it is not stored."""
    actor: str
    kind: ActorKind
    roles: tuple[str, ...] = ()
    on_behalf_of: str = ""
    motive: Motive | None = None
    motive_only: bool = False
    """Whether a caller with this key may state no other motive than this one."""
    expires_at: datetime | None = None
    revoked: bool = False
    plan: str = ""
    """The plan's mutation if it is the key of a plan's session; else empty."""
    assumed: Assumed | None = None
    """Set if AWS's token service was asked for it, see `Assumed`."""

    caller: Caller = field(init=False, compare=False, repr=False)
    """Its owner, without the secret. Made once: a key is looked up again for each of many requests."""

    def __post_init__(self) -> None:
        """Make the caller."""
        made: Any = self  # not frozen yet
        made.caller = Caller(
            actor=self.actor,
            kind=self.kind,
            key_id=self.id,
            roles=self.roles,
            on_behalf_of=self.on_behalf_of,
            motive=self.motive,
            motive_only=self.motive_only,
            plan=self.plan,
            assumed=self.assumed,
        )

    @property
    def session_token(self) -> str:
        """What is given to SDKs as the session token, which they want with a temporary key. It proves nothing: the secret does."""
        return f"sentinel/{self.id}"

    @property
    def is_session(self) -> bool:
        """Whether it is a session key, which ends at the latest with its standing key."""
        return is_session_key(self.id)

    def ended(self, now: datetime) -> bool:
        """Whether it is revoked or expired."""
        return self.revoked or (self.expires_at is not None and self.expires_at <= now)


@dataclass(frozen=True, slots=True, kw_only=True)
class Revoked:
    """What ended with a key."""

    sessions: tuple[str, ...] = ()
    """Session keys: its own, and those of plans that were opened by its consent."""
    approvals: tuple[str, ...] = ()
    """Unused approvals that it consented to."""


class KeyRing(Protocol):
    """The keys that this gateway has issued."""

    async def find(self, key_id: str) -> Key | None:
        """The key, even if revoked or expired; None if it was never issued. May be up to one second out of date."""
        ...

    async def issue(
        self,
        *,
        actor: str,
        kind: ActorKind,
        roles: tuple[str, ...] = (),
        on_behalf_of: str = "",
        motive: Motive | None = None,
        motive_only: bool = False,
        lasts: timedelta | None = None,
        session_of: str = "",
    ) -> Key:
        """Create, store and return a key. With `session_of`, the id of a standing key, it is a session key: it ends with that key, and may do
        nothing that the key may not. With `motive_only` the motive is the only one that a caller with this key may state.

        Raises `errors.NotFound` if there is no such standing key or it was revoked, `errors.NotAllowed` if the session would exceed it,
        `errors.Malformed` for `motive_only` without a motive.
        """
        ...

    async def assume(self, wanted: Key, *, lasts: timedelta) -> Key:
        """A session key like `wanted`, which is already within its parent (`wanted.assumed`); it ends with that one at the latest. One that
        is like it and was made a moment ago is given again.

        Raises `errors.NotAllowed` if the parent has ended, `errors.Overloaded` if it has too many sessions.
        """
        ...

    async def revoke(self, key_id: str, *, distrust: bool = True) -> Revoked:
        """Revoke a key and its sessions; what ended. With `distrust` what it consented to counts no more. Raises `errors.NotFound`."""
        ...

    async def standing(self) -> Sequence[Key]:
        """The standing keys, newest first. Sessions are no part of it: their owners make as many as they like."""
        ...


class Authenticator(Protocol):
    """Verifies one kind of credential."""

    async def authenticate(self, inbound: Inbound) -> Caller:
        """The caller. Reads the body only after it has found the key. Raises `errors.NotAuthenticated`, `errors.Malformed`."""
        ...


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A decoded inbound request."""

    call: Call
    call_class: CallClass
    motive: Motive | None = None
    """The motive stated in the request itself. It takes precedence over the motive of the key."""
    idempotency_key: str = ""
    signature: str = ""
    """The signature of the request, empty if it was not signed. The same one is carried out at most once."""
    dry_run: bool = False
    door: Door = Door.AWS
    upload: Upload | None = field(default=None, compare=False, repr=False)
    """The body of the object that the call uploads, still to come."""
    puts_back: PutBack | None = None
    """The time-boxed change that the call puts back."""
    sender: Sender = UNKNOWN
    """Added by the line where the decoder does not say it."""


class RequestDecoder(Protocol):
    """Decodes one wire format. `read` is called only after authentication."""

    async def read(self, inbound: Inbound, caller: Caller) -> Request:
        """The decoded request. Raises `errors.Malformed`, `errors.UnknownOperation`, `errors.BodyTooLarge`."""
        ...


class PolicyEngine(Protocol):
    """Evaluates Rego, in this process or on an OPA server."""

    @property
    def revision(self) -> str:
        """Digest of the policy bundle in use."""
        ...

    @property
    def flip_window(self) -> timedelta:
        """How far back changes of an attribute's holder are counted: `oscillation.window_seconds` of the policy's data."""
        ...

    async def ask(self, entrypoint: str, document: Json) -> Json:
        """The value of a rule, e.g. `sentinel/guardrails/result`, with `document` as input; sets in canonical order.

        Raises `errors.PolicyUnavailable` if the rule is undefined, fails or does not answer in time.
        """
        ...


MOST_CLAIMS = 10_000
"""The claims of one actor are counted up to this number, so no policy can allow more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerView:
    """What the ledger knows about the resources of a mutation, read in one snapshot."""

    claims: tuple[Claim, ...] = ()
    """Open claims on the requested addresses."""
    values: Mapping[tuple[str, str], Json] = field(default_factory=dict)
    """The last value that Sentinel applied, by (address, attribute). Absent once that value was merged into code."""
    approval: Approval | None = None
    flips: Mapping[str, int] = field(default_factory=dict)
    """How often each `address.attribute` that is to be changed changed hands within the flip window, or a part of it, or what it is a part of; absent where never."""
    held_before: frozenset[str] = frozenset()
    """Each such attribute that the actor itself held within that window, now or before."""
    open_claims: int = 0
    """How many claims the actor holds on any address, counted up to one more than `MOST_CLAIMS`. Those only kept because their outcome is unknown do not count."""
    stops: tuple[Stop, ...] = ()
    """The standing stops, whatever they are about."""
    used: Used = field(default_factory=Used)
    """What the actor has used of its share."""
    attempt: Attempt | None = None
    """The actor's earlier attempt with the same idempotency key."""


class Ledger(Protocol):
    """What the pipeline reads and writes. Every write is one durable transaction: when it returns, it is on disk."""

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
        """What is known about these addresses, the actor's unused approval for this call, and its earlier attempt with this key. Flips are counted
        over the `flip_window` before `now`, of the (address, attribute) that are `changing`. Raises `errors.LedgerUnavailable`.
        """
        ...

    async def applied_with(self, attribute: str, values: Sequence[str]) -> Mapping[str, Mapping[str, Json]]:
        """Address → attribute → last applied value, of every resource whose `attribute` was applied with one of these texts.

        Raises `errors.LedgerUnavailable`.
        """
        ...

    async def attempt(self, actor: str, idempotency_key: str) -> Attempt | None:
        """This actor's earlier attempt with this key, None if there was none. Raises `errors.LedgerUnavailable`."""
        ...

    async def answered(self, actor: str, call_digest: str) -> Answered:
        """What people said, or still have to say, about this actor's same call. Asked only about a call that would be held.

        Raises `errors.LedgerUnavailable`.
        """
        ...

    async def record_refusal(self, refusal: Refusal) -> None:
        """Append TURNED_AWAY. Rate-limited: the next record says how many were dropped. Raises `errors.LedgerUnavailable`."""
        ...

    async def record_decision(self, mutation: Mutation, facts: Facts, decision: Decision) -> Sequence[Claim]:
        """Append DECIDED and, in the same transaction, carry out its consequences: take the claims, end the superseded ones, spend the
        approval and keep the idempotency key, or open the hold.

        Returns the claims taken. Raises `errors.ClaimTaken`, `errors.ApprovalSpent`, `errors.AttemptInFlight`, `errors.SignatureSpent`,
        `errors.Stopped`, `errors.LedgerUnavailable`;
        in that case nothing was stored.
        """
        ...

    async def record_outcome(self, mutation: Mutation, outcome: Sent, at: datetime) -> None:
        """Append SETTLED. A `Failed` outcome also ends the claims of the mutation and reopens those they superseded.

        Raises `errors.LedgerUnavailable`.
        """
        ...


class Prepared(Protocol):
    """A signed request to AWS, to be sent once. Only the `Cloud` that made it knows its content."""

    @property
    def scope(self) -> str:
        """What the session that signed it was limited to, as a sentence; empty if it was signed without one."""
        ...


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class SentFor:
    """For whom and why a decided mutation is sent, and what it is about: what AWS's own log is told of it."""

    actor: str
    motive: Motive | None
    approvers: tuple[str, ...] = ()
    arns: tuple[str, ...] = ()
    """The ARNs of all resources that it is about; empty if one of them is not known."""


class Cloud(Protocol):
    """Sends mutations to AWS."""

    async def prepare(
        self, call: Call, mutation_id: str, upload: Upload | None = None, reason: SentFor | None = None
    ) -> Prepared:
        """Serialize the parsed parameters and sign the request; the body of an `upload` is read only when it is sent. Sends nothing of it.

        Raises `errors.NotSendable`.
        """
        ...

    async def send(self, prepared: Prepared) -> Sent:
        """Send once, without redirects or retries. Never raises: any failure after the first byte is `InDoubt`."""
        ...


# What people and the reconciler ask of the ledger ----------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordQuery:
    """Which records to list. Empty fields do not restrict the result."""

    actor: str = ""
    intent: str = ""
    motivation: str = ""
    resource: str = ""
    """A Terraform address, or a prefix of one."""
    stage: Stage | None = None
    verdict: str = ""
    mutation_id: str = ""
    key_id: str = ""
    refused: bool = False
    """Only what was refused: denied, or turned away before a decision."""
    no_evidence: bool = False  # only decisions on a motive without evidence, or without a motive
    left: bool = (
        False  # only the newest report of a stack's reconciler about a mutation, if it leaves something to a human
    )
    since: datetime | None = None
    until: datetime | None = None
    after_seq: int = 0
    limit: int = 100
    newest_first: bool = True
    before_seq: int = 0
    """Only records before this one, so that the next page of a long list is found as fast as the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """How often each verdict was given in each of several spans of time."""

    counted_from: datetime
    """Spans that began before this time were not counted: there were too many decisions since."""
    counts: Mapping[tuple[datetime, Verdict], int]
    """By the start of the span; without those in which nothing was decided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSpoke:
    """One rule that spoke against one call."""

    rule: str
    verdict: Verdict
    """The strongest that it gave there: hold or deny."""
    tried: bool
    """Whether the rule is only tried (`warn`), so that it held or denied nothing."""
    at: datetime
    mutation_id: str
    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """What rules said in a row of decisions, newest first."""

    decisions: int
    """How many decisions were read."""
    first_seq: int
    """The oldest of them; 0 for none."""
    last_seq: int
    oldest: datetime | None
    """When the oldest of them was made."""
    said: Sequence[RuleSpoke]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedRecords:
    """The records up to one that left the ledger's database, but for those that something still needs."""

    last: int
    until: datetime
    """Time of the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorSession:
    """A session key that has not ended."""

    id: str
    intent: str
    motivation: str
    created_at: datetime
    expires_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorKey:
    """A standing key of an actor, or a role of the gateway in which it has sessions (`role:NAME`, without the other members)."""

    id: str
    kind: str
    roles: tuple[str, ...]
    on_behalf_of: str
    created_at: datetime | None
    expires_at: datetime | None
    open_sessions: int
    sessions: tuple[ActorSession, ...]
    """Those of them that end last."""


class LedgerQueries(Protocol):
    """Queries on the ledger for people and for the reconciler."""

    async def records(self, query: RecordQuery) -> Sequence[Record]:
        """The matching records, with `seq`, `previous` and `hash`."""
        ...

    async def lives(self, mutation_ids: Sequence[str]) -> Mapping[str, Sequence[Record]]:
        """The records of each of these mutations, oldest first; of one with very many the first and the newest. None for an unknown one."""
        ...

    async def activity(self, starts: Sequence[datetime], actor: str = "") -> Activity:
        """How often each verdict was given from each start to the next, and from the last one until now; `starts` ascend, at most 100.

        With `actor`, only to its calls.
        """
        ...

    async def rules_spoken(self, *, after_seq: int = 0, before_seq: int = 0, limit: int) -> Spoken:
        """Which rules spoke against calls in the newest `limit` decisions between these records."""
        ...

    async def claims(
        self,
        *,
        address: str = "",
        actor: str = "",
        mutation_id: str = "",
        open_only: bool = True,
        before: str = "",
        limit: int = 10_000,
    ) -> Sequence[Claim]:
        """Claims, newest first; `before` lists those taken before this claim."""
        ...

    async def claimed_addresses(
        self, *, since: datetime | None = None, open_only: bool = True, limit: int = 10_000
    ) -> Sequence[str]:
        """The resources of the newest claims, each once; with `since`, of those taken after it."""
        ...

    async def proofs(self, *, limit: int = 10_000) -> Mapping[str, int]:
        """How many of so many open claims each signal proves, by the signal's id."""
        ...

    async def holds(
        self,
        *,
        state: HoldState | None = HoldState.OPEN,
        actor: str = "",
        stack: str = "",
        mutation_id: str = "",
        before: str = "",
        limit: int = 100,
    ) -> Sequence[Hold]:
        """Held mutations, newest first. `state` None means every state; `before` lists those held before this mutation."""
        ...

    async def keys_of(self, actor: str, roles: Sequence[str], now: datetime) -> Sequence[ActorKey]:
        """The keys of the actor that have not ended, newest first, then each of these roles in which it has a session."""
        ...

    async def archived(self) -> ArchivedRecords | None:
        """The records that left the database; None if none did."""
        ...

    async def verify(self) -> int:
        """The number of records, after checking the whole hash chain. Raises `errors.LedgerBroken`, which names the first bad record."""
        ...


class LedgerCommands(Protocol):
    """Commands of people and of the reconciler on held mutations and claims. Each appends a record."""

    async def approve(
        self, mutation_id: str, *, approver: Caller, at: datetime, lasts: timedelta, reason: str = "", door: str = ""
    ) -> Approval:
        """Approve the held call; `door` is how the word came in. Raises `errors.NotFound`, `errors.NotAllowed` (own call, or not a human approver)."""
        ...

    async def break_glass(
        self, mutation_id: str, *, human: Caller, reason: str, at: datetime, door: str = ""
    ) -> Approval:
        """Pass a held call at once, without those who may approve it. Raises `errors.NotFound`, `errors.NotAllowed`."""
        ...

    async def reject(self, mutation_id: str, *, approver: Caller, reason: str, at: datetime, door: str = "") -> None:
        """Reject the held call for good. Raises as `approve`."""
        ...

    async def release(self, mutation_id: str, *, caller: Caller, at: datetime) -> Sequence[Claim]:
        """End the claims of a mutation early and return them; only its actor or an approver may. Raises `errors.NotFound`, `errors.NotAllowed`."""
        ...

    async def settle_by_hand(
        self, mutation_id: str, *, approver: Caller, carried_out: bool, reason: str, at: datetime
    ) -> None:
        """Settle a mutation in doubt on the word of an approver, who says how they found out.

        Raises `errors.NotFound`, `errors.NotAllowed` (not an approver, or not in doubt), `errors.Malformed` (no reason).
        """
        ...

    async def record_reconciliation(
        self, mutation_id: str, *, at: datetime, body: ReconciledBody, stack: str = ""
    ) -> None:
        """Append RECONCILED. The body holds branch, commit and files, or the reason why a person must take over.

        `stack` is whose reconciler says so; it counts for a mutation that may be about several, each of which says it for itself.
        """
        ...

    async def expire(self, at: datetime) -> int:
        """End the claims whose `until` has passed; returns their number."""
        ...


class EventLedger(Protocol):
    """Records events that change no claim, value or key: pull requests, and changes from outside."""

    async def record_event(
        self, record: Record, *, resources: Sequence[tuple[str, str]] = (), repeat: bool = False
    ) -> bool:
        """Append a record named by its `mutation_id`; without `repeat` only the first of its id and stage. Whether it was appended.

        Raises `errors.Malformed` for a stage that is not an event, `errors.LedgerUnavailable`.
        """
        ...


# What one topic each needs of the ledger -------------------------------------------------------------------------


class PlanLedger(Protocol):
    """Keeps the sessions of plans. Every write is one durable transaction."""

    async def record_plan(
        self,
        mutation: Mutation,
        facts: Facts,
        decision: Decision,
        changes: tuple[SessionChange, ...],
        lasts: timedelta,
    ) -> Key | None:
        """Append DECIDED of a plan with its consequences and open its session; its key, or None if the plan does not pass.

        Raises what `Ledger.record_decision` and `KeyRing.issue` raise, and `errors.Overloaded`.
        """
        ...

    async def session(self, key_id: str) -> PlanSession | None:
        """The session of a key, even if it has ended; None if the key is no plan's. Raises `errors.LedgerUnavailable`."""
        ...

    async def used(self, plan: str) -> Mapping[UsedChange, int]:
        """How often calls that AWS did not refuse used each planned change of a session. Raises `errors.LedgerUnavailable`."""
        ...

    async def created(self, plan: str) -> frozenset[str]:
        """The addresses of what calls of a session created, without those that AWS has not answered. Raises `errors.LedgerUnavailable`."""
        ...

    async def made(self, plan: str) -> Mapping[str, str]:
        """The id that AWS chose for each planned resource that was created in a session, by its address. Raises `errors.LedgerUnavailable`."""
        ...

    async def end(self, plan: str, *, by: Caller, at: datetime, exit_code: int | None = None) -> None:
        """End a session and revoke its key. Ending it again changes nothing. Raises `errors.NotFound`, `errors.LedgerUnavailable`."""
        ...


class BudgetLedger(Protocol):
    """Knows what each actor has used."""

    async def used(self, at: datetime) -> Mapping[str, Used]:
        """What each actor has used, by its name; absent where it used nothing. Raises `errors.LedgerUnavailable`."""
        ...

    async def reset_breaker(self, actor: str, *, by: Caller, reason: str, at: datetime) -> None:
        """Close an actor's circuit breaker. Raises `errors.NotFound`, `errors.NotAllowed`, `errors.LedgerUnavailable`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """A mutation of which nobody knows whether AWS carried it out."""

    mutation_id: str
    stack: str
    decided_at: datetime
    """Shortly after its request was signed. AWS refuses the request once the signature is too old."""
    left_to_human: bool = False


class DoubtLedger(Protocol):
    """Mutations in doubt, for those who find out the truth."""

    async def in_doubt(self) -> Sequence[Doubt]:
        """The mutations in doubt, oldest first. Raises `errors.LedgerUnavailable`."""
        ...

    async def resolve(self, mutation_id: str, resolution: Resolution, at: datetime) -> None:
        """Settle a mutation in doubt. Raises `errors.NotFound`, `errors.NotAllowed` (not in doubt any more)."""
        ...

    async def leave_to_human(self, mutation_id: str, reason: str, at: datetime) -> bool:
        """Record once that a human must settle a mutation in doubt; whether this was the first time. Raises as `resolve`."""
        ...


MOST_OPEN_SIGNALS = 1_000
"""How many signals of one source may be open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalQuery:
    """Which signals to list. Empty fields do not restrict the result."""

    state: SignalState | None = None
    source: str = ""
    stack: str = ""
    """A stack that the signal concerns."""
    service: str = ""
    limit: int = 1_000


class SignalLedger(Protocol):
    """What outside sources say about alerts and the like."""

    async def record_signals(self, events: Sequence[SignalEvent], at: datetime) -> int:
        """Record what is news, and downgrade the claims whose last proof closes; the number of signals that changed.

        Raises `errors.Overloaded` if a source has too many open, `errors.LedgerUnavailable`; nothing was then stored.
        """
        ...

    async def signals_version(self) -> int:
        """A number that grows whenever a signal changes. Raises `errors.LedgerUnavailable`."""
        ...

    async def signals(self, query: SignalQuery) -> Sequence[Signal]:
        """Signals, the latest first. Raises `errors.LedgerUnavailable`."""
        ...


MOST_STOPS: Final = 500
"""Stops that may stand at once."""


class StopLedger(Protocol):
    """Keeps the stops."""

    async def stop(self, scope: StopScope, name: str, *, by: Caller, reason: str, at: datetime) -> Stop:
        """Stop it. The same person's same stop is not made twice. Raises `errors.NotAllowed`, `errors.Overloaded`, `errors.LedgerUnavailable`."""
        ...

    async def resume(self, stop_id: str, *, by: Caller, reason: str, at: datetime) -> Stop:
        """End a stop. Raises `errors.NotFound`, `errors.NotAllowed`, `errors.LedgerUnavailable`."""
        ...

    async def stops(self, *, every: bool = False) -> Sequence[Stop]:
        """The standing stops, oldest first; with `every` also the latest of those that ended. Raises `errors.LedgerUnavailable`."""
        ...


MOST_MOVES = 100
"""How often the end of one time-boxed change may be moved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DueChange:
    """A time-boxed change whose end has come, with what is to become of each attribute."""

    mutation_id: str
    stack: str
    until: datetime
    waits: str = ""
    """Why it must wait, as a sentence: an outcome is not known yet. Empty if it can be put back."""
    back: tuple[TimeBoxPart, ...] = ()
    """What is to be put back."""
    alone: tuple[tuple[TimeBoxPart, TimeBoxState, str], ...] = ()
    """What is left alone: the part, the state that it ends in, and the mutation that has the attribute."""

    @property
    def bases(self) -> Mapping[tuple[str, str], Json]:
        """The values that are put back, by address and attribute."""
        return {part.key: part.base for part in self.back}


class TimeBoxLedger(Protocol):
    """Knows the time-boxed changes. Every write is one durable transaction."""

    async def standing_time_boxes(self, addresses: Sequence[str]) -> Sequence[TimeBoxPart]:
        """The parts whose values the attributes of these resources have now, as far as Sentinel knows. Raises `errors.LedgerUnavailable`."""
        ...

    async def time_boxes(
        self, *, mutation_id: str = "", ended: bool = False, actor: str = "", left: bool = False
    ) -> Sequence[TimeBoxPart]:
        """The parts that are still to be put back or left to a human, soonest end first; with `ended` all of a mutation, with `actor` those of
        this actor, with `left` those that are left to a human. Raises `errors.LedgerUnavailable`.
        """
        ...

    async def due_mutations(self, now: datetime, *, stack: str = "") -> Sequence[str]:
        """The time-boxed changes whose end has come, the earliest first, and those that wait for an outcome last. Raises `errors.LedgerUnavailable`."""
        ...

    async def due_change(self, now: datetime, mutation_id: str) -> DueChange | None:
        """What is to become of a time-boxed change; None if its end has not come, or it is over. Raises `errors.LedgerUnavailable`."""
        ...

    async def declared_before(self, parts: Sequence[TimeBoxPart]) -> Mapping[tuple[str, str], Json]:
        """What the code declared before the first of the changes on top of each other. Raises `errors.LedgerUnavailable`."""
        ...

    async def put_back_call(self, mutation_id: str) -> Call:
        """The call that puts all of a time-boxed change back. Raises `errors.NotFound`."""
        ...

    async def extend_time_box(
        self, mutation_id: str, until: datetime, *, caller: Caller, reason: str, at: datetime, spans: ClaimSpans
    ) -> Sequence[TimeBoxPart]:
        """Move the end of a time-boxed change, and its claims with it as far as `spans` grant. Raises `errors.NotFound`, `errors.NotAllowed`."""
        ...

    async def end_time_box(
        self, mutation_id: str, *, caller: Caller, reason: str, at: datetime
    ) -> Sequence[TimeBoxPart]:
        """Let the end of a time-boxed change come now, and end its claims. Raises `errors.NotFound`, `errors.NotAllowed`."""
        ...

    async def leave_time_box(
        self, mutation_id: str, left: Sequence[TimeBoxPart], state: TimeBoxState, *, by: str, reason: str, at: datetime
    ) -> bool:
        """Record once that parts of a time-boxed change are not put back, and why; whether any was still to be put back."""
        ...
