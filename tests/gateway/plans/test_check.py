"""A plan's changes as effects."""

import json
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from gateway.core.errors import Malformed, NotAllowed, NotFound
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.masking import Masker, is_masked
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.mutation import EffectAction
from gateway.core.model.plan import Plan, PlannedAction, PlannedChange
from gateway.core.model.verdict import Decision, Finding, Mode, Verdict
from gateway.core.records.record import Record
from gateway.core.settings import StackSettings
from gateway.line.checks.chain import CheckChain
from gateway.plans.check import (
    MOST_NAMED,
    ClaimFate,
    ContestedClaim,
    PlanCheck,
    PlanVerdict,
    one_stack,
    plan_record,
    planned_effects,
)
from gateway.plans.unknown_calls import UnknownCalls
from gateway.terraform.stack import Stack
from gateway.terraform.stacks import Stacks
from tests.kit import nouns
from tests.kit.doubles import HUMAN, NOW, FixedClock, LedgerDouble, PolicyDouble, Says
from tests.kit.gate import STACK

MASKER = Masker(key=b"k" * 32)
QUEUE = "aws_sqs_queue.fresh"


@pytest.fixture(scope="module")
def stack() -> Stack:
    """The case stack."""
    return Stacks.load([StackSettings(name="kafka", path=STACK)], default_mode=Mode.ENFORCE).all[0]


def effects(
    stack: Stack, action: PlannedAction, address: str = QUEUE, *, asked: bool = True, **members: Any
) -> list[Any]:
    """(attribute, action, value) of the effects of one change."""
    kind = address.split(".")[-2]
    change = PlannedChange(address=address, resource_type=kind, action=action, **members)
    return list(planned_effects(Plan(changes=(change, change)), stack, MASKER, asked=asked))


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        (PlannedAction.CREATE, [("*", "create"), ("name", "create")]),
        (PlannedAction.UPDATE, [("name", "set")]),
        (PlannedAction.REPLACE, [("*", "delete"), ("name", "create")]),
        (PlannedAction.DELETE, [("*", "delete"), ("name", "create")]),
    ],
)
def test_each_action_has_its_effects_once(stack: Stack, action: PlannedAction, expected: list[Any]) -> None:
    found = effects(stack, action, values={"name": "a"})
    assert [(each.attribute, each.action.value) for each in found] == expected
    assert not any(each.declared for each in found)


def test_a_value_that_is_not_told_has_a_mask_of_its_own(stack: Stack) -> None:
    [one, other] = effects(stack, PlannedAction.UPDATE, secrets=("policy", "name"))
    assert one.sensitive
    assert is_masked(one.value)
    assert one.value != other.value


def test_a_secret_that_a_client_told_all_the_same_is_masked(stack: Stack) -> None:
    [effect] = effects(stack, PlannedAction.UPDATE, "aws_db_instance.reports", values={"password": "hunter2-plain"})
    assert (effect.sensitive, effect.declared, is_masked(effect.value)) == (True, True, True)


def test_policies_judge_documents_as_they_are(stack: Stack) -> None:
    text = '{"password": "hunter2-plain"}'
    [effect] = effects(stack, PlannedAction.UPDATE, values={"policy": text})
    assert (effect.judged, "hunter2" in str(effect.value), effect.sensitive) == (text, False, True)


def test_a_document_that_names_a_member_twice_is_not_judged_by_either(stack: Stack) -> None:
    [effect] = effects(stack, PlannedAction.UPDATE, values={"policy": '{"Statement": [], "Statement": [1]}'})
    assert (is_masked(effect.value), effect.judged) == (True, None)


def test_an_unknown_value_is_asked_for_by_all_but_agents(stack: Stack) -> None:
    [asked] = effects(stack, PlannedAction.UPDATE, unknown=("name",))
    [implied] = effects(stack, PlannedAction.UPDATE, unknown=("name",), asked=False)
    assert (asked.action, asked.implied, implied.implied) == (EffectAction.INVOKE, False, True)


