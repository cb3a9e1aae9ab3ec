"""The `Facts` that every check decides by: what was known when the mutation was decided, and what the change touches."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from gateway.core.model.approval import Binding
from gateway.core.model.budget import Used
from gateway.core.model.claim import StandingClaim
from gateway.core.model.contract import Contract
from gateway.core.model.cost import CostDifference
from gateway.core.model.json import Json
from gateway.core.model.mutation import Effect, EffectAction, Mutation
from gateway.core.model.outcome import Attempt
from gateway.core.model.signal import MotiveProof
from gateway.core.model.stop import Reach, Stop
from gateway.core.model.time_box import TimeBox
from gateway.core.model.verdict import Mode
from gateway.core.quick_init import quick_init


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependant:
    """A resource that depends on the changed one."""

    address: str
    direct: bool
    critical: bool = False
    managed_by_agent: bool = False
    """Whether its own contract lets agents change it."""
    source: str = ""
    """`file:line` of its block; empty if it is only in the state."""
    recorded: bool = True
    """Whether the state has it; else only the code does."""


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One effect with everything known about its resource."""

    effect: Effect
    before: Json
    """The value before the change, as far as known: the last value that Sentinel applied, else the one in the state."""
    declared: Json
    """The value that the code declares; None if it declares none or the value cannot be evaluated."""
    attributes_before: Mapping[str, Json]
    """All known attributes of the resource before the change."""
    attributes_after: Mapping[str, Json]
    """All attributes after every effect of this mutation."""
    contract: Contract
    dependants: tuple[Dependant, ...] = ()
    exists: bool = True
    """Whether the resource is in the state."""
    disputed: bool = False
    """Whether a standing claim says that the attribute has another value than the effect sets."""
    hidden: bool = False
    """Whether the value is a secret that the caller is not told. What is decided and recorded must not say whether a guess of it is right."""

    @property
    def changes(self) -> bool:
        """Whether the effect changes the known or the claimed value. Create, delete and invoke always count as changes.

        The known value alone proves nothing: while another mutation is in flight or in doubt, it is the value before that one. A hidden value
        always counts as a change too.
        """
        return (
            self.hidden
            or self.disputed
            or self.effect.action is not EffectAction.SET
            or self.effect.value != self.before
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """A person's consent to exactly one call."""

    id: str
    mutation_id: str
    """The held mutation that was approved."""
    approver: str
    until: datetime
    binding: Binding | None = None
    """The circumstances it was given in. None fits no call."""
    others: tuple[str, ...] = ()
    """The people who consented before `approver`, where more than one must."""
    missing: int = 0
    """How many more people must consent before it permits the call."""
    broke_glass: bool = False
    """Whether a human passed the hold in an emergency, without those who may approve it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRules:
    """The ingress rules of the security groups that a call is about, beside those it writes."""

    groups: Mapping[str, str] = field(default_factory=dict)
    """Address of a group or a rule of its own → id of the group."""
    rules: Mapping[str, tuple[Mapping[str, Json], ...]] = field(default_factory=dict)
    """Id of the group → its other rules, in the provider's form."""


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything that the checks decide by. Gathered once, and constant while they run."""

    now: datetime
    stack: str
    """Name of the stack that declares the resource. If none does: the only one that may be meant, or empty if there are several."""
    mode: Mode
    subjects: tuple[Subject, ...]
    claims: tuple[StandingClaim, ...] = ()
    approval: Approval | None = None
    """An unused approval for exactly this call by this actor. `checks.approval` decides whether it fits."""
    flips: Mapping[str, int] = field(default_factory=dict)
    """How often each `address.attribute` changed its holder within the flip window."""
    held_before: frozenset[str] = frozenset()
    """Each `address.attribute` of `flips` that the caller itself held within that window, now or before."""
    coupled: tuple[tuple[str, str], ...] = ()
    """(address, attribute) of what belongs together with an attribute that the mutation sets: the other ends of the policies' pairs."""
    open_claims: int = 0
    """How many claims the caller holds, counted up to one more than `ports.MOST_CLAIMS`."""
    proof: MotiveProof = field(default_factory=MotiveProof)
    """What the evidence of the motive is worth."""
    account: str = ""
    """The AWS account whose resources the states record; empty where they record none, or resources of several."""
    group_rules: GroupRules = field(default_factory=GroupRules)
    code: str = ""
    """Digest of the code, contracts and state that the facts come from."""
    declared: str = ""
    """Digest of the code and contracts alone; an approval is bound to it."""
    time_box: TimeBox | None = None
    """What is put back at the end of a time-boxed change, or why it cannot be; None for a change that is to stay."""
    stacks: tuple[str, ...] = ()
    """Names of all stacks that declare an affected resource."""
    possible_stacks: tuple[str, ...] = ()
    """Names of the stacks that may be meant, where no stack declares a resource and the place of the call fits several."""
    stops: tuple[Stop, ...] = ()
    """The standing stops, whatever they are about."""
    used: Used = field(default_factory=Used)
    """What the actor has used of its share."""
    cost: CostDifference = field(default_factory=CostDifference)
    """What the mutation adds to the monthly bill, as far as the price table says."""
    attempt: Attempt | None = None
    """The caller's earlier attempt with the same idempotency key, whose result is the answer: nothing is decided then."""


def reach(mutation: Mutation, facts: Facts) -> Reach:
    """The reach of a mutation. One whose effects are not known may touch any stack."""
    caller = mutation.caller
    return Reach(
        actors=frozenset({caller.actor, caller.on_behalf_of} - {""}),
        service=mutation.call.service,
        stacks=frozenset({facts.stack, *facts.stacks} - {""}),
        any_stack=not mutation.understood,
    )
