"""Judges all changes of a Terraform plan in one decision, as the line would judge them, and sends nothing."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from gateway.checks.chain import CheckChain
from gateway.effects.plan_document import refuse_large_plan
from gateway.effects.plan_effects import planned_effects
from gateway.errors import Malformed, NotAllowed
from gateway.model.caller import ActorKind, Caller
from gateway.model.claim import Claim
from gateway.model.coupling import Couplings
from gateway.model.facts import Facts
from gateway.model.ids import new_id
from gateway.model.json import Json
from gateway.model.masking import Masker
from gateway.model.motive import Motive, ceiling_text
from gateway.model.mutation import WHOLE, Call, CallClass, Door, Effect, EffectAction, Mutation
from gateway.model.overlap import Overlaps
from gateway.model.plan import Plan
from gateway.model.verdict import Decision, Finding, Verdict
from gateway.off_loop import apart
from gateway.plan_record import plan_record
from gateway.ports import Clock, EventLedger, Ledger, PolicyEngine
from gateway.survey import Survey
from gateway.terraform.one_stack import OneStack, one_stack
from gateway.terraform.stacks import Stacks

_BYTES_OF_AN_EFFECT: Final = 160
"""Size that an effect counts as: a large plan is judged in a thread."""


class ClaimFate(StrEnum):
    """What an apply of the plan would mean for a claim that it contests."""

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
    """What the gateway says about a plan."""

    id: str
    stack: str
    plan: Plan
    mutation: Mutation
    decision: Decision
    claims: tuple[ContestedClaim, ...] = ()
    places: dict[str, str] = field(default_factory=dict)
    """`file:line` of the block of each resource that something is said about."""

    @property
    def passes(self) -> bool:
        """Whether every change would be carried out, by contracts, policies and claims as they are now."""
        return self.decision.carried_out


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanCheck:
    """Checks plans. What it is given is what the line has."""

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
    """Which attributes belong together."""

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
        refuse_large_plan(plan)
        if motive is not None and not caller.may_state(motive):
            raise NotAllowed(f"{ceiling_text(caller.motive)} Nothing was checked.")
        one = one_stack(self.stacks, stack or self._only_name())
        verdict = await apart(
            _BYTES_OF_AN_EFFECT * sum(each.size for each in plan.changes),
            self._judge(caller, plan, one, motive or caller.motive, check_id or new_id("pln")),
        )
        record, resources = plan_record(verdict, at=self.clock.now(), origin=origin)
        await self.events.record_event(record, resources=resources)
        return verdict

    def _only_name(self) -> str:
        if name := self.stacks.default_name:
            return name
        names = ", ".join(each.name for each in self.stacks.all) or "none"
        raise Malformed(
            f"Name the stack that the plan is of (`--stack`, or `stack` in the body): this gateway has {names}."
        )

    async def _judge(
        self, caller: Caller, plan: Plan, stack: OneStack, motive: Motive | None, check_id: str
    ) -> PlanVerdict:
        asked = caller.kind is not ActorKind.AGENT
        mutation = Mutation(
            id=check_id,
            caller=caller,
            call=Call(
                service="terraform", operation="apply", parameters={"plan": plan.digest}, digest_key=self.digest_key
            ),
            call_class=CallClass.MUTATION,
            motive=motive,
            effects=planned_effects(plan, stack.stack, self.masker, asked=asked),
            door=Door.API,
        )
        if not mutation.effects:
            return _verdict(mutation, plan, stack, Decision(findings=(_NOTHING,)))
        facts = await self._survey(stack).of(mutation)
        decision = await self.checks.decide(mutation, facts)
        return _verdict(mutation, plan, stack, decision, _contested(mutation, facts, decision))

    def _survey(self, stack: OneStack) -> Survey:
        return Survey(stacks=stack, ledger=self.ledger, policy=self.policy, clock=self.clock, couplings=self.couplings)


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