def test_a_moved_resource_is_judged_by_its_old_address(stack: Stack) -> None:
    old = "aws_autoscaling_group.kafka_consumer"
    [effect] = effects(
        stack, PlannedAction.UPDATE, "aws_autoscaling_group.renamed", previous=old, values={"max_size": 3}
    )
    assert (effect.address, effect.declared) == (old, True)
    [effect] = effects(stack, PlannedAction.UPDATE, previous="aws_sqs_queue.never", values={"name": "a"})
    assert effect.address == QUEUE


BOTH = Stacks.load([StackSettings(name=name, path=STACK) for name in ("a", "b")], default_mode=Mode.OBSERVE)


def test_every_address_is_its_own() -> None:
    one = one_stack(BOTH, "b")
    assert one.declaring("aws_autoscaling_group.kafka_consumer").name == "b"
    fresh = "aws_sqs_queue.not_there_yet"
    assert one.declaring(fresh).contract(fresh).bounded
    assert (one.snapshot().default_name, one.all, one.default_mode) == ("b", (one.stack,), Mode.ENFORCE)
    assert one.account() == "123456789012"
    assert one.revision != BOTH.revision


def test_a_name_that_no_stack_has_is_refused() -> None:
    with pytest.raises(NotFound, match=r"There is no stack 'c'\. The settings have: a, b\."):
        one_stack(BOTH, "c")


CLAIM = nouns.claim("a.b", "x", "claimed-value", actor="other", kind=HUMAN.kind, since=NOW)


def verdict(findings: int) -> PlanVerdict:
    """A verdict with so many objections."""
    effects = tuple(nouns.effect("a.b", f"x{n}", "planned-value") for n in range(findings))
    mutation = nouns.mutation(*effects, id="pln_1", caller=HUMAN)
    objections = tuple(Finding(check="bounds", verdict=Verdict.DENY, rule="bounds.max", reason="x = planned-value", address="a.b", attribute=f"x{n}") for n in range(findings))  # fmt: skip
    claims = (ContestedClaim(claim=CLAIM, planned="planned-value", fate=ClaimFate.KEPT),)
    return PlanVerdict(id="pln_1", stack="kafka", plan=Plan(changes=()), mutation=mutation, decision=Decision(findings=objections), claims=claims)  # fmt: skip


def test_it_names_what_was_objected_to_and_counts_the_rest() -> None:
    record, resources = plan_record(verdict(80), at=NOW, origin="api")
    text = json.dumps(record.body.members)
    assert "planned-value" not in text
    assert "claimed-value" not in text
    decision = record.body.members["decision"]
    assert isinstance(decision, dict)
    assert (len(decision["objections"]), decision["more"], decision["verdict"]) == (MOST_NAMED, 30, "deny")
    assert (len(resources), record.mutation_id, record.actor, record.stack) == (MOST_NAMED, "pln_1", "human", "kafka")
    assert record.body.members["claims"] == [{"id": "clm_1", "fate": "kept", "holder": "other"}]


ROUTINE = Motive(intent=Intent.CONSISTENCY, motivation=Motivation.ROUTINE)
PIPELINE = Caller(
    actor="terraform", kind=ActorKind.PIPELINE, key_id="SNTLCCCCCCCCCCCCCCCC", motive=ROUTINE, motive_only=True
)
PLAN = Plan(
    changes=(
        PlannedChange(
            address="aws_autoscaling_group.kafka_consumer",
            resource_type="aws_autoscaling_group",
            action=PlannedAction.UPDATE,
            values={"desired_capacity": 4, "max_size": 9},
        ),
    )
)


@dataclass
class Events:
    """Records events, or refuses them."""

    records: list[Record] = field(default_factory=list)

    async def record_event(self, record: Record, **_: Any) -> bool:
        """Keep it."""
        self.records.append(record)
        return True


def check_of(
    events: Events, *, verdict: Verdict = Verdict.ALLOW, ledger: LedgerDouble | None = None, stacks: int = 1
) -> PlanCheck:
    """A check of the case stack, whose one rule says `verdict`."""
    sources = [StackSettings(name=f"kafka{n or ''}", path=STACK) for n in range(stacks)]
    return PlanCheck(
        stacks=Stacks.load(sources, default_mode=Mode.ENFORCE),
        ledger=ledger or LedgerDouble(),
        events=events,
        policy=PolicyDouble(),
        checks=CheckChain([Says(verdict)]),
        clock=FixedClock(),
        masker=Masker(key=b"k" * 32),
    )


