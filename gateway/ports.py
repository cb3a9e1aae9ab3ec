"""The outside world as the gateway needs it: one Protocol each, no implementations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from gateway.model.caller import ActorKind, Caller
from gateway.model.claim import Claim
from gateway.model.facts import Approval, Facts
from gateway.model.ids import is_session_key
from gateway.model.inbound import Inbound
from gateway.model.json import Json
from gateway.model.motive import Motive
from gateway.model.mutation import Call, CallClass, Mutation
from gateway.model.outcome import Outcome, Sent
from gateway.model.record import Record, Stage
from gateway.model.refusal import Refusal
from gateway.model.verdict import Decision


class Clock(Protocol):
    """What time it is."""

    def now(self) -> datetime:
        """Now, aware, in UTC."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A gateway-issued key: one pair serves the AWS door (as SigV4 credentials) and the API (as bearer `id.secret`)."""

    id: str
    """`SNTL…` for standing keys, `SNTS…` for sessions; 20 characters, upper case and digits."""
    secret: str = field(repr=False)
    """Derived from the gateway's master key and the id, so it is stored nowhere."""
    actor: str
    kind: ActorKind
    roles: tuple[str, ...] = ()
    on_behalf_of: str = ""
    motive: Motive | None = None
    expires_at: datetime | None = None
    revoked: bool = False

    @property
    def is_session(self) -> bool:
        """Whether it was issued for a session, and so ends with its standing key."""
        return is_session_key(self.id)

    def ended(self, now: datetime) -> bool:
        """Whether it is revoked or expired, so that it proves nothing any more."""
        return self.revoked or (self.expires_at is not None and self.expires_at <= now)


class KeyRing(Protocol):
    """The keys this gateway has issued."""

    async def find(self, key_id: str) -> Key | None:
        """The key, also when revoked or expired; None where there never was one. May be at most one second old."""
        ...

    async def issue(
        self,
        *,
        actor: str,
        kind: ActorKind,
        roles: tuple[str, ...] = (),
        on_behalf_of: str = "",
        motive: Motive | None = None,
        lasts: timedelta | None = None,
        session_of: str = "",
    ) -> Key:
        """Make, store and return a new key. With `session_of`, the id of a standing key, it is a session and ends with that key.

        Raises `errors.NotFound` where that key has ended.
        """
        ...

    async def revoke(self, key_id: str) -> None:
        """End a key and its sessions. Raises `errors.NotFound`."""
        ...

    async def all(self) -> Sequence[Key]:
        """Every key, newest first."""
        ...


class Authenticator(Protocol):
    """One way of proving who you are."""

    async def authenticate(self, inbound: Inbound) -> Caller:
        """The caller. Raises `errors.NotAuthenticated`, `errors.Malformed`. May read the body only once the key is known."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a dialect reads out of an inbound request."""

    call: Call
    call_class: CallClass
    motive: Motive | None = None
    """The motive stated in the request itself; wins over the one its key carries."""
    idempotency_key: str = ""
    dry_run: bool = False


class RequestDecoder(Protocol):
    """A wire format. `read` is only called once the caller is known."""

    async def read(self, inbound: Inbound, caller: Caller) -> Request:
        """The request. Raises `errors.Malformed`, `errors.UnknownOperation`, `errors.BodyTooLarge`."""
        ...


