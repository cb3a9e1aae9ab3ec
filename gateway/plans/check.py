"""Judges all changes of a Terraform plan in one decision, as the line would judge them, records it, and sends nothing."""

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from gateway.core.errors import Malformed, NotAllowed, NotFound
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.claim import Claim, Couplings
from gateway.core.model.cost import CostDifference
from gateway.core.model.facts import Facts
from gateway.core.model.ids import digest_id, is_id, new_id
from gateway.core.model.json import Json, is_ambiguous
from gateway.core.model.masking import Masker, holds_mask
from gateway.core.model.motive import Motive, ceiling_text
from gateway.core.model.mutation import Call, CallClass, Door, Effect, EffectAction, InnerCall, Mutation
from gateway.core.model.path import WHOLE, AttributePath, Overlaps
from gateway.core.model.plan import Plan, PlannedAction, PlannedChange
from gateway.core.model.verdict import Decision, Finding, Mode, Verdict
from gateway.core.off_loop import BYTES_OF_AN_EFFECT, apart
from gateway.core.ports import Clock, EventLedger, Ledger, PolicyEngine
from gateway.core.records.motive import RecordedMotive
from gateway.core.records.plans import PlanCheckedBody, PlanDecision, RecordedContest, RecordedObjection, RecordedPlan
from gateway.core.records.record import Record
from gateway.core.records.requests import KeyedCaller
from gateway.effects.prices import PriceTable
from gateway.effects.type_rows import upserted_types
from gateway.line.checks.chain import CheckChain
from gateway.line.survey import Survey
from gateway.plans.document import refuse_large_plan
from gateway.plans.owners import NewOwners
from gateway.plans.unknown_calls import UnknownCalls
from gateway.terraform.secrets import is_secret, masked, may_hold_secret, unmasked_documents
from gateway.terraform.stack import Stack
from gateway.terraform.stacks import Stacks


def planned_effects(plan: Plan, stack: Stack, masker: Masker, *, asked: bool) -> tuple[Effect, ...]:
    """The effects of all changes, at most one for each attribute. `asked` says whether values that only AWS knows count as asked for.

    A value that the plan does not tell, because it is a secret, has a mask that no other value has.
    """
    found: dict[tuple[str, str], Effect] = {}
    owners, settings = NewOwners(plan.changes), upserted_types()
    for change in plan.changes:
        # What has no life of its own is created on what may have it already, unless the plan makes its owner.
        untold = (*change.unknown, *change.computed)
        overwrites = change.resource_type in settings and not owners.has_one(change, untold)
        for effect in _effects(change, stack, masker, asked=asked):
            upserted = overwrites and effect.action is EffectAction.CREATE
            found.setdefault((effect.address, effect.attribute), replace(effect, upserted=upserted))
    return tuple(found.values())


def _effects(change: PlannedChange, stack: Stack, masker: Masker, *, asked: bool) -> Iterator[Effect]:
    # Until the plan is applied, claims and contracts know a moved resource by its old address.
    moved = bool(change.previous) and stack.knows(change.previous) and not stack.knows(change.address)
    address = stack.named(change.previous if moved else change.address)
    declared = stack.knows(address)
    bare = Effect(
        address=address,
        attribute=WHOLE,
        action=EffectAction.CREATE,
        resource_type=change.resource_type,
        declared=declared,
    )
    if change.action in (PlannedAction.DELETE, PlannedAction.REPLACE):
        yield replace(bare, action=EffectAction.DELETE)
    elif change.action is PlannedAction.CREATE:
        yield bare
    action = EffectAction.SET if change.action is PlannedAction.UPDATE else EffectAction.CREATE
    recorded = stack.recorded(address) or {}
    for path, value in change.values.items():
        yield with_value(replace(bare, attribute=path, action=action), value, recorded, masker)
    for path in change.secrets:
        secret = masker.mask(f"not told: {address}.{path}")
        yield replace(bare, attribute=path, action=action, value=secret, sensitive=True, untold=True)
    for path in change.unknown:
        yield replace(bare, attribute=path, action=EffectAction.INVOKE, implied=not asked)


def with_value(effect: Effect, value: Json, recorded: Mapping[str, Json], masker: Masker) -> Effect:
    """The effect with its value, whose secrets are masked. `recorded` are the attributes that the state has."""
    kind, path = effect.resource_type, effect.attribute
    if isinstance(value, str) and is_ambiguous(value):
        # Nobody knows which of two members of one name AWS takes, so policies must not judge either.
        return replace(effect, value=masker.mask(value), sensitive=True)
    before = AttributePath(path).value_at(recorded)
    shown = masked(value, resource_type=kind, attribute=path, masker=masker, recorded=before)
    judged = shown if may_hold_secret(kind, path) else unmasked_documents(value, shown)
    sensitive = shown != value or holds_mask(shown) or is_secret(kind, path)
    return replace(effect, value=shown, judged=None if judged == shown else judged, sensitive=sensitive)


