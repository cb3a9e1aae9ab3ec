"""Blame names the last change that covers the attribute, and no mutation that failed."""

from dataclasses import replace
from typing import Any

from gateway.core.model.mutation import EffectAction
from gateway.core.model.outcome import Failed, InDoubt
from gateway.ledger.ask.blame import _covering


def test_an_attribute_is_covered_by_itself_those_around_it_and_the_whole() -> None:
    assert _covering("a.b.c") == ["a.b.c", "a.b", "a", "*"]


async def test_a_failed_mutation_is_skipped(scene: Any) -> None:
    await scene.execute(scene.mutation(5, actor="first"))
    [claim] = await scene.ledger.claims()
    failed = scene.mutation(9, actor="second")
    await scene.execute(failed, Failed(code="Denied", message="No."), supersedes=(claim.id,))
    found = await scene.ledger.blame("aws_sqs_queue.orders", "delay")
    assert found is not None
    assert (found.actor, found.value, found.previous_actor, found.approver) == ("first", 5, "", "")


async def test_a_change_of_an_attribute_and_of_the_whole_replaces_nothing_of_its_own(scene: Any) -> None:
    whole = scene.mutation(None, "*", action=EffectAction.CREATE)
    effects = (*whole.effects, *scene.mutation(5).effects)
    await scene.execute(replace(whole, effects=effects))
    found = await scene.ledger.blame("aws_sqs_queue.orders", "delay")
    assert found is not None
    assert (found.value, found.previous_actor, found.previous_mutation_id, found.previous_at) == (5, "", "", None)


async def test_the_outcome_may_be_in_doubt(scene: Any) -> None:
    await scene.execute(scene.mutation(), InDoubt(reason="cut off"))
    found = await scene.ledger.blame("aws_sqs_queue.orders", "delay")
    assert found is not None
    assert (found.outcome, found.claim_open) == ("in_doubt", True)


async def test_a_deletion_covers_every_attribute(scene: Any) -> None:
    await scene.execute(scene.mutation(None, "*", action=EffectAction.DELETE))
    found = await scene.ledger.blame("aws_sqs_queue.orders", "tags.owner")
    assert found is not None
    assert (found.action, found.attribute) == ("delete", "*")
