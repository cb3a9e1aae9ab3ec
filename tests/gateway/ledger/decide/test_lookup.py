"""The view covers any number of addresses."""

from datetime import timedelta
from typing import Any

import pytest

from gateway.core.model.mutation import EffectAction
from gateway.core.model.outcome import Failed, InDoubt

DAY = timedelta(days=1)


@pytest.mark.parametrize("count", [0, 1, 501, 2_000])
async def test_a_view_of_many_resources(scene: Any, count: int) -> None:
    await scene.execute(scene.mutation(address="aws_lb.t0"))
    addresses = [f"aws_lb.t{number}" for number in reversed(range(count))]
    view = await scene.ledger.view(addresses=addresses, actor="", call_digest="", now=scene.now, flip_window=DAY)
    assert [claim.address for claim in view.claims] == (["aws_lb.t0"] if count else [])
    assert dict(view.values) == ({("aws_lb.t0", "delay"): 6} if count else {})


async def test_an_address_is_compared_literally(scene: Any) -> None:
    address = 'module.jobs["a\'b"].aws_sqs_queue.this%'
    await scene.execute(scene.mutation(address=address))
    view = await scene.ledger.view(addresses=[address], actor="", call_digest="", now=scene.now, flip_window=DAY)
    assert [claim.address for claim in view.claims] == [address]


async def _rule(scene: Any, number: int, group: str, outcome: Any = None) -> None:
    address = f"aws_rule.r{number}"
    change = scene.mutation(group, "group", address=address, action=EffectAction.CREATE)
    await scene.execute(change, outcome or scene.applied)


async def test_what_was_applied_with_a_value_is_found_with_all_that_it_has(scene: Any) -> None:
    await _rule(scene, 1, "sg-1")
    await scene.execute(scene.mutation(22, "port", address="aws_rule.r1"))
    await _rule(scene, 2, "sg-2")
    await _rule(scene, 3, "sg-1", Failed(code="Denied", message="", reply=None))
    found = await scene.ledger.applied_with("group", ["sg-1", "sg-9"])
    assert found == {"aws_rule.r1": {"group": "sg-1", "port": 22}}
    assert await scene.ledger.applied_with("group", []) == {}


async def test_what_is_in_flight_or_in_doubt_counts_as_applied(scene: Any) -> None:
    await _rule(scene, 1, "sg-1", InDoubt(reason="cut off"))
    flying = scene.mutation("sg-1", "group", address="aws_rule.r2", action=EffectAction.CREATE)
    await scene.ledger.record_decision(flying, scene.facts(flying), scene.decision())
    found = await scene.ledger.applied_with("group", ["sg-1"])
    assert found == {"aws_rule.r1": {"group": "sg-1"}, "aws_rule.r2": {"group": "sg-1"}}
