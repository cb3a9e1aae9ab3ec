"""What an outcome changes: kept replies and applied values."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gateway.core.model.claim import Claim, ClaimEnd
from gateway.core.model.mutation import CallClass, EffectAction
from gateway.core.model.outcome import Failed, InDoubt, Resolution, SettledBy
from gateway.core.model.path import WHOLE
from gateway.core.model.time_box import TimeBoxState
from gateway.ledger.decide.settlement import MAX_REPLY, follow_outcome, settlement
from gateway.ledger.ledger import SqlLedger
from gateway.ledger.store.states import AttemptState
from tests.kit.history import NOW
from tests.kit.time_boxes import HOUR, TimeBoxHistory

DAY = timedelta(days=1)


@pytest.mark.parametrize("kept", [True, False])
async def test_the_largest_reply_that_is_kept(scene: Any, kept: bool) -> None:
    body = b"x" * (MAX_REPLY if kept else MAX_REPLY + 1)
    outcome = replace(scene.applied, reply=replace(scene.applied.reply, body=body))
    await scene.execute(scene.mutation(key="k"), outcome)
    attempt = await scene.ledger.attempt("agent", "k")
    assert attempt is not None
    assert (attempt.outcome == outcome) is kept


@pytest.mark.parametrize("call_class", CallClass)
def test_replies_of_calls_that_hand_out_secrets_are_not_kept(scene: Any, call_class: CallClass) -> None:
    change = replace(scene.mutation(), call_class=call_class)
    kept = call_class in (CallClass.MUTATION, CallClass.EXECUTE)
    assert settlement(change, scene.applied, scene.now).harmless is kept


@pytest.mark.parametrize(
    ("service", "operation", "kept"),
    [
        ("lambda", "UpdateFunctionConfiguration", False),
        ("ecs", "RegisterTaskDefinition", False),
        ("autoscaling", "SetDesiredCapacity", True),
    ],
)
def test_a_reply_that_repeats_a_whole_configuration_is_not_kept(
    scene: Any, service: str, operation: str, kept: bool
) -> None:
    """A change of one harmless value is answered with all values, environment variables among them."""
    change = scene.mutation()
    change = replace(change, call=replace(change.call, service=service, operation=operation))
    assert settlement(change, scene.applied, scene.now).harmless is kept


@pytest.mark.parametrize("outcome", [Failed(code="No", message=""), InDoubt(reason="cut off")])
async def test_only_an_applied_mutation_leaves_values(scene: Any, outcome: Failed | InDoubt) -> None:
    await scene.execute(scene.mutation(), outcome)
    view = await scene.ledger.view(
        addresses=["aws_sqs_queue.orders"], actor="", call_digest="", now=scene.now, flip_window=DAY
    )
    assert dict(view.values) == {}


async def test_a_recreated_resource_loses_its_old_values(scene: Any) -> None:
    await scene.execute(scene.mutation(6))
    create = scene.mutation({}, "*", action=EffectAction.CREATE)
    named = scene.mutation("new", "name", action=EffectAction.CREATE)
    await scene.execute(replace(create, effects=create.effects + named.effects))
    view = await scene.ledger.view(
        addresses=["aws_sqs_queue.orders"], actor="", call_digest="", now=scene.now, flip_window=DAY
    )
    assert dict(view.values) == {("aws_sqs_queue.orders", "name"): "new"}


async def test_an_implied_value_is_kept_if_aws_sets_it_with_the_call_and_not_if_it_sets_it_later(scene: Any) -> None:
    asked = scene.mutation(6)
    capacity = replace(asked.effects[0], attribute="capacity", value=5, implied=True)
    later = replace(capacity, address="aws_sqs_queue.other")
    both = replace(asked, effects=(*asked.effects, capacity, later))
    of_call = settlement(both, scene.applied, scene.now).effects
    assert of_call is not None
    assert [(each.address, each.attribute) for each in of_call] == [
        (capacity.address, asked.effects[0].attribute),
        (capacity.address, "capacity"),
    ]
    # The same, where the effects are read from the DECIDED record.
    await scene.execute(both, InDoubt(reason="cut off"))
    found = Resolution(carried_out=True, by=SettledBy.READ_BACK, reason="Live is as asked.")
    await scene.ledger.resolve(both.id, found, scene.now)
    view = await scene.ledger.view(
        addresses=[capacity.address, later.address], actor="", call_digest="", now=scene.now, flip_window=DAY
    )
    assert view.values[capacity.address, "capacity"] == 5
    assert (later.address, "capacity") not in view.values


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
    found = Resolution(carried_out=True, by=SettledBy.READ_BACK, reason="Live is as asked.")
    await scene.ledger.resolve(change.id, found, scene.now)
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


async def test_another_mutations_outcome_changes_nothing(ledger: SqlLedger) -> None:
    timed = TimeBoxHistory(ledger)
    boxed = await timed.change()
    await timed.put_back(boxed, at=NOW + HOUR, outcome=None)
    for state in (AttemptState.APPLIED, AttemptState.FAILED, AttemptState.IN_DOUBT):
        await ledger.write(lambda transaction, state=state: follow_outcome(transaction, "mut_x", state, boxed.id))  # type: ignore[misc]
    assert await timed.states(boxed) == {"delay": TimeBoxState.PUTTING_BACK}
