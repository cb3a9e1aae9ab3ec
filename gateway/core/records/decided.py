"""The body of DECIDED: who asked for what and why, what it changes, what was decided by which rule, and which claims it takes."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Generic, TypeVar

import msgspec

from gateway.core.model.approval import ApprovalRule, Binding, approval_rule_from_json
from gateway.core.model.caller import ActorKind
from gateway.core.model.claim import ConflictClass
from gateway.core.model.mutation import Basis, CallClass, Door, Effect, EffectAction
from gateway.core.model.plan import PlannedAction
from gateway.core.model.verdict import Mode, Verdict
from gateway.core.records.asked import RecordedAsked
from gateway.core.records.motive import RecordedMotive
from gateway.core.records.record import Body, Stage, to_members
from gateway.core.records.time_boxes import PutsBack, RecordedTimeBox

Value = TypeVar("Value")
"""The values of effects: decoded for those who show them, `msgspec.Raw` for who only compares their texts."""
MOST_NAMED: Final = 20
"""Most contracts, claims, dependants and attributes that the facts of a record name, and most inner calls that it has."""


class RecordedCaller(msgspec.Struct, frozen=True, kw_only=True):
    """Who asked; its actor is the record's."""

    kind: ActorKind
    key_id: str
    roles: tuple[str, ...]
    on_behalf_of: str


class RecordedCall(msgspec.Struct, frozen=True, kw_only=True):
    """The call, without its secrets."""

    service: str
    operation: str
    account: str
    """That of the states, if no setting names one."""
    region: str
    call_class: CallClass = msgspec.field(name="class")
    digest: str
    parameters: Mapping[str, Any]
    """Secrets masked."""
    whole: bool
    """Whether all parameters are there as they were."""

    @property
    def name(self) -> str:
        """`service:Operation`."""
        return f"{self.service}:{self.operation}"


class RecordedSender(msgspec.Struct, frozen=True, kw_only=True):
    """Where the request came from."""

    peer: str
    """Its network address, which may be a proxy's."""
    user_agent: str
    """As the client wrote it, at most 256 characters."""


class RecordedEffect(msgspec.Struct, Generic[Value], frozen=True, kw_only=True, omit_defaults=True):
    """What the call does to one attribute. The values of a secret are masked or null."""

    address: str
    attribute: str
    action: EffectAction
    value: Value
    before: Value
    """The value it replaces."""
    declared: Value
    """The value in the code."""
    changes: bool
    """False if the attribute has the value already; always true for a secret that the caller is not told."""
    resource_type: str
    identity: Mapping[str, Any]
    in_code: bool
    sensitive: bool
    implied: bool
    """Whether AWS does it as a consequence, though nobody asked for it."""
    basis: Basis = Basis.HAND
    """What it was known by. With `resource`, any attribute of the resource may have changed."""
    by: str = ""
    """`service:Operation` of the inner call that does it; absent if the call itself does."""

    @property
    def key(self) -> tuple[str, str]:
        """Address and attribute."""
        return self.address, self.attribute

    def to_effect(self) -> Effect:
        """The effect itself."""
        return Effect(
            address=self.address,
            attribute=self.attribute,
            action=self.action,
            value=self.value,  # type: ignore[arg-type]  # a decoded value
            resource_type=self.resource_type,
            identity={str(key): str(value) for key, value in self.identity.items()},
            declared=self.in_code,
            sensitive=self.sensitive,
            basis=self.basis,
        )


class RecordedOffer(msgspec.Struct, frozen=True, kw_only=True):
    """What would have been allowed instead."""

    address: str
    attribute: str
    nearest: Any
    holder: str
    """Whose claim is in the way; empty if none is."""
    retry_after: str | None


