"""A signature is spent once: whoever sends it again under another name, at whichever gateway, is refused until nobody can use it."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select

from gateway.core.errors import SignatureSpent
from gateway.core.model.mutation import Mutation
from gateway.core.model.outcome import Failed, InDoubt, Resolution, SettledBy
from gateway.core.model.verdict import Verdict
from gateway.ledger.decide.signatures import KEPT
from gateway.ledger.store.statements import Statement
from gateway.ledger.store.tables import SIGNATURES

SIGNATURE = "5" * 64
_COUNT = Statement(select(func.count()).select_from(SIGNATURES))


def _signed(scene: Any, value: int = 6, *, key: str = "k1", signature: str = SIGNATURE, **members: Any) -> Mutation:
    made: Mutation = scene.mutation(value, key=key, **members)
    return replace(made, signature=signature)


async def _decide(scene: Any, change: Mutation, verdict: Verdict = Verdict.ALLOW) -> None:
    await scene.ledger.record_decision(change, scene.facts(change), scene.decision(verdict))


@pytest.mark.parametrize("state", ["in flight", "applied", "in doubt"])
async def test_the_same_signature_is_refused_under_another_key(scene: Any, state: str) -> None:
    first = _signed(scene)
    await _decide(scene, first)
    if state != "in flight":
        await scene.ledger.record_outcome(
            first, scene.applied if state == "applied" else InDoubt(reason="No answer."), scene.now
        )
    for key in ("k2", "k3", ""):
        with pytest.raises(SignatureSpent, match=first.id):
            await _decide(scene, _signed(scene, 6, attribute=f"other{key}", key=key))
    assert len(await scene.ledger.claims(address="aws_sqs_queue.orders")) == 1


@pytest.mark.parametrize("verdict", [Verdict.DENY, Verdict.HOLD])
async def test_what_was_not_carried_out_spends_nothing(scene: Any, verdict: Verdict) -> None:
    await _decide(scene, _signed(scene), verdict)
    await _decide(scene, _signed(scene, key="k2"))


async def test_what_aws_refused_may_be_tried_again_and_then_is_spent(scene: Any) -> None:
    await scene.execute(_signed(scene), Failed(code="Throttling", message="", reply=None))
    await scene.execute(_signed(scene))
    with pytest.raises(SignatureSpent):
        await _decide(scene, _signed(scene, key="k2", attribute="other"))


@pytest.mark.parametrize("by", list(SettledBy))
async def test_a_doubt_that_was_settled_as_failed_keeps_its_signature_spent(scene: Any, by: SettledBy) -> None:
    first = _signed(scene)
    await scene.execute(first, InDoubt(reason="No answer."))
    await scene.ledger.resolve(first.id, Resolution(carried_out=False, by=by, reason="Nothing is seen."), scene.now)
    with pytest.raises(SignatureSpent, match=first.id):
        await _decide(scene, _signed(scene, key="k2", attribute="other"))


async def test_a_refusal_that_came_late_frees_the_signature(scene: Any) -> None:
    first = _signed(scene)
    await scene.execute(first, InDoubt(reason="The gateway was paused."))
    await scene.ledger.record_outcome(first, Failed(code="Throttling", message="", reply=None), scene.now)
    await scene.execute(_signed(scene, key="k2", attribute="other"))


async def test_another_signature_is_another_call(scene: Any) -> None:
    await scene.execute(_signed(scene))
    await scene.execute(_signed(scene, key="k2", signature="6" * 64, attribute="b"))
    await scene.execute(_signed(scene, key="k3", signature="", attribute="c"))
    await scene.execute(_signed(scene, key="k4", signature="", attribute="d"))


async def test_a_refused_repeat_leaves_nothing_behind(scene: Any) -> None:
    await scene.execute(_signed(scene))
    before = await scene.ledger.verify()
    with pytest.raises(SignatureSpent):
        await _decide(scene, _signed(scene, key="k2", attribute="other"))
    assert await scene.ledger.verify() == before
    assert await scene.ledger.attempt("agent", "k2") is None


async def test_a_signature_is_forgotten_when_it_has_long_expired(scene: Any) -> None:
    for number in range(20):
        later = replace(scene, now=scene.now + number * KEPT / 4)
        await later.execute(_signed(later, key=f"k{number}", signature=f"{number:064}", attribute=f"a{number}"))
    assert await scene.ledger.read(lambda session: session.scalar(_COUNT, {})) <= 6


async def test_a_signature_is_remembered_as_long_as_it_can_be_valid(scene: Any) -> None:
    await scene.execute(_signed(scene))
    later = replace(scene, now=scene.now + timedelta(minutes=31))
    with pytest.raises(SignatureSpent):
        await _decide(later, _signed(later, key="k2", attribute="other"))
