"""A plan's changes as effects."""

from typing import Any

import pytest

from gateway.effects.plan_effects import planned_effects
from gateway.model.masking import Masker, is_masked
from gateway.model.mutation import EffectAction
from gateway.model.plan import Plan, PlannedAction, PlannedChange
from gateway.model.verdict import Mode
from gateway.settings import StackSettings
from gateway.terraform.stack import Stack
from gateway.terraform.stacks import Stacks
from tests.kit.gate import STACK

MASKER = Masker(key=b"k" * 32)
QUEUE = "aws_sqs_queue.fresh"


@pytest.fixture(scope="module")
def stack() -> Stack:
    """The case stack."""
    return Stacks.load([StackSettings(name="kafka", path=STACK)], default_mode=Mode.ENFORCE).all[0]


def effects(
    stack: Stack, action: PlannedAction, address: str = QUEUE, *, asked: bool = True, **members: Any
) -> list[Any]:
    """(attribute, action, value) of the effects of one change."""
    kind = address.split(".")[-2]
    change = PlannedChange(address=address, resource_type=kind, action=action, **members)
    return list(planned_effects(Plan(changes=(change, change)), stack, MASKER, asked=asked))


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        (PlannedAction.CREATE, [("*", "create"), ("name", "create")]),
        (PlannedAction.UPDATE, [("name", "set")]),
        (PlannedAction.REPLACE, [("*", "delete"), ("name", "create")]),
        (PlannedAction.DELETE, [("*", "delete"), ("name", "create")]),
    ],
)
def test_each_action_has_its_effects_once(stack: Stack, action: PlannedAction, expected: list[Any]) -> None:
    found = effects(stack, action, values={"name": "a"})
    assert [(each.attribute, each.action.value) for each in found] == expected
    assert not any(each.declared for each in found)


def test_a_value_that_is_not_told_has_a_mask_of_its_own(stack: Stack) -> None:
    [one, other] = effects(stack, PlannedAction.UPDATE, secrets=("policy", "name"))
    assert one.sensitive
    assert is_masked(one.value)
    assert one.value != other.value


def test_a_secret_that_a_client_told_all_the_same_is_masked(stack: Stack) -> None:
    [effect] = effects(stack, PlannedAction.UPDATE, "aws_db_instance.reports", values={"password": "hunter2-plain"})
    assert (effect.sensitive, effect.declared, is_masked(effect.value)) == (True, True, True)


def test_policies_judge_documents_as_they_are(stack: Stack) -> None:
    text = '{"password": "hunter2-plain"}'
    [effect] = effects(stack, PlannedAction.UPDATE, values={"policy": text})
    assert (effect.judged, "hunter2" in str(effect.value), effect.sensitive) == (text, False, True)


def test_a_document_that_names_a_member_twice_is_not_judged_by_either(stack: Stack) -> None:
    [effect] = effects(stack, PlannedAction.UPDATE, values={"policy": '{"Statement": [], "Statement": [1]}'})
    assert (is_masked(effect.value), effect.judged) == (True, None)


def test_an_unknown_value_is_asked_for_by_all_but_agents(stack: Stack) -> None:
    [asked] = effects(stack, PlannedAction.UPDATE, unknown=("name",))
    [implied] = effects(stack, PlannedAction.UPDATE, unknown=("name",), asked=False)
    assert (asked.action, asked.implied, implied.implied) == (EffectAction.INVOKE, False, True)


def test_a_moved_resource_is_judged_by_its_old_address(stack: Stack) -> None:
    old = "aws_autoscaling_group.kafka_consumer"
    [effect] = effects(
        stack, PlannedAction.UPDATE, "aws_autoscaling_group.renamed", previous=old, values={"max_size": 3}
    )
    assert (effect.address, effect.declared) == (old, True)
    [effect] = effects(stack, PlannedAction.UPDATE, previous="aws_sqs_queue.never", values={"name": "a"})
    assert effect.address == QUEUE