class PolicyEngine(Protocol):
    """Rego, wherever it runs."""

    @property
    def revision(self) -> str:
        """Digest of the bundle in force."""
        ...

    @property
    def flip_window(self) -> timedelta:
        """How far back changes of an attribute's holder are counted: `oscillation.window_seconds` of the policy's data."""
        ...

    async def ask(self, entrypoint: str, document: Json) -> Json:
        """The value of a rule, e.g. `sentinel/decision/result`, sets in canonical order.

        Raises `errors.PolicyUnavailable` for whatever is not a defined value in time.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerView:
    """What the ledger knows about the things a mutation touches, read at one moment."""

    claims: tuple[Claim, ...] = ()
    """Open claims on the addresses asked for."""
    values: Mapping[tuple[str, str], Json] = field(default_factory=dict)
    """Last value applied through us, by (address, attribute), where it is newer than any release of it into code."""
    approval: Approval | None = None
    flips: Mapping[str, int] = field(default_factory=dict)
    """How often each `address.attribute` changed its holder within the flip window; absent where never."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """An earlier carried-out attempt with the same idempotency key."""

    mutation_id: str
    call_digest: str
    outcome: Outcome | None
    """None while it is in flight."""


class Ledger(Protocol):
    """What the line writes and reads. Every write is one durable transaction; when it returns, it is on disk."""

    async def view(
        self, *, addresses: Sequence[str], actor: str, call_digest: str, now: datetime, flip_window: timedelta
    ) -> LedgerView:
        """What is known about these addresses, and the actor's unused approval for this call. Flips are counted over the
        `flip_window` before `now`. Raises `errors.LedgerUnavailable`.
        """
        ...

    async def attempt(self, actor: str, idempotency_key: str) -> Attempt | None:
        """The earlier attempt of this actor with this key, None where there is none."""
        ...

    async def record_refusal(self, refusal: Refusal) -> None:
        """Append TURNED_AWAY. Rate-limited: the next record says how many were dropped. Raises `errors.LedgerUnavailable`."""
        ...

    async def record_decision(self, mutation: Mutation, facts: Facts, decision: Decision) -> Sequence[Claim]:
        """Append DECIDED and, in the same transaction, do what it means: take the claims, end those superseded, spend the approval,
        keep the idempotency key, or open the hold.

        Returns the claims taken. Raises `errors.ClaimTaken`, `errors.ApprovalSpent`, `errors.AttemptInFlight`, `errors.LedgerUnavailable`;
        then nothing was stored.
        """
        ...

    async def record_outcome(self, mutation: Mutation, outcome: Sent, at: datetime) -> None:
        """Append SETTLED. FAILED also ends the claims just taken and opens again those they superseded. Raises `errors.LedgerUnavailable`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordQuery:
    """Which records to list. Empty members do not restrict."""

    actor: str = ""
    intent: str = ""
    motivation: str = ""
    resource: str = ""
    """A Terraform address, or a prefix of one."""
    stage: Stage | None = None
    verdict: str = ""
    mutation_id: str = ""
    since: datetime | None = None
    until: datetime | None = None
    after_seq: int = 0
    limit: int = 100
    newest_first: bool = True


class LedgerQueries(Protocol):
    """What is asked of the ledger by people and by the reconciler."""

    async def records(self, query: RecordQuery) -> Sequence[Record]:
        """The records that match, with `seq`, `previous` and `hash`."""
        ...

    async def claims(self, *, address: str = "", actor: str = "", open_only: bool = True) -> Sequence[Claim]:
        """Claims, newest first."""
        ...

    async def verify(self) -> int:
        """Check the whole chain; the number of records. Raises `errors.LedgerBroken` naming the first bad one."""
        ...


class LedgerCommands(Protocol):
    """What humans and the reconciler do to held mutations and claims. Each act is a record."""

    async def approve(self, mutation_id: str, *, approver: Caller, at: datetime, lasts: timedelta) -> Approval:
        """Consent to the held call. Raises `errors.NotFound`, `errors.NotAllowed` (own call, not a human)."""
        ...

    async def reject(self, mutation_id: str, *, approver: Caller, reason: str, at: datetime) -> None:
        """Refuse the held call for good."""
        ...

    async def release(self, mutation_id: str, *, caller: Caller, at: datetime) -> Sequence[Claim]:
        """End the claims of a mutation before their time (its own actor, or an approver). Returns the claims ended."""
        ...

    async def record_reconciliation(self, mutation_id: str, *, at: datetime, body: Mapping[str, Json]) -> None:
        """Append RECONCILED: branch, commit and files, or the reason why a human must look."""
        ...

    async def expire(self, at: datetime) -> int:
        """End the claims whose time is up; how many."""
        ...


class Prepared(Protocol):
    """A signed request to AWS, ready to go, that can be sent once. Only `Cloud` knows what is inside."""


class Cloud(Protocol):
    """AWS, for mutations."""

    async def prepare(self, call: Call, mutation_id: str) -> Prepared:
        """Serialise from the parsed parameters and sign. No byte is sent. Raises `errors.NotSendable`."""
        ...

    async def send(self, prepared: Prepared) -> Sent:
        """Send once; no redirect, no retry. Never raises: whatever goes wrong after the first byte is `InDoubt`."""
        ...
