"""What an outcome changes: kept replies and applied values."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gateway.ledger.outcome import MAX_REPLY, settlement
from gateway.model.mutation import CallClass, EffectAction
from gateway.model.outcome import Failed, InDoubt
from gateway.model.resolution import Resolution, SettledBy

FOUND = Resolution(carried_out=True, by=SettledBy.READ_BACK, reason="The live value is the new one.")

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
    await scene.ledger.record_decision(both, scene.facts(both), scene.decision())
    await scene.ledger.recover(scene.now)
    await scene.ledger.resolve(both.id, FOUND, scene.now)
    view = await scene.ledger.view(
        addresses=[capacity.address, later.address], actor="", call_digest="", now=scene.now, flip_window=DAY
    )
    assert view.values[capacity.address, "capacity"] == 5
    assert (later.address, "capacity") not in view.values
