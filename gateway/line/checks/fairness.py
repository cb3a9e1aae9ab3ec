"""Keeps what one actor does within the share that the policies give its kind: how many mutations and how much in a time, how many claims and open holds, and its circuit breaker."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from gateway.core.errors import BudgetSpent, PolicyUnavailable
from gateway.core.model.budget import (
    BILLED_READS,
    MONTHLY_USD,
    SPANS,
    Charge,
    FairShare,
    Levels,
    charged,
    fair_share_to_json,
    first_misfit,
    refuse_if_spent,
)
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.circuit_breaker import BreakerRule, refuse_if_shut
from gateway.core.model.facts import Facts, Subject
from gateway.core.model.json import Json
from gateway.core.model.mutation import EffectAction, Mutation
from gateway.core.model.verdict import Finding, Mode, Verdict
from gateway.core.times import moment_text
from gateway.line.checks.approvers import OptionalEntrypoints
from gateway.line.checks.chain import Opinion, passed
from gateway.line.checks.policy_answer import member, only

ENTRYPOINT: Final = "sentinel/budgets/result"
WITHOUT_MOTIVE: Final = "none"
"""How the policies name a change without a motive."""
_MEMBERS: Final = {
    "evaluated",
    "mutations",
    "questions",
    "mutations_by_motivation",
    "added_per_day",
    "sizes",
    "claims_by_motivation",
    "open_holds",
    "billed_reads",
    "breaker",
}
_WITHOUT_BUNDLE: Final = "opa "
"""So begins the revision of an OPA server that runs without a bundle: it stays the same when its data change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """How a size is measured."""

    set: Mapping[str, frozenset[str]]
    """By resource type, the attributes whose growth counts."""
    created: Mapping[str, str]
    """By resource type, the parameter that says how many are created."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FairLimits:
    """What one kind of actor may do."""

    mutations: Mapping[str, Charge] = field(default_factory=dict)
    """By span, one mutation out of its budget."""
    questions: Mapping[str, Charge] = field(default_factory=dict)
    """By span, one question out of its budget."""
    by_motivation: Mapping[str, Mapping[str, Charge]] = field(default_factory=dict)
    added: Mapping[str, int] = field(default_factory=dict)
    """By size, how much a day."""
    sizes: Mapping[str, Measure] = field(default_factory=dict)
    claims: Mapping[str, int] = field(default_factory=dict)
    """By motivation, how many claims at once."""
    open_holds: int | None = None
    """How many of its calls may wait for people at once."""
    billed_reads: Mapping[str, Charge] = field(default_factory=dict)
    """By span, how many reads for which AWS charges."""
    breaker: BreakerRule | None = None

    def of_motivation(self, motivation: str) -> Mapping[str, Charge]:
        """One mutation with this motivation, by the names of the buckets it is taken from."""
        own = self.by_motivation.get(motivation, {})
        return {**self.mutations, **{f"{motivation}/{span}": charge for span, charge in own.items()}}


NO_LIMITS: Final = FairLimits()


@dataclass(slots=True)
class FairLimitsOf:
    """Knows the limits of each kind; asks the engine only when its policies are others."""

    engine: OptionalEntrypoints
    _kept: dict[tuple[str, ActorKind], FairLimits] = field(default_factory=dict)

    async def of(self, kind: ActorKind) -> FairLimits:
        """The limits of a kind of actor; none if the policies have no `sentinel.budgets`.

        Raises `errors.PolicyUnavailable` if they have it and do not answer as they should.
        """
        if not self.engine.answers(ENTRYPOINT):
            return NO_LIMITS
        before = self.engine.revision
        if (known := self._kept.get((before, kind))) is not None:
            return known
        limits = _read(await self.engine.ask(ENTRYPOINT, {"kind": kind.value}))
        if self.engine.revision == before and not before.startswith(_WITHOUT_BUNDLE):
            self._kept = {key: kept for key, kept in self._kept.items() if key[0] == before} | {(before, kind): limits}
        return limits


def _read(answer: Json) -> FairLimits:
    found = only(answer, _MEMBERS)
    if found["evaluated"] is not True:
        raise PolicyUnavailable("The policies did not evaluate the budgets.")
    rule, open_holds = found["breaker"], found["open_holds"]
    try:
        return FairLimits(
            mutations=_charges(member(found, "mutations", dict)),
            questions=_charges(member(found, "questions", dict)),
            by_motivation={
                str(name): _charges(spans) for name, spans in member(found, "mutations_by_motivation", dict).items()
            },
            added=_counts(member(found, "added_per_day", dict)),
            sizes={str(name): _measure(measure) for name, measure in member(found, "sizes", dict).items()},
            claims=_counts(member(found, "claims_by_motivation", dict)),
            open_holds=None if open_holds is None else _counts({"open_holds": open_holds})["open_holds"],
            billed_reads={
                f"{BILLED_READS}/{span}": each for span, each in _charges(member(found, "billed_reads", dict)).items()
            },
            breaker=None if rule is None else BreakerRule(**_counts(rule)),
        )
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise PolicyUnavailable(f"The policies' budgets cannot be read ({type(error).__name__}).") from error


def _charges(spans: Any) -> dict[str, Charge]:
    return {span: Charge(most=most, seconds=SPANS[span]) for span, most in _counts(spans).items()}


def _counts(numbers: Any) -> dict[str, int]:
    """Positive numbers by name. Raises ValueError for anything else."""
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, int) or number <= 0:
            message = f"{name} is not a positive number"
            raise ValueError(message)
    return dict(numbers)


def _measure(measure: Any) -> Measure:
    attributes = {str(kind): frozenset(map(str, names)) for kind, names in measure["set"].items()}
    return Measure(set=attributes, created={str(kind): str(name) for kind, name in measure["created"].items()})


class FairnessCheck:
    """Denies what is more than a whole budget or too many claims for one motivation, and says what the decision costs."""

    name = "fairness"

    def __init__(self, limits: FairLimitsOf) -> None:
        self._limits = limits

    async def examine(self, mutation: Mutation, facts: Facts) -> Opinion:
        """The findings, and the share as obligations: the ledger charges them in the transaction of the decision.

        Raises `errors.PolicyUnavailable`, which denies.
        """
        limits = await self._limits.of(mutation.caller.kind)
        if mutation.puts_back is not None:
            return Opinion(findings=passed(self).findings, obligations=fair_share_to_json(_share_of_put_back(limits)))
        charges = charges_of(limits, mutation, facts)
        denials = (*_too_large(charges), *_too_many_claims(limits, mutation, facts))
        motivation = motivation_of(mutation)
        claims = {"claims_of_motivation": limits.claims[motivation]} if motivation in limits.claims else {}
        holds = {"open_holds": limits.open_holds} if limits.open_holds is not None else {}
        share = fair_share_to_json(FairShare(charges=charges, breaker=limits.breaker))
        return Opinion(findings=denials or passed(self).findings, obligations={**share, **claims, **holds})


class Admission:
    """Turns away, before anything is evaluated, the calls of an actor whose share is used up: they cost the gateway little."""

    def __init__(self, limits: FairLimitsOf) -> None:
        """`limits` is shared with the check."""
        self._limits = limits
        self._asked: dict[str, Levels] = {}
        """What each actor has used of its budget of questions since the gateway started; absent where it is full."""
        self._owing: set[str] = set()
        """Those whose calls were evaluated for nothing when that budget was spent: the next is turned away before it is evaluated."""

    async def admit_question(self, caller: Caller, at: datetime) -> None:
        """Raise `errors.BudgetSpent` if the caller has asked as often as it may.

        A question (a dry run, a check of a plan, a query) is neither recorded nor charged in the ledger, so each gateway counts its own.
        """
        try:
            charges = (await self._limits.of(caller.kind)).questions
        except PolicyUnavailable:
            return
        levels = self._asked.pop(caller.actor, {})
        if (misfit := first_misfit(levels, charges, at, sent=False)) is None:
            levels = charged(levels, charges, at, sent=False)
        if levels:
            self._asked[caller.actor] = levels
        if misfit is not None:
            span, again = misfit
            raise BudgetSpent(
                f"{caller.actor} has asked {charges[span].most} times within {'an' if span == 'hour' else 'a'} {span}, as often as it may "
                f"(dry runs, checks of plans, queries and changes that could not be recorded count). Nothing was done; try again at {moment_text(again)}.",
                seconds=(again - at).total_seconds(),
            )

    async def charge_for_nothing(self, caller: Caller, at: datetime) -> None:
        """Charge a call that was evaluated and rolled back (too many calls are held, a claim was taken meanwhile) as a question: nothing
        in the ledger charges it. Never raises for a spent budget: the answer to the call itself says more.
        """
        try:
            await self.admit_question(caller, at)
        except BudgetSpent:
            self._owing.add(caller.actor)

    async def refuse_owing(self, caller: Caller, at: datetime) -> None:
        """Raise `errors.BudgetSpent` if so many calls of the caller were evaluated for nothing that its budget of questions is spent."""
        if caller.actor in self._owing:
            await self.admit_question(caller, at)
            self._owing.discard(caller.actor)

    async def admit(self, mutation: Mutation, facts: Facts) -> None:
        """Raise `errors.BreakerOpen` or `errors.BudgetSpent` if the actor must wait. What is only observed is not turned away.
        If the policies do not say, the check denies.
        """
        if facts.mode is Mode.OBSERVE:
            return
        try:
            limits = await self._limits.of(mutation.caller.kind)
        except PolicyUnavailable:
            return
        if limits.breaker is not None and mutation.puts_back is None:
            refuse_if_shut(facts.used.breaker, mutation, facts.now)
        refuse_if_spent(
            facts.used.levels,
            limits.of_motivation(motivation_of(mutation)),
            mutation.caller.actor,
            facts.now,
            sent=False,
        )


def charges_of(limits: FairLimits, mutation: Mutation, facts: Facts) -> dict[str, Charge]:
    """What the mutation costs, by bucket. Sizes are taken only if it is sent."""
    if mutation.part is not None:
        return dict(limits.of_motivation(motivation_of(mutation)))  # what it adds was charged with its plan
    added = {
        f"{size}/day": Charge(most=most, seconds=SPANS["day"], cost=cost, when_sent=True)
        for size, most in limits.added.items()
        if (cost := _added(size, limits, mutation, facts)) > 0
    }
    return {**limits.of_motivation(motivation_of(mutation)), **added}


def _added(size: str, limits: FairLimits, mutation: Mutation, facts: Facts) -> int:
    """How much of a size the mutation adds. Of the money only what is known; policies say what becomes of a cost that is not."""
    if size == MONTHLY_USD:
        return -(-max(0, facts.cost.known_cents) // 100)
    return size_added(limits.sizes[size], mutation, facts) if size in limits.sizes else 0


def _share_of_put_back(limits: FairLimits) -> FairShare:
    """What a put-back costs the reconciler: one mutation. What comes back is no growth, and whose change it was decides how much comes
    back and how often that is refused; else anybody could use up what the changes of others need to go back.
    """
    return FairShare(charges=limits.mutations)


def motivation_of(mutation: Mutation) -> str:
    """The motivation, or `none`."""
    return mutation.motive.motivation._value_ if mutation.motive else WITHOUT_MOTIVE


def _too_large(charges: Mapping[str, Charge]) -> tuple[Finding, ...]:
    return tuple(
        _denial(
            "fairness.size",
            f"This adds {charge.cost} {name.partition('/')[0]}, and the whole budget is {charge.most} a day. Ask for less, or let a person do it.",
        )
        for name, charge in charges.items()
        if charge.cost > charge.most
    )


def _too_many_claims(limits: FairLimits, mutation: Mutation, facts: Facts) -> tuple[Finding, ...]:
    """A denial if the actor would hold too many claims with this motivation."""
    motivation = motivation_of(mutation)
    limit = limits.claims.get(motivation)
    if limit is None:
        return ()
    taking = {
        (each.effect.address, each.effect.attribute)
        for each in facts.subjects
        if each.changes and each.effect.action in (EffectAction.SET, EffectAction.DELETE)
    }
    own = {
        (standing.claim.address, standing.claim.attribute)
        for standing in facts.claims
        if standing.claim.actor == mutation.caller.actor and _same(standing.claim.motive, motivation)
    }
    held = facts.used.claims.get("" if motivation == WITHOUT_MOTIVE else motivation, 0) - len(own & taking)
    if not taking or held + len(taking) <= limit:
        return ()
    said = "without a motive" if motivation == WITHOUT_MOTIVE else f"for the motivation {motivation}"
    return (
        _denial(
            "fairness.claims",
            f"{mutation.caller.actor} holds {held} claims {said} and would take {len(taking)} more, but may hold no more than {limit}. "
            "Release claims that you no longer need, or ask again when some have ended.",
        ),
    )


def _same(motive: object, motivation: str) -> bool:
    return str(getattr(motive, "motivation", WITHOUT_MOTIVE)) == motivation


def _denial(rule: str, reason: str) -> Finding:
    return Finding(check="fairness", verdict=Verdict.DENY, rule=rule, reason=reason)


def size_added(measure: Measure, mutation: Mutation, facts: Facts) -> int:
    """How much it adds. What gets less elsewhere gives nothing back: AWS may refuse it. A value that nobody knew before counts as a whole."""
    grown = sum(_growth(measure, subject) for subject in facts.subjects)
    return grown + sum(_created(measure, mutation, kind) for kind in _created_types(mutation))


def _growth(measure: Measure, subject: Subject) -> int:
    effect = subject.effect
    if effect.attribute not in measure.set.get(effect.resource_type, ()):
        return 0
    if effect.action not in (EffectAction.SET, EffectAction.CREATE):
        return 0
    return max(0, _number(effect.value) - _number(subject.before))


def _created_types(mutation: Mutation) -> set[str]:
    return {effect.resource_type for effect in mutation.effects if effect.action is EffectAction.CREATE}


def _created(measure: Measure, mutation: Mutation, kind: str) -> int:
    """How many resources of a type the call creates."""
    if kind not in measure.created:
        return 0
    asked = _number(mutation.call.parameters.get(measure.created[kind]))
    addresses = {
        effect.address
        for effect in mutation.effects
        if effect.action is EffectAction.CREATE and effect.resource_type == kind
    }
    return max(asked, len(addresses))


def _number(value: object) -> int:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0