class OneStack(Stacks):
    """One stack. An address that it does not have yet belongs to it too, so that its contracts hold for what a plan creates.

    What a plan touches of other stacks, by what it makes beside their resources, stays theirs.
    """

    def __init__(self, stack: Stack, others: Stacks | None = None, beside: Collection[str] = ()) -> None:
        super().__init__((), default_mode=stack.mode, alone=stack)
        self._stack = stack
        self._others = others
        self._beside = frozenset(beside)

    @property
    def stack(self) -> Stack:
        """The stack, which nothing reloads."""
        return self._stack

    @property
    def default_name(self) -> str:
        """Its name."""
        return self._stack.name

    def snapshot(self) -> "OneStack":
        """Itself."""
        return self

    def declaring(self, address: str) -> Stack:
        """The stack, or the one whose resource it is."""
        others = self._others if address in self._beside and not self._stack.knows(address) else None
        return (others.declaring(address) if others is not None else None) or self._stack

    def with_beside(self, others: Stacks, effects: Sequence[Effect]) -> "OneStack":
        """The same, with the stacks of what these effects are on beside the plan."""
        beside = {effect.address for effect in effects if effect.beside}
        return OneStack(self._stack, others, beside) if beside else self


def one_stack(stacks: Stacks, name: str) -> OneStack:
    """The stack of this name alone, as it is now. Raises `errors.NotFound`."""
    for stack in stacks.all:
        if stack.name == name:
            return OneStack(stack)
    names = ", ".join(stack.name for stack in stacks.all) or "none"
    raise NotFound(f"There is no stack {name[:64]!r}. The settings have: {names}.")


MOST_NAMED: Final = 50
"""Findings, claims and addresses of each kind that a record names; it counts the others."""


def plan_record(verdict: "PlanVerdict", *, at: datetime, origin: str) -> tuple[Record, list[tuple[str, str]]]:
    """The record of a checked plan, and the attributes that it is about. A finding's sentence may quote a value, so it is left out."""
    named = [
        *((finding.address, finding.attribute) for finding in verdict.decision.objections if finding.address),
        *((each.claim.address, each.claim.attribute) for each in verdict.claims),
    ]
    record = Record(
        at=at,
        mutation_id=verdict.check_id,
        actor=verdict.mutation.caller.actor,
        stack=verdict.stack,
        body=_body(verdict, origin),
    )
    return record, list(dict.fromkeys(named))[:MOST_NAMED]


def _body(verdict: "PlanVerdict", origin: str) -> PlanCheckedBody:
    caller, decision = verdict.mutation.caller, verdict.decision
    objections = decision.objections
    return PlanCheckedBody(
        caller=KeyedCaller(kind=caller.kind, key_id=caller.key_id, on_behalf_of=caller.on_behalf_of),
        origin=origin,
        motive=RecordedMotive.of(verdict.mutation.motive),
        plan=RecordedPlan(
            digest=verdict.mutation.call.digest,
            terraform_version=verdict.plan.terraform_version,
            resources=len(verdict.plan.changes),
            effects=len(verdict.mutation.effects),
        ),
        decision=PlanDecision(
            verdict=decision.verdict,
            passes=verdict.passes,
            mode=decision.mode,
            bundle=decision.bundle,
            priorities=decision.priorities,
            code=decision.code,
            objections=tuple(_objection(finding) for finding in objections[:MOST_NAMED]),
            more=max(0, len(objections) - MOST_NAMED),
        ),
        claims=tuple(
            RecordedContest(id=each.claim.id, fate=each.fate.value, holder=each.claim.actor)
            for each in verdict.claims[:MOST_NAMED]
        ),
        mutation="" if verdict.check_id == verdict.id else verdict.mutation.id,
    )


def _objection(finding: Finding) -> RecordedObjection:
    return RecordedObjection(
        check=finding.check,
        verdict=finding.verdict,
        rule=finding.rule,
        address=finding.address[:512],
        attribute=finding.attribute[:512],
        source=finding.source,
    )