class RecordedFinding(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one rule of a check said."""

    check: str
    verdict: Verdict
    rule: str
    reason: str
    address: str
    attribute: str
    source: str
    """`file:line` of the rule."""
    title: str
    conflict: ConflictClass | None = None
    offer: RecordedOffer | None


class RecordedRule(msgspec.Struct, frozen=True, kw_only=True):
    """Who may approve the call, as the policies said when it was held."""

    roles: tuple[tuple[str, ...], ...]
    people: int
    longest_seconds: int
    rejected_seconds: int
    reason: str


class RecordedDecision(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The decision with its findings."""

    verdict: Verdict
    carried_out: bool
    findings: tuple[RecordedFinding, ...]
    supersedes: tuple[str, ...]
    mode: Mode
    approval: str
    bundle: str
    priorities: str
    """Layers and digest of the numbers that motives were ranked by."""
    code: str
    obligations: Mapping[str, Any]
    binding: Binding | None
    """What an approval of it is bound to."""
    binding_sha256: str = ""
    """Its digest where a large record leaves the binding out, so that the hold's row still follows from the record."""
    needs: RecordedRule | None = None
    """Who may approve it; absent if nothing holds it."""
    consent: Mapping[str, Any] | None = None
    """The approval that it used: `approval`, `held`, `approvers`, `broke_glass`."""
    warned: tuple[RecordedFinding, ...] = ()
    """What rules that are only tried would have refused or held; absent if nothing."""
    contest: Mapping[str, Any] | None = None
    """Scores, see `policies/README.md`; agents are not shown it."""
    attached: str = ""
    """The mutation that is held for the same call already."""

    @property
    def rule(self) -> ApprovalRule:
        """Who may approve it."""
        return approval_rule_from_json(to_members(self.needs))

    @property
    def objections(self) -> tuple[RecordedFinding, ...]:
        """The findings that deny or hold, denials first: the first of them is why it was decided so."""
        return tuple(
            each for verdict in (Verdict.DENY, Verdict.HOLD) for each in self.findings if each.verdict is verdict
        )


class RecordedClaim(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A claim that the mutation takes."""

    id: str
    address: str
    attribute: str
    until: str | None
    proof: tuple[str, ...] = ()
    """The signals that prove it; absent without any."""


class RecordedCost(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the mutation was estimated to add to the monthly bill."""

    known_cents: int = 0
    unknown: tuple[str, ...] = ()
    """The resources without a known price, some of them."""
    unknown_count: int = 0
    dated: str
    """The date of the price table."""


class RecordedFacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the decision was based on, beside the values in the effects; only what there is."""

    contracts: Mapping[str, str] = {}
    """`file:line` by address."""
    claims: tuple[str, ...] = ()
    dependants: tuple[str, ...] = ()
    flips: Mapping[str, int] = {}
    held_before: tuple[str, ...] = ()
    open_claims: int = 0
    possible_stacks: tuple[str, ...] = ()
    """The stacks that may be meant, where the record names none."""
    cost: RecordedCost | None = None
    """Absent where it is known to be nothing, and where the policies had no price table."""


class RecordedEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """Whether open signals prove the motive, and which do."""

    proven: bool
    signals: tuple[str, ...]


class RecordedAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """What the attempt's row holds beside the rest of the record."""

    idempotency_key: str
    owner: str
    """The gateway that sends it."""
    signature: str
    """The request's signature, which it spends."""


class RecordedChange(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One change of a plan; the values are in the effects of its address."""

    address: str
    type: str
    action: PlannedAction
    region: str = ""
    computed: tuple[str, ...] = ()
    """Attributes that AWS or the provider chooses."""
    tags: Mapping[str, str] = {}
    """Tags that the provider adds to those of the code."""


class RecordedSession(msgspec.Struct, frozen=True, kw_only=True):
    """The session that a plan opened."""

    key: str
    until: str
    changes: tuple[RecordedChange, ...]


class RecordedUse(msgspec.Struct, frozen=True, kw_only=True):
    """What a call used of a planned change."""

    address: str
    action: EffectAction


class RecordedPart(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a call fits the plan of its session."""

    plan: str
    """The plan's mutation."""
    uses: tuple[RecordedUse, ...]
    """Empty if it fits no planned change."""
    makes: tuple[RecordedUse, ...] = ()
    """What it created of the plan although it does not fit it."""
    row: str = ""
    """What explains it: `hand`, or origin and confidence of a derived row."""


class RecordedInner(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One call that the call makes AWS carry out. Its effects are among the record's, with its name in `by`."""

    service: str
    operation: str
    call_class: CallClass = msgspec.field(name="class")
    role: str = ""
    """ARN of the role with whose rights AWS makes it; absent if it is made with those of the call, `UNREAD` if nobody can tell."""
    account: str = ""
    region: str = ""
    parameters: Mapping[str, Any] = {}
    """Secrets masked."""
    whole: bool = True
    """Whether all parameters are there as they were."""
    understood: bool = False
    """Whether its effects are known."""

    @property
    def name(self) -> str:
        """`service:Operation`."""
        return f"{self.service}:{self.operation}"


class RecordedInnerCalls(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The calls that the call makes AWS carry out, as far as they could be read."""

    calls: tuple[RecordedInner, ...]
    more: int = 0
    """How many a record of many leaves out."""


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """How much a large record leaves out."""

    effects: int
    findings: int


class DecidedBody(Body, Generic[Value], frozen=True, kw_only=True):
    """Who asked for what and why, what it changes, what was decided, and which claims it takes."""

    stage: ClassVar[Stage] = Stage.DECIDED

    caller: RecordedCaller
    call: RecordedCall
    door: Door
    sender: RecordedSender
    motive: RecordedMotive | None
    effects: tuple[RecordedEffect[Value], ...]
    decision: RecordedDecision
    facts: RecordedFacts
    claims: tuple[RecordedClaim, ...]
    evidence: RecordedEvidence | None = None
    """Absent where the motivation is not checked."""
    time_box: RecordedTimeBox[Value] | None = None
    """Of a change for a time that changes something."""
    puts_back: PutsBack | None = None
    """Of a mutation that puts such a change back."""
    attempt: RecordedAttempt | None = None
    """Present if it is carried out."""
    refused_in_a_row: int | None = None
    """How many refusals of the actor in a row this is, if it counts for the breaker."""
    refusals_until: str | None = None
    """When that row ends by itself; absent if it does not, or the breaker is open."""
    cut: LeftOut | None = None
    """Present if effects or findings are left out."""
    plan: RecordedSession | None = None
    """Of a plan that opened a session: nothing is sent for it, and it has no SETTLED."""
    part: RecordedPart | None = None
    """Of a call in such a session."""
    inner: RecordedInnerCalls | None = None
    """Of a call that makes AWS carry out others."""
    asked: RecordedAsked | None = None
    """What the policies were asked, for `sentinel policy replay`; absent if nothing was. Nobody but a replay is shown it."""


def asked_effects(body: DecidedBody[Value]) -> tuple[RecordedEffect[Value], ...]:
    """The effects to count as applied: what a call implies on another resource than those it asks for happens later."""
    asked = {effect.address for effect in body.effects if not effect.implied}
    return tuple(effect for effect in body.effects if not effect.implied or effect.address in asked)


SUMMARY = ("call", "caller", "cut", "decision", "effects", "motive")
"""The members that the row of a hold repeats for its approvers."""
