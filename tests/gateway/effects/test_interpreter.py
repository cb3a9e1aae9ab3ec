"""A row of a table accounts for every parameter, or the call is not understood."""

from collections.abc import Callable
from typing import Any

import pytest

from gateway.effects.arguments import carried
from gateway.effects.interpreter import interpret
from gateway.effects.operation import Operation, controls
from gateway.effects.values import NotUnderstood
from gateway.model.mutation import EffectAction

QUEUE = "aws_sqs_queue"
SET = Operation(resource_type=QUEUE, identity={"Name": "name"}, controls=controls("Token"))
NAMED = {"Name": "q", "DelaySeconds": "3", "Token": "t", "Policy": None}


def test_parameters_become_effects_in_the_providers_form(context: Callable[..., Any]) -> None:
    (effect,) = interpret(SET, context(NAMED))
    assert (effect.attribute, effect.value, effect.action) == ("delay_seconds", 3, EffectAction.SET)


@pytest.mark.parametrize(
    "parameters",
    [
        {"Name": "q"},
        {"Name": "q", "Token": "t"},
        {"DelaySeconds": 3},
        {"Name": "q", "DelaySeconds": 3, "Unheard": 1},
        {"Name": "q", "DelaySeconds": {"Value": {"Deeper": 1}}},
        {"Name": "q", "DelaySeconds": [3]},
        {"Name": "q", "Unheard": {}},
    ],
)
def test_a_parameter_that_nothing_accounts_for_is_not_understood(context: Callable[..., Any], parameters: Any) -> None:
    with pytest.raises(NotUnderstood):
        interpret(SET, context(parameters))


def test_an_upsert_creates_only_if_none_is_recorded(context: Callable[..., Any]) -> None:
    row = Operation(resource_type=QUEUE, identity={"Name": "name"}, controls=controls("Token"), upserts=True)
    created = interpret(row, context(NAMED))
    (changed,) = interpret(row, context(NAMED, {"aws_sqs_queue.q": {"name": "q"}}))
    assert [effect.attribute for effect in created] == ["*", "name", "delay_seconds"]
    assert changed.action is EffectAction.SET


@pytest.mark.parametrize("action", [EffectAction.DELETE, EffectAction.INVOKE])
def test_the_parameters_of_a_deletion_are_carried_ignored_or_not_understood(
    context: Callable[..., Any], action: EffectAction
) -> None:
    row = Operation(
        resource_type=QUEUE,
        identity={"Name": "name"},
        action=action,
        arguments={"Force": carried},
        controls=frozenset({"Token"}),
        content=frozenset({"Body"}),
    )
    (effect,) = interpret(row, context({"Name": "q", "Force": True, "Token": "t", "Body": "b", "Left": None}))
    assert (effect.attribute, effect.action, effect.value) == ("*", action, {"Force": True})
    (plain,) = interpret(row, context({"Name": "q"}))
    assert plain.value is None
    with pytest.raises(NotUnderstood, match="Unheard"):
        interpret(row, context({"Name": "q", "Unheard": 1}))


def test_secrets_of_a_row_are_masked(context: Callable[..., Any]) -> None:
    row = Operation(resource_type=QUEUE, identity={"Name": "name"}, secrets=frozenset({"policy"}))
    (effect,) = interpret(row, context({"Name": "q", "Policy": "hush"}))
    assert effect.sensitive
    assert "hush" not in repr(effect)


def test_a_row_can_find_its_target_itself(context: Callable[..., Any]) -> None:
    row = Operation(
        resource_type=QUEUE, identity={"Name": "name"}, find_target=lambda call: call.target(QUEUE, {"name": "other"})
    )
    (effect,) = interpret(row, context({"Name": "q", "DelaySeconds": 3}))
    assert effect.address == "aws_sqs_queue{name=other}"