class ClaimFate(StrEnum):
    """The fate of a claim that the plan contests, if the plan were applied."""

    KEPT = "kept"
    """The claim wins: the change would be refused."""
    UNDONE = "undone"
    """The plan outranks it: the claim would end."""
    HELD = "held"
    """A human would have to decide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestedClaim:
    """A standing claim of another actor that the plan would undo, or fail at."""

    claim: Claim
    planned: Json
    """What the plan sets; None if it deletes the resource, or does not tell."""
    fate: ClaimFate


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanVerdict:
    """The verdict of the gateway about a plan."""

    id: str
    stack: str
    plan: Plan
    mutation: Mutation
    decision: Decision
    claims: tuple[ContestedClaim, ...] = ()
    places: dict[str, str] = field(default_factory=dict)
    """`file:line` of the block of each resource that something is said about."""
    unknown: tuple[UnknownCalls, ...] = ()
    """The changes whose calls are not understood."""
    cost: CostDifference = field(default_factory=CostDifference)
    """What the plan adds to the monthly bill."""

    @property
    def check_id(self) -> str:
        """The id of the check: its own, or one that follows from the mutation that was to open a session."""
        return digest_id("pln", self.id) if is_id("mut", self.id) else self.id

    @property
    def passes(self) -> bool:
        """Whether every change would be carried out, by contracts, policies and claims as they are now, in the session of the plan."""
        understood = self.decision.mode is Mode.OBSERVE or all(each.with_plan for each in self.unknown)
        return self.decision.carried_out and understood


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanCheck:
    """Checks plans, with the same parts as the line."""

    stacks: Stacks
    ledger: Ledger
    events: EventLedger
    policy: PolicyEngine
    checks: CheckChain
    clock: Clock
    masker: Masker = field(repr=False)
    digest_key: bytes = field(default=b"", repr=False)
    """Keys the digests of plans, which are recorded."""
    couplings: Callable[[], Couplings] = Couplings
    prices: Callable[[], PriceTable] = PriceTable
    """Which attributes belong together."""
    carried: Callable[[Plan, Stack], tuple[InnerCall, ...]] = lambda _plan, _stack: ()
    """The calls that AWS will carry out because of what a plan makes."""
    beside: Callable[[Plan, Stack], tuple[Effect, ...]] = lambda _plan, _stack: ()
    """What the plan does to declared resources that it does not change."""
    unknown: Callable[[Plan], tuple[UnknownCalls, ...]] = lambda _: ()
    """The changes of a plan whose calls are not understood. It may read files."""

    async def check(
        self,
        caller: Caller,
        plan: Plan,
        *,
        stack: str = "",
        motive: Motive | None = None,
        origin: str = "api",
        check_id: str = "",
    ) -> PlanVerdict:
        """The verdict, recorded once. Without a name it is the only stack's plan; without a motive that of the caller's key. An event
        that must not be judged twice has an id that follows from it.

        Raises `errors.Malformed`, `errors.NotFound`, `errors.NotAllowed`, `errors.LedgerUnavailable`.
        """
        verdict, _ = await self.judged(caller, plan, stack=stack, motive=motive, mutation_id=check_id or new_id("pln"))
        await self.record(verdict, origin=origin)
        return verdict

    async def judged(
        self, caller: Caller, plan: Plan, *, stack: str, motive: Motive | None, mutation_id: str
    ) -> tuple[PlanVerdict, Facts]:
        """The verdict and the facts that it follows from; nothing is recorded. Raises what `check` raises."""
        refuse_large_plan(plan)
        if motive is not None and not caller.may_state(motive):
            raise NotAllowed(f"{ceiling_text(caller.motive)} Nothing was checked.")
        one = one_stack(self.stacks, stack or self._only_name())
        verdict, facts = await apart(
            BYTES_OF_AN_EFFECT * sum(each.size for each in plan.changes),
            self._judge(caller, plan, one, motive or caller.motive, mutation_id),
        )
        return replace(verdict, unknown=await asyncio.to_thread(self.unknown, plan), cost=facts.cost), facts

    async def record(self, verdict: "PlanVerdict", *, origin: str) -> None:
        """Append PLAN_CHECKED. Raises `errors.LedgerUnavailable`."""
        record, resources = plan_record(verdict, at=self.clock.now(), origin=origin)
        await self.events.record_event(record, resources=resources)

    def stack_of(self, name: str) -> Stack:
        """The stack of this name as it is now. Raises `errors.NotFound`."""
        return one_stack(self.stacks, name).stack

    def _only_name(self) -> str:
        if name := self.stacks.default_name:
            return name
        names = ", ".join(each.name for each in self.stacks.all) or "none"
        raise Malformed(
            f"Name the stack that the plan is of (`--stack`, or `stack` in the body): this gateway has {names}."
        )

    async def _judge(
        self, caller: Caller, plan: Plan, stack: OneStack, motive: Motive | None, check_id: str
    ) -> tuple[PlanVerdict, Facts]:
        asked = caller.kind is not ActorKind.AGENT
        mutation = Mutation(
            id=check_id,
            caller=caller,
            call=Call(
                service="terraform", operation="apply", parameters={"plan": plan.digest}, digest_key=self.digest_key
            ),
            call_class=CallClass.MUTATION,
            motive=motive,
            effects=(*planned_effects(plan, stack.stack, self.masker, asked=asked), *self.beside(plan, stack.stack)),
            inner=self.carried(plan, stack.stack),
            door=Door.API,
            regions=_regions(plan, stack.stack),
        )
        facts = await self._survey(stack.with_beside(self.stacks, mutation.effects)).of(mutation)
        beside = any(effect.beside for effect in mutation.effects)
        is_enforced = Mode.ENFORCE in (stack.stack.mode, facts.mode if beside else Mode.OBSERVE)
        facts = replace(facts, stack=stack.stack.name, mode=Mode.ENFORCE if is_enforced else Mode.OBSERVE)
        if not mutation.effects:
            return _verdict(mutation, plan, stack, Decision(findings=(_NOTHING,), mode=facts.mode)), facts
        decision = await self.checks.decide(mutation, facts)
        return _verdict(mutation, plan, stack, decision, _contested(mutation, facts, decision)), facts

    def _survey(self, stack: OneStack) -> Survey:
        return Survey(
            stacks=stack,
            ledger=self.ledger,
            policy=self.policy,
            clock=self.clock,
            couplings=self.couplings,
            prices=self.prices,
        )


def _regions(plan: Plan, stack: Stack) -> dict[str, tuple[str, ...]]:
    """The regions of what the plan changes, by the provider's configuration, else by the state and the settings, with the types there."""
    found: dict[str, set[str]] = {}
    for change in plan.changes:
        region = change.region or stack.places.of(stack.local(change.address)).region
        if region:
            found.setdefault(region, set()).add(change.resource_type)
    return {region: tuple(sorted(types)) for region, types in sorted(found.items())}


