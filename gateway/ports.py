"""What the core needs from outside: one Protocol for each dependency, and the values they exchange. No implementations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from gateway.model.answered import Answered
from gateway.model.caller import ActorKind, Caller
from gateway.model.claim import Claim
from gateway.model.facts import Approval, Facts
from gateway.model.hold import Hold, HoldState
from gateway.model.ids import is_session_key
from gateway.model.inbound import Inbound
from gateway.model.json import Json
from gateway.model.motive import Motive
from gateway.model.mutation import Call, CallClass, Door, Mutation, PutBack
from gateway.model.outcome import Outcome, Sent
from gateway.model.record import Record, Stage
from gateway.model.refusal import Refusal
from gateway.model.sender import UNKNOWN, Sender
from gateway.model.stop import Stop
from gateway.model.upload import Upload
from gateway.model.used import Used
from gateway.model.verdict import Decision


class Clock(Protocol):
    """A source of the current time."""

    def now(self) -> datetime:
        """The current time: aware, in UTC."""
        ...


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

    @property
    def is_session(self) -> bool:
        """Whether it is a session key, which ends at the latest with its standing key."""
        return is_session_key(self.id)

    def ended(self, now: datetime) -> bool:
        """Whether it is revoked or expired."""
        return self.revoked or (self.expires_at is not None and self.expires_at <= now)


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

    async def revoke(self, key_id: str) -> None:
        """Revoke a key and its sessions. Raises `errors.NotFound`."""
        ...

    async def all(self) -> Sequence[Key]:
        """Every key, newest first."""
        ...


class Authenticator(Protocol):
    """Verifies one kind of credential."""

    async def authenticate(self, inbound: Inbound) -> Caller:
        """The caller. Reads the body only after it has found the key. Raises `errors.NotAuthenticated`, `errors.Malformed`."""
        ...


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
    """How often each `address.attribute` changed its holder within the flip window; absent where never."""
    held_before: frozenset[str] = frozenset()
    """Each such attribute that the actor itself held within that window, now or before."""
    open_claims: int = 0
    """How many claims the actor holds on any address, counted up to one more than `MOST_CLAIMS`. Those only kept because their outcome is unknown do not count."""
    stops: tuple[Stop, ...] = ()
    """The standing stops, whatever they are about."""
    used: Used = field(default_factory=Used)
    """What the actor has used of its share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """An earlier attempt with the same idempotency key that was not refused."""

    mutation_id: str
    call_digest: str
    outcome: Outcome | None
    """None while it is in flight."""


class Ledger(Protocol):
    """What the pipeline reads and writes. Every write is one durable transaction: when it returns, it is on disk."""

    async def view(
        self, *, addresses: Sequence[str], actor: str, call_digest: str, now: datetime, flip_window: timedelta
    ) -> LedgerView:
        """What is known about these addresses, and the actor's unused approval for this call. Flips are counted over the
        `flip_window` before `now`. Raises `errors.LedgerUnavailable`.
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
    left: bool = False  # only the newest report of the reconciler about a mutation, if it leaves something to a human
    since: datetime | None = None
    until: datetime | None = None
    after_seq: int = 0
    limit: int = 100
    newest_first: bool = True
    before_seq: int = 0
    """Only records before this one, so that the next page of a long list is found as fast as the first."""


class LedgerQueries(Protocol):
    """Queries on the ledger for people and for the reconciler."""

    async def records(self, query: RecordQuery) -> Sequence[Record]:
        """The matching records, with `seq`, `previous` and `hash`."""
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

    async def record_reconciliation(self, mutation_id: str, *, at: datetime, body: Mapping[str, Json]) -> None:
        """Append RECONCILED. The body holds branch, commit and files, or the reason why a person must take over."""
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


class Prepared(Protocol):
    """A signed request to AWS, to be sent once. Only the `Cloud` that made it knows its content."""


class Cloud(Protocol):
    """Sends mutations to AWS."""

    async def prepare(self, call: Call, mutation_id: str, upload: Upload | None = None) -> Prepared:
        """Serialize the parsed parameters and sign the request; the body of an `upload` is read only when it is sent. Sends nothing.

        Raises `errors.NotSendable`.
        """
        ...

    async def send(self, prepared: Prepared) -> Sent:
        """Send once, without redirects or retries. Never raises: any failure after the first byte is `InDoubt`."""
        ...
