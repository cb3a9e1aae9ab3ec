"""What a mutation only restated ends with its outcome, and the claims it stood in for stand again; what it changed does not."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.model.claim import Claim, ClaimEnd
from gateway.model.mutation import WHOLE, EffectAction
from gateway.model.outcome import Failed, InDoubt
from gateway.model.resolution import Resolution, SettledBy

FOUND = Resolution(carried_out=True, by=SettledBy.READ_BACK, reason="The live value is the new one.")


async def _standing(scene: Any) -> dict[str, str]:
    """The actor that holds each attribute."""
    return {claim.attribute: claim.actor for claim in await scene.ledger.claims()}


async def _restate(scene: Any, *attributes: str, supersedes: tuple[Claim, ...] = (), **members: Any) -> Any:
    """A mutation of `b` that sets the known value 4 of some attributes."""
    changes = [scene.mutation(4, attribute, actor="b", **members) for attribute in attributes]
    change = replace(changes[0], effects=tuple(each.effects[0] for each in changes))
    await scene.ledger.record_decision(
        change, scene.facts(change), scene.decision(supersedes=tuple(claim.id for claim in supersedes))
    )
    return change


async def test_a_restated_attribute_is_claimed_until_the_outcome_is_known(scene: Any) -> None:
    change = await _restate(scene, "delay", "size")
    assert await _standing(scene) == {"delay": "b", "size": "b"}
    await scene.ledger.record_outcome(change, scene.applied, scene.now)
    assert await _standing(scene) == {}
    assert {claim.end for claim in await scene.ledger.claims(open_only=False)} == {ClaimEnd.RESTATED}


async def test_in_doubt_it_stays_until_it_is_resolved(scene: Any) -> None:
    change = await _restate(scene, "delay")
    await scene.ledger.record_outcome(change, InDoubt(reason="cut off"), scene.now)
    assert await _standing(scene) == {"delay": "b"}
    await scene.ledger.resolve(change.id, FOUND, scene.now)
    assert await _standing(scene) == {}


@pytest.mark.parametrize("fails", [False, True])
async def test_the_claim_it_stood_in_for_stands_again(scene: Any, fails: bool) -> None:
    [held] = await scene.execute(scene.mutation(8, "size", actor="a"))
    change = await _restate(scene, "size", supersedes=(held,))
    outcome = Failed(code="X", message="no") if fails else scene.applied
    await scene.ledger.record_outcome(change, outcome, scene.now)
    assert await _standing(scene) == {"size": "a"}


async def test_a_claim_around_what_it_restated_stands_again_unless_it_changed_a_part_of_it(scene: Any) -> None:
    [tags] = await scene.execute(scene.mutation(8, "tags", actor="a"))
    change = await _restate(scene, "tags.owner", supersedes=(tags,))
    await scene.ledger.record_outcome(change, scene.applied, scene.now)
    assert await _standing(scene) == {"tags": "a"}
    both = await _restate(scene, "tags.owner", "tags.team", supersedes=(tags,))
    changed = replace(both, id="mut_both", effects=(both.effects[0], replace(both.effects[1], value=9)))
    await scene.ledger.record_outcome(both, scene.applied, scene.now)
    await scene.ledger.record_decision(changed, scene.facts(changed), scene.decision(supersedes=(tags.id,)))
    await scene.ledger.record_outcome(changed, scene.applied, scene.now)
    assert await _standing(scene) == {"tags.team": "b"}


async def test_an_invoked_attribute_has_another_value_so_its_claim_stays_ended(scene: Any) -> None:
    [size] = await scene.execute(scene.mutation(8, "size", actor="a"))
    change = scene.mutation(4, "delay", actor="b")
    invoke = replace(change.effects[0], attribute="size", action=EffectAction.INVOKE, value=None)
    both = replace(change, effects=(change.effects[0], invoke))
    await scene.ledger.record_decision(both, scene.facts(both), scene.decision(supersedes=(size.id,)))
    await scene.ledger.record_outcome(both, scene.applied, scene.now)
    assert await _standing(scene) == {}


async def test_invoking_the_resource_as_a_whole_sets_none_of_its_attributes(scene: Any) -> None:
    [size] = await scene.execute(scene.mutation(8, "size", actor="a"))
    change = scene.mutation(4, "size", actor="b")
    invoke = replace(change.effects[0], attribute=WHOLE, action=EffectAction.INVOKE, value=None)
    both = replace(change, effects=(change.effects[0], invoke))
    await scene.ledger.record_decision(both, scene.facts(both), scene.decision(supersedes=(size.id,)))
    await scene.ledger.record_outcome(both, scene.applied, scene.now)
    assert await _standing(scene) == {"size": "a"}


async def test_a_claim_on_what_the_call_implies_elsewhere_stays_ended(scene: Any) -> None:
    [size] = await scene.execute(scene.mutation(8, "size", actor="a", address="aws_sqs_queue.other"))
    change = scene.mutation(4, "delay", actor="b")
    implied = replace(
        change.effects[0],
        address="aws_sqs_queue.other",
        attribute="size",
        action=EffectAction.INVOKE,
        value=None,
        implied=True,
    )
    both = replace(change, effects=(change.effects[0], implied))
    await scene.ledger.record_decision(both, scene.facts(both), scene.decision(supersedes=(size.id,)))
    await scene.ledger.record_outcome(both, scene.applied, scene.now)
    assert await _standing(scene) == {}
