"""What people said about a call that is repeated: what is held for it, and the latest rejection."""

from datetime import timedelta
from typing import Any

from gateway.core.model.approval import USUAL
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.verdict import Verdict
from tests.kit.nouns import BOUND

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
