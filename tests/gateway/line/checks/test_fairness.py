"""The limits of the shipped policies, asked once for each version, and nothing but limits taken for one."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, cast

import pytest

from gateway.core.errors import BreakerOpen, BudgetSpent, PolicyUnavailable
from gateway.core.model.budget import Charge, Used, budget_text, charged
from gateway.core.model.caller import ActorKind
from gateway.core.model.circuit_breaker import Breaker, BreakerRule, BreakerState
from gateway.core.model.claim import Relation, StandingClaim
from gateway.core.model.facts import Facts
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.mutation import Call, Effect, EffectAction, Mutation, PutBack
from gateway.core.model.verdict import Mode, Verdict
from gateway.line.checks.fairness import (
    NO_LIMITS,
    Admission,
    FairLimits,
    FairLimitsOf,
    FairnessCheck,
    Measure,
    size_added,
)
from tests.gateway.core.model.test_facts import FACTS, MUTATION
from tests.kit import nouns

ANSWER: Mapping[str, Any] = {
    "evaluated": True,
    "mutations": {"minute": 2, "hour": 9},
    "questions": {"minute": 3},
    "mutations_by_motivation": {"experiment": {"minute": 1}},
    "added_per_day": {"instances": 5},
    "sizes": {"instances": {"set": {"aws_autoscaling_group": ["desired_capacity"]}, "created": {}}},
    "claims_by_motivation": {"experiment": 3},
    "open_holds": 6,
    "billed_reads": {"minute": 2},
    "breaker": {"in_a_row": 4, "open_seconds": 30},
}
LIMITS = FairLimits(
    mutations={"minute": Charge(most=2, seconds=60), "hour": Charge(most=9, seconds=3600)},
    questions={"minute": Charge(most=3, seconds=60)},
    by_motivation={"experiment": {"minute": Charge(most=1, seconds=60)}},
    added={"instances": 5},
    sizes={"instances": Measure(set={"aws_autoscaling_group": frozenset({"desired_capacity"})}, created={})},
    claims={"experiment": 3},
    open_holds=6,
    billed_reads={"billed reads/minute": Charge(most=2, seconds=60)},
    breaker=BreakerRule(in_a_row=4, open_seconds=30),
)


@dataclass
class Engine:
    """Policies with a given answer about budgets."""

    answer: Any = field(default_factory=lambda: dict(ANSWER))
    revision: str = "r-1"
    has: bool = True
    asked: list[Any] = field(default_factory=list)

    def answers(self, entrypoint: str) -> bool:
        return self.has

    async def ask(self, entrypoint: str, document: Any) -> Any:
        self.asked.append((entrypoint, document))
        return self.answer


def limits_of(engine: Engine) -> FairLimitsOf:
    return FairLimitsOf(cast("Any", engine))


async def test_they_are_asked_once_for_each_kind_and_version() -> None:
    engine = Engine()
    limits = limits_of(engine)
    assert [await limits.of(ActorKind.AGENT) for _ in range(3)] == [LIMITS] * 3
    await limits.of(ActorKind.HUMAN)
    assert engine.asked == [("sentinel/budgets/result", {"kind": kind}) for kind in ("agent", "human")]
    engine.revision = "r-2"
    await limits.of(ActorKind.AGENT)
    assert len(engine.asked) == 3


async def test_a_server_without_a_bundle_is_asked_each_time() -> None:
    engine = Engine(revision="opa 1.0")
    limits = limits_of(engine)
    await limits.of(ActorKind.AGENT)
    await limits.of(ActorKind.AGENT)
    assert len(engine.asked) == 2


async def test_policies_without_the_package_set_no_limits() -> None:
    assert await limits_of(Engine(has=False)).of(ActorKind.AGENT) is NO_LIMITS


def test_a_motivation_has_its_own_buckets_beside_those_of_all() -> None:
    assert list(LIMITS.of_motivation("experiment")) == ["minute", "hour", "experiment/minute"]
    assert list(LIMITS.of_motivation("incident")) == ["minute", "hour"]


async def test_no_breaker_is_an_answer() -> None:
    assert (await limits_of(Engine(answer={**ANSWER, "breaker": None})).of(ActorKind.HUMAN)).breaker is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"evaluated": False},
        {"mutations": {"fortnight": 2}},
        {"mutations": {"minute": 0}},
        {"mutations": {"minute": -1}},
        {"mutations": {"minute": True}},
        {"mutations": {"minute": "2"}},
        {"mutations": {"minute": 1.5}},
        {"mutations": [2]},
        {"added_per_day": {"instances": None}},
        {"sizes": {"instances": {"set": {}}}},
        {"sizes": {"instances": 3}},
        {"breaker": {"in_a_row": 4}},
        {"breaker": {"in_a_row": 4, "open_seconds": 0}},
        {"breaker": [4, 30]},
        {"claims_by_motivation": None},
        {"open_holds": 0},
        {"billed_reads": {"minute": 0}},
        {"open_holds": "6"},
        {"more": 1},
    ],
    ids=str,
)
async def test_any_other_answer_is_none(wrong: Mapping[str, Any]) -> None:
    with pytest.raises(PolicyUnavailable):
        await limits_of(Engine(answer={**ANSWER, **wrong})).of(ActorKind.AGENT)


MEASURE = Measure(set={"aws_autoscaling_group": frozenset({"desired_capacity"})}, created={"aws_instance": "MaxCount"})


def added(*effects: Effect, before: Any = None, parameters: Any = None) -> int:
    subjects = tuple(nouns.subject(each, before) for each in effects)
    call = Call(service="ec2", operation="X", parameters=parameters or {})
    return size_added(MEASURE, replace(MUTATION, effects=effects, call=call), replace(FACTS, subjects=subjects))


def effect(value: Any, kind: str = "aws_autoscaling_group", attribute: str = "desired_capacity", **more: Any) -> Effect:
    return Effect(**{
        "address": f"{kind}.a", "attribute": attribute, "action": EffectAction.SET, "value": value, "resource_type": kind
    } | more)  # fmt: skip


@pytest.mark.parametrize(
    ("before", "value", "size"),
    [(3, 7, 4), (7, 3, 0), (None, 7, 7), (3, 3, 0), (3, "7", 0), (3, True, 0), (0, 2.0, 2)],
)
def test_what_an_attribute_grows_by(before: Any, value: Any, size: int) -> None:
    assert added(effect(value), before=before) == size


def test_other_attributes_and_types_do_not_count() -> None:
    assert added(effect(9, attribute="max_size"), effect(9, "aws_sqs_queue")) == 0
    assert added(effect(9, action=EffectAction.INVOKE)) == 0


def test_what_is_created_counts_by_its_parameter() -> None:
    one = effect(None, "aws_instance", "*", action=EffectAction.CREATE)
    assert added(one, parameters={"MinCount": 1, "MaxCount": 40}) == 40
    assert added(one, replace(one, attribute="ami"), parameters={}) == 1
    assert added(one, replace(one, address="aws_instance.b"), parameters={"MaxCount": "x"}) == 2


EXPERIMENT = Motive(intent=Intent.COST, motivation=Motivation.EXPERIMENT)


def scaling(value: int, *, before: int = 2, used: Used | None = None, **more: Any) -> tuple[Mutation, Facts]:
    """A change of a capacity, for an experiment."""
    wanted = effect(value)
    subject = nouns.subject(wanted, before)
    facts = replace(FACTS, subjects=(subject,), used=used or Used(), **more)
    return replace(MUTATION, effects=(wanted,), motive=EXPERIMENT), facts


async def examined(mutation: Mutation, facts: Facts, **answer: Any) -> Any:
    return await FairnessCheck(limits_of(Engine(answer={**ANSWER, **answer}))).examine(mutation, facts)


async def test_it_says_what_the_decision_costs() -> None:
    opinion = await examined(*scaling(5))
    assert [each.verdict for each in opinion.findings] == [Verdict.ALLOW]
    one = {"cost": 1, "when_sent": False}
    assert opinion.obligations == {
        "budgets": {
            "minute": {"most": 2, "seconds": 60, **one},
            "hour": {"most": 9, "seconds": 3600, **one},
            "experiment/minute": {"most": 1, "seconds": 60, **one},
            "instances/day": {"most": 5, "seconds": 86_400, "cost": 3, "when_sent": True},
        },
        "breaker": {"in_a_row": 4, "open_seconds": 30},
        "claims_of_motivation": 3,
        "open_holds": 6,
    }


async def test_without_a_motive_and_growth_it_costs_less() -> None:
    mutation, facts = scaling(1)
    opinion = await examined(replace(mutation, motive=None), facts, breaker=None, open_holds=None)
    assert list(opinion.obligations["budgets"]) == ["minute", "hour"]
    assert set(opinion.obligations) == {"budgets"}


async def test_more_than_the_whole_budget_is_denied_since_it_never_fits() -> None:
    [finding] = (await examined(*scaling(8))).findings
    assert (finding.verdict, finding.rule) == (Verdict.DENY, "fairness.size")
    assert finding.reason.startswith("This adds 6 instances, and the whole budget is 5 a day.")


def putting_back(mutation: Mutation) -> Mutation:
    return replace(mutation, puts_back=PutBack(mutation_id="mut_0", bases={}))


async def test_a_put_back_costs_one_mutation_whatever_comes_back_and_however_often_it_was_refused() -> None:
    mutation, facts = scaling(50)  # ten times what the whole budget would let grow
    opinion = await examined(putting_back(mutation), facts)
    assert [each.verdict for each in opinion.findings] == [Verdict.ALLOW]
    assert list(opinion.obligations["budgets"]) == ["minute", "hour"]
    assert "breaker" not in opinion.obligations
    until = facts.now + timedelta(seconds=12)
    shut = replace(facts, used=Used(breaker=Breaker(state=BreakerState.OPEN, in_a_row=4, until=until)))
    await admitted(putting_back(mutation), shut)
    with pytest.raises(BreakerOpen):
        await admitted(mutation, shut)


def held(count: int, *own: str) -> dict[str, Any]:
    """That many claims for experiments, of them some on attributes of the group."""
    claims = tuple(
        StandingClaim(
            claim=nouns.claim("aws_autoscaling_group.a", name, 1, id=f"clm_{name}", actor="bot", kind=MUTATION.caller.kind, motive=EXPERIMENT, since=FACTS.now),
            relation=Relation.SAME,
        )
        for name in own
    )  # fmt: skip
    return {"used": Used(claims={"experiment": count, "incident": 40}), "claims": claims}


@pytest.mark.parametrize(
    ("known", "denied"),
    [(held(2), False), (held(3), True), (held(3, "desired_capacity"), False), (held(3, "max_size"), True)],
)
async def test_claims_of_one_motivation_are_limited(known: dict[str, Any], denied: bool) -> None:
    mutation, facts = scaling(3, **known)
    found = (await examined(mutation, facts)).findings
    assert [each.rule for each in found] == [("fairness.claims" if denied else "fairness.passed")]


async def test_what_takes_no_claim_is_not_denied_for_claims() -> None:
    mutation, facts = scaling(2, **held(9))  # it restates the value
    assert (await examined(mutation, facts)).findings[0].verdict is Verdict.ALLOW
    invoking = replace(facts.subjects[0], effect=replace(mutation.effects[0], action=EffectAction.INVOKE))
    assert (await examined(mutation, replace(facts, subjects=(invoking,)))).findings[0].verdict is Verdict.ALLOW


async def admitted(mutation: Mutation, facts: Facts, **answer: Any) -> None:
    await Admission(limits_of(Engine(answer={**ANSWER, **answer}))).admit(mutation, facts)


async def test_a_spent_budget_turns_away_with_the_time_to_come_back() -> None:
    mutation, facts = scaling(3)
    await admitted(mutation, facts)
    levels = charged({}, LIMITS.of_motivation("experiment"), facts.now - timedelta(seconds=20), sent=True)
    spent = replace(facts, used=Used(levels=levels))
    with pytest.raises(BudgetSpent, match="bot has used its budget of 1 experiment mutations a minute") as error:
        await admitted(mutation, spent)
    assert error.value.retry_after == 40
    assert "try again at 2026-03-01T00:00:40Z." in str(error.value), "one call cannot ask for less"
    await admitted(replace(mutation, motive=None), spent)
    await admitted(mutation, replace(spent, mode=Mode.OBSERVE))


async def test_questions_have_a_budget_of_their_own() -> None:
    admission = Admission(limits_of(Engine(answer=ANSWER)))
    caller, at = MUTATION.caller, FACTS.now
    for _ in range(3):
        await admission.admit_question(caller, at)
    with pytest.raises(BudgetSpent, match="has asked 3 times within a minute") as error:
        await admission.admit_question(caller, at)
    assert error.value.retry_after == 20
    await admission.admit_question(replace(caller, actor="another"), at)
    await admission.admit_question(caller, at + timedelta(seconds=20))


async def test_an_open_breaker_turns_away_until_its_time() -> None:
    mutation, facts = scaling(3)
    until = facts.now + timedelta(seconds=12.2)
    shut = replace(facts, used=Used(breaker=Breaker(state=BreakerState.OPEN, in_a_row=4, until=until)))
    with pytest.raises(BreakerOpen, match="refused or failed 4 times in a row, so none is taken until 2026") as error:
        await admitted(mutation, shut)
    assert error.value.retry_after == 13
    await admitted(mutation, replace(shut, now=until))
    await admitted(mutation, replace(shut, mode=Mode.OBSERVE))
    await admitted(mutation, shut, breaker=None)


async def test_beside_the_trial_nobody_is_let_in() -> None:
    mutation, facts = scaling(3)
    trying = replace(facts, used=Used(breaker=Breaker(state=BreakerState.HALF_OPEN, in_a_row=4, trial="mut_t")))
    with pytest.raises(BreakerOpen, match="mut_t"):
        await admitted(mutation, trying)
    await admitted(replace(mutation, id="mut_t"), trying)


async def test_without_an_answer_it_is_the_check_that_denies() -> None:
    mutation, facts = scaling(3)
    await admitted(mutation, facts, evaluated=None)
    with pytest.raises(PolicyUnavailable):
        await examined(mutation, facts, evaluated=None)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("minute", "mutations a minute"),
        ("experiment/hour", "experiment mutations an hour"),
        ("instances/day", "added instances a day"),
    ],
)
def test_a_bucket_has_a_name_for_people(name: str, text: str) -> None:
    assert budget_text(name) == text
