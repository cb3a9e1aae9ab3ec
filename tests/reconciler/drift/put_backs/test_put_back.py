"""A change whose time is up is put back if it is live as it was set; what others changed since is left, and recorded once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.core.model.json import Json
from gateway.core.model.time_box import TimeBoxPart, TimeBoxState
from gateway.core.ports import DueChange
from reconciler.drift.put_backs.gateway_api import GatewayAnswer
from reconciler.drift.put_backs.put_back import (
    LeftPart,
    PutBacks,
    address_in_stack,
    changed_outside,
    left_to_others,
    not_read,
)
from reconciler.errors import GatewayUnreachable, TerraformFailed
from reconciler.terraform.refresh import Refreshed
from tests.kit import nouns

NOW = datetime(2026, 3, 1, tzinfo=UTC)
GROUP = "aws_autoscaling_group.web"


def part(**given: Any) -> TimeBoxPart:
    """A part whose end has come."""
    return nouns.time_box_part(**({"address": GROUP, "attribute": "desired_capacity", "value": 7} | given))


def _live(value: Json) -> Refreshed:
    return Refreshed(read=frozenset({GROUP}), objects={GROUP: {"desired_capacity": value}})


@pytest.mark.parametrize(("value", "ours"), [(7, True), ("7", True), (4, True), (9, False), (None, False)])
def test_only_what_was_set_or_was_there_before_is_ours(value: Json, ours: bool) -> None:
    left = changed_outside([part()], _live(value))
    assert [each.state for each in left] == ([] if ours else [TimeBoxState.CHANGED_OUTSIDE])


def test_what_is_gone_was_changed_outside() -> None:
    assert changed_outside([part()], Refreshed(read=frozenset({GROUP}), objects={}))


def test_what_was_not_read_is_named() -> None:
    assert not_read([part(), part(address="aws_x.y")], _live(7)) == ["aws_x.y"]


def test_an_address_that_several_stacks_have_is_read_in_its_own() -> None:
    named = part(address=f"shop:{GROUP}")
    assert address_in_stack(named) == address_in_stack(part()) == GROUP
    assert not_read([named], _live(7)) == []
    assert changed_outside([named], _live(7)) == []
    assert [each.address for each in changed_outside([named], _live(9))] == [f"shop:{GROUP}"]
    assert not_read([part(address=f"other:{GROUP}")], _live(7)) == [f"other:{GROUP}"]


def test_what_others_have_is_left_with_who_has_it() -> None:
    alone = ((part(), TimeBoxState.SUPERSEDED, "mut_2"),)
    [left] = left_to_others(DueChange(mutation_id="mut_1", stack="shop", until=NOW, alone=alone))
    assert (left.state, left.by) == (TimeBoxState.SUPERSEDED, "mut_2")
    assert "later change" in left.reason
    assert LeftPart.from_json(left.to_json()) == left


OK = GatewayAnswer(status=200, code="", detail="")
REFUSED = GatewayAnswer(status=403, code="refused", detail="A bound.")
HELD = GatewayAnswer(status=202, code="held", detail="A human.")
STOPPED = GatewayAnswer(status=403, code="stopped", detail="[never.stopped] ann stopped it.")
SPENT = GatewayAnswer(status=429, code="budget_spent", detail="The budget is spent.")
SHUT = GatewayAnswer(status=429, code="breaker_open", detail="The breaker is open.")
BUSY = GatewayAnswer(status=409, code="claim_taken", detail="Taken.")


@dataclass
class _Clock:
    at: datetime = NOW

    def now(self) -> datetime:
        return self.at


@dataclass
class _Ledger:
    """One change that is due, until it is left or put back."""

    due: list[DueChange]
    left: list[Any] = field(default_factory=list)

    async def due_mutations(self, _now: datetime, *, stack: str = "") -> Sequence[str]:
        return [each.mutation_id for each in self.due if stack in ("", each.stack)]

    async def due_change(self, _now: datetime, mutation_id: str) -> DueChange | None:
        return next((each for each in self.due if each.mutation_id == mutation_id), None)

    async def leave_time_box(
        self, mutation_id: str, left: Sequence[TimeBoxPart], state: TimeBoxState, *, by: str, reason: str, at: datetime
    ) -> bool:
        self.left.append((mutation_id, [each.attribute for each in left], state, by, reason))
        assert at >= NOW
        return True


@dataclass
class _World:
    """A gateway, live values, and a workflow that runs at once."""

    answers: list[GatewayAnswer | Exception]
    live: Refreshed | Exception = field(
        default_factory=lambda: Refreshed(read=frozenset({GROUP}), objects={GROUP: {"desired_capacity": 7}})
    )
    targets: list[list[str]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    putting_back: PutBacks | None = None

    async def put_back(self, mutation_id: str) -> GatewayAnswer:
        self.asked.append(mutation_id)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def read(self, targets: list[str]) -> Refreshed:
        self.targets.append(targets)
        if isinstance(self.live, Exception):
            raise self.live
        return self.live

    async def run(self, _stack: str, mutation_id: str) -> dict[str, Any]:
        assert self.putting_back is not None
        seen: Any = await self.putting_back.look(mutation_id)
        await self.putting_back.leave(mutation_id, seen["left"])
        return await self.putting_back.send(mutation_id) if seen["send"] else {}


def _scene(world: _World, *due: DueChange, patience: float = 60.0) -> tuple[PutBacks, _Ledger, _Clock]:
    ledger: Any = _Ledger(due=list(due))
    clock = _Clock()
    made = PutBacks(
        stack="shop",
        ledger=ledger,
        clock=clock,
        read_live=world.read,
        gateway=world,
        patience=timedelta(seconds=patience),
    )
    world.putting_back = made
    return made, ledger, clock


def _due(mutation: str = "mut_1", **given: Any) -> DueChange:
    usual: dict[str, Any] = {"mutation_id": mutation, "stack": "shop", "until": NOW, "back": (part(),)}
    return DueChange(**{**usual, **given})


async def _rounds(putting_back: PutBacks, world: _World, count: int) -> None:
    for _ in range(count):
        for retry in putting_back.retries.values():
            retry.again_at = 0.0
        await putting_back.round(world)


async def test_what_is_due_is_put_back() -> None:
    world = _World([OK])
    putting_back, ledger, _ = _scene(world, _due())
    await putting_back.round(world)
    assert (world.asked, ledger.left) == (["mut_1"], [])


async def test_terraform_is_asked_for_the_address_in_the_stack() -> None:
    world = _World([OK])
    putting_back, ledger, _ = _scene(world, _due(back=(part(address=f"shop:{GROUP}"),)))
    await putting_back.round(world)
    assert (world.targets, world.asked, ledger.left) == ([[GROUP]], ["mut_1"], [])


async def test_what_waits_for_an_outcome_is_not_touched() -> None:
    world = _World([OK])
    putting_back, ledger, _ = _scene(world, _due(waits="Something is under way."))
    await putting_back.round(world)
    assert await putting_back.look("mut_1") == {"left": [], "send": False}
    assert (world.asked, ledger.left) == ([], [])


async def test_a_failure_stops_no_other_and_waits_longer_each_time() -> None:
    world = _World([GatewayUnreachable("No answer."), OK])
    putting_back, _, _ = _scene(world, _due("mut_1"), _due("mut_2"))
    await putting_back.round(world)
    assert world.asked == ["mut_1", "mut_2"]
    assert not putting_back.retries["mut_1"].due
    await putting_back.round(world)
    assert world.asked.count("mut_1") == 1


@pytest.mark.parametrize("answer", [REFUSED, TerraformFailed("No plan.")])
async def test_what_is_refused_long_enough_is_left_to_a_human(answer: GatewayAnswer | Exception) -> None:
    world = _World([answer])
    if isinstance(answer, Exception):
        world.live = answer
    putting_back, ledger, clock = _scene(world, _due())
    await _rounds(putting_back, world, 20)
    assert not ledger.left  # often enough, not long enough
    clock.at = NOW + timedelta(minutes=2)
    await _rounds(putting_back, world, 1)
    [(mutation, attributes, state, _, reason)] = ledger.left
    assert (mutation, attributes, state) == ("mut_1", ["desired_capacity"], TimeBoxState.LEFT)
    assert ("A bound." in reason) or ("No plan." in reason)


@pytest.mark.parametrize("answer", [HELD, BUSY, STOPPED, SPENT, SHUT, GatewayUnreachable("No answer.")])
async def test_what_may_still_pass_is_never_left_to_a_human(answer: GatewayAnswer | Exception) -> None:
    world = _World([answer])
    putting_back, ledger, clock = _scene(world, _due())
    clock.at = NOW + timedelta(days=9)
    await _rounds(putting_back, world, 20)
    assert not ledger.left


async def test_after_a_long_pause_it_is_tried_some_times_before_a_human_is_asked() -> None:
    world = _World([REFUSED])
    putting_back, ledger, clock = _scene(world, _due())
    clock.at = NOW + timedelta(days=9)
    await _rounds(putting_back, world, 4)
    assert not ledger.left
    await _rounds(putting_back, world, 1)
    assert ledger.left


@pytest.mark.parametrize("not_now", [STOPPED, SPENT, SHUT])
async def test_one_refusal_after_a_long_stop_is_no_reason_to_ask_a_human(not_now: GatewayAnswer) -> None:
    world = _World([*[not_now] * 20, REFUSED, OK])
    putting_back, ledger, clock = _scene(world, _due())
    clock.at = NOW + timedelta(days=9)
    await _rounds(putting_back, world, 22)
    assert len(world.asked) == 22
    assert not ledger.left


async def test_what_was_changed_past_the_gate_and_what_others_have_is_left_and_the_rest_sent() -> None:
    world = _World([OK])
    world.live = Refreshed(read=frozenset({GROUP}), objects={GROUP: {"desired_capacity": 9, "max_size": 14}})
    other = part(attribute="min_size")
    back = (part(), part(attribute="max_size", value=14, base=16))
    alone = ((other, TimeBoxState.SUPERSEDED, "mut_9"),)
    putting_back, ledger, _ = _scene(world, _due(back=back, alone=alone))
    await putting_back.round(world)
    assert [(attributes, state, by) for _, attributes, state, by, _ in ledger.left] == [
        (["min_size"], TimeBoxState.SUPERSEDED, "mut_9"),
        (["desired_capacity"], TimeBoxState.CHANGED_OUTSIDE, ""),
    ]
    assert world.asked == ["mut_1"]


async def test_where_nothing_is_left_to_put_back_the_gateway_is_not_asked() -> None:
    world = _World([OK])
    putting_back, ledger, _ = _scene(world, _due(back=(), alone=((part(), TimeBoxState.STILL_WANTED, "mut_9"),)))
    await putting_back.round(world)
    assert not world.asked
    assert len(ledger.left) == 1


async def test_a_round_takes_only_some_and_the_earliest_first() -> None:
    world = _World([OK])
    putting_back, _, _ = _scene(world, *(_due(f"mut_{number}") for number in range(10)))
    await putting_back.round(world)
    assert world.asked == ["mut_0", "mut_1", "mut_2", "mut_3"]


async def test_what_is_stuck_keeps_no_other_from_being_put_back() -> None:
    world = _World([*[REFUSED] * 8, OK])
    waiting = [_due(f"mut_waits_{number}", waits="Something is under way.") for number in range(20)]
    putting_back, _, _ = _scene(world, *waiting, *(_due(f"mut_{number}") for number in range(9)))
    for _ in range(3):
        await putting_back.round(world)
    assert world.asked == [f"mut_{number}" for number in range(9)]


async def test_a_change_of_another_stack_is_not_put_back() -> None:
    putting_back, _, _ = _scene(world := _World([OK]), _due(stack="other"))
    await putting_back.round(world)
    assert await putting_back.look("mut_1") == {"left": [], "send": False}
    assert not world.asked


async def test_what_was_not_read_is_not_sent() -> None:
    world = _World([OK], live=Refreshed(read=frozenset(), objects={}))
    putting_back, _, _ = _scene(world, _due())
    await putting_back.round(world)
    assert not world.asked


async def test_retries_of_what_is_over_are_forgotten() -> None:
    world = _World([REFUSED])
    putting_back, ledger, _ = _scene(world, _due())
    await putting_back.round(world)
    assert putting_back.retries["mut_1"].count == 1
    ledger.due.clear()
    await putting_back.round(world)
    assert not putting_back.retries
    assert not putting_back.refusals