async def test_all_changes_are_one_decision_with_the_motive_of_the_key_and_one_record() -> None:
    ledger, events = LedgerDouble(), Events()
    verdict = await check_of(events, ledger=ledger).check(PIPELINE, PLAN)
    assert (ledger.events, ledger.decisions) == (["view"], [])
    assert (len(verdict.mutation.effects), verdict.mutation.motive, verdict.passes) == (2, ROUTINE, True)
    assert [record.mutation_id for record in events.records] == [verdict.id]
    assert verdict.id.startswith("pln_")


async def test_a_held_plan_does_not_pass() -> None:
    verdict = await check_of(Events(), verdict=Verdict.HOLD).check(PIPELINE, PLAN)
    assert not verdict.passes
    assert verdict.decision.verdict is Verdict.HOLD


async def test_a_plan_is_of_a_stack_that_the_gateway_has() -> None:
    with pytest.raises(Malformed, match=r"Name the stack .* this gateway has kafka, kafka1"):
        await check_of(Events(), stacks=2).check(PIPELINE, PLAN)
    with pytest.raises(NotFound, match="There is no stack 'other'"):
        await check_of(Events()).check(PIPELINE, PLAN, stack="other")
    # Both stacks have the address, and the name says which is meant.
    assert (await check_of(Events(), stacks=2).check(PIPELINE, PLAN, stack="kafka1")).stack == "kafka1"


async def test_a_key_states_no_other_motive_than_it_may() -> None:
    events = Events()
    with pytest.raises(NotAllowed, match="may state no other motive"):
        await check_of(events).check(PIPELINE, PLAN, motive=Motive(intent=Intent.COST, motivation=Motivation.INCIDENT))
    assert not events.records


async def test_a_large_plan_is_judged_in_a_thread() -> None:
    changes = tuple(
        PlannedChange(
            address=f"aws_sqs_queue.q{n}",
            resource_type="aws_sqs_queue",
            action=PlannedAction.CREATE,
            values={"name": "a"},
        )
        for n in range(400)
    )
    verdict = await check_of(Events()).check(PIPELINE, Plan(changes=changes))
    assert (len(verdict.mutation.effects), verdict.passes) == (800, True)


@pytest.mark.parametrize(("mode", "passes"), [(Mode.ENFORCE, False), (Mode.OBSERVE, True)])
async def test_a_plan_with_a_change_that_nobody_understands_passes_only_where_it_is_observed(
    mode: Mode, passes: bool
) -> None:
    unknown = UnknownCalls(address=QUEUE, resource_type="aws_sqs_queue", action=PlannedAction.CREATE, with_plan=False)
    verdict = PlanVerdict(
        id="pln_1",
        stack="kafka",
        plan=Plan(changes=()),
        mutation=nouns.mutation(),
        decision=nouns.decision(mode=mode),
        unknown=(unknown,),
    )
    assert verdict.passes is passes
    assert replace(verdict, unknown=(replace(unknown, with_plan=True),)).passes


async def test_a_plan_tells_in_which_regions_it_changes_what() -> None:
    seen: list[Any] = []

    class Looks(Says):
        """Keeps the mutation."""

        async def examine(self, mutation: Any, facts: Any) -> Any:
            """Say the verdict."""
            seen.append(mutation)
            return await super().examine(mutation, facts)

    new = {"action": PlannedAction.CREATE, "values": {"name": "a"}}
    plan = Plan(
        changes=(
            *PLAN.changes,
            PlannedChange(address="aws_sqs_queue.here", resource_type="aws_sqs_queue", region="eu-west-1", **new),  # type: ignore[arg-type]
            PlannedChange(address="aws_iam_role.there", resource_type="aws_iam_role", region="us-west-2", **new),  # type: ignore[arg-type]
        )
    )
    check = replace(check_of(Events()), checks=CheckChain([Looks(Verdict.ALLOW)]))
    await check.check(PIPELINE, plan)
    [mutation] = seen
    assert mutation.regions == {
        "eu-west-1": ("aws_sqs_queue",),
        "us-east-1": ("aws_autoscaling_group",),
        "us-west-2": ("aws_iam_role",),
    }
