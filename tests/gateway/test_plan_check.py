"""A plan is judged by the line's checks: one question to the ledger, one decision, one record; the door's tests play it whole."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from gateway.checks.chain import CheckChain
from gateway.errors import Malformed, NotAllowed, NotFound
from gateway.model.caller import ActorKind, Caller
from gateway.model.masking import Masker
from gateway.model.motive import Intent, Motivation, Motive
from gateway.model.plan import Plan, PlannedAction, PlannedChange
from gateway.model.record import Record
from gateway.model.verdict import Mode, Verdict
from gateway.plan_check import PlanCheck
from gateway.settings import StackSettings
from gateway.terraform.stacks import Stacks
from tests.kit.doubles import FixedClock, LedgerDouble, PolicyDouble, Says
from tests.kit.gate import STACK

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