_NOTHING: Final = Finding(
    check="plan", verdict=Verdict.ALLOW, rule="plan.no_changes", reason="The plan changes nothing."
)


def _verdict(
    mutation: Mutation, plan: Plan, stack: OneStack, decision: Decision, claims: Sequence[ContestedClaim] = ()
) -> PlanVerdict:
    one = stack.stack
    named = {finding.address for finding in decision.objections} | {each.claim.address for each in claims}
    return PlanVerdict(
        id=mutation.id,
        stack=one.name,
        plan=plan,
        mutation=mutation,
        decision=decision,
        claims=tuple(claims),
        places={address: place for address in sorted(named) if (place := one.code.source_of(one.local(address)))},
    )


def _contested(mutation: Mutation, facts: Facts, decision: Decision) -> tuple[ContestedClaim, ...]:
    """The claims of others that the decision ends, or that stand in the way, in the order of their addresses."""
    contests = _contests(decision)
    effects = Overlaps((each.address, each.attribute, each) for each in mutation.effects)
    found = []
    for standing in facts.claims:
        claim = standing.claim
        fate = (
            ClaimFate.UNDONE
            if claim.id in decision.supersedes
            else contests.get((claim.address, claim.attribute, claim.actor))
        )
        if claim.actor != mutation.caller.actor and fate is not None:
            planned = _planned(effects.of(claim.address, claim.attribute))
            found.append(ContestedClaim(claim=claim, planned=planned, fate=fate))
    return tuple(sorted(found, key=lambda each: (each.claim.address, each.claim.attribute, each.claim.id)))


def _contests(decision: Decision) -> dict[tuple[str, str, str], ClaimFate]:
    """By address, attribute and holder, what the findings about a claim say."""
    fates = {Verdict.HOLD: ClaimFate.HELD, Verdict.DENY: ClaimFate.KEPT}
    return {
        (finding.address, finding.attribute, finding.offer.holder): fates[finding.verdict]
        for finding in reversed(decision.objections)
        if finding.offer is not None and finding.offer.holder
    }


def _planned(effects: Sequence[Effect]) -> Json:
    return next(_values(effects), None)


def _values(effects: Sequence[Effect]) -> Iterator[Json]:
    return (
        effect.value for effect in effects if effect.action is not EffectAction.DELETE and effect.attribute != WHOLE
    )
