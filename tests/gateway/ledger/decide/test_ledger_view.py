"""The view covers any number of addresses."""

from datetime import timedelta
from typing import Any

import pytest

from gateway.core.model.approval import USUAL
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.mutation import EffectAction
from gateway.core.model.outcome import Failed, InDoubt
from gateway.core.model.verdict import Verdict
from tests.kit.bodies import written_back
from tests.kit.nouns import BOUND

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


async def test_a_claim_of_another_names_the_commit_that_proposes_its_value(scene: Any) -> None:
    change = scene.mutation(address="aws_lb.t0")
    await scene.execute(change)
    body = written_back({"branch": "sentinel/shop", "commit": "c0ffee"})
    await scene.ledger.record_reconciliation(change.id, at=scene.now, body=body)

    async def proposed(actor: str) -> list[tuple[str, str]]:
        view = await scene.ledger.view(
            addresses=["aws_lb.t0"], actor=actor, call_digest="", now=scene.now, flip_window=DAY
        )
        return [(claim.branch, claim.commit) for claim in view.claims]

    assert await proposed("another") == [("sentinel/shop", "c0ffee")]
    assert await proposed(change.caller.actor) == [("", "")], "who holds it needs no cure"


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


ALICE = Caller(actor="alice", kind=ActorKind.HUMAN, key_id="SNTLALICE", roles=("approver",))


async def _hold(scene: Any, **members: Any) -> Any:
    change = scene.mutation(50)
    await scene.ledger.record_decision(
        change, scene.facts(change), scene.decision(Verdict.HOLD, needs=USUAL, **members)
    )
    return change


async def test_a_call_that_nobody_was_asked_about(scene: Any) -> None:
    found = await scene.ledger.answered("agent", "digest")
    assert (found.held, found.rejection) == ({}, None)


async def test_what_is_held_and_what_was_rejected(scene: Any) -> None:
    first = await _hold(scene)
    found = await scene.ledger.answered("agent", first.call.digest)
    assert (found.held, found.rejection) == ({first.id: BOUND}, None)
    await scene.ledger.reject(first.id, approver=ALICE, reason="No.", at=scene.now)
    later = await _hold(scene)
    again = await scene.ledger.answered("agent", first.call.digest)
    assert set(again.held) == {later.id}
    assert (again.rejection.mutation_id, again.rejection.by, again.rejection.reason) == (first.id, "alice", "No.")
    await scene.ledger.reject(later.id, approver=ALICE, reason="Still no.", at=scene.now + timedelta(hours=1))
    newest = await scene.ledger.answered("agent", first.call.digest)
    assert (newest.held, newest.rejection.reason) == ({}, "Still no.")
    assert (await scene.ledger.answered("other", first.call.digest)).held == {}


async def test_what_attaches_opens_no_hold_of_its_own(scene: Any) -> None:
    first = await _hold(scene)
    await _hold(scene, attached=first.id)
    assert set((await scene.ledger.answered("agent", first.call.digest)).held) == {first.id}
