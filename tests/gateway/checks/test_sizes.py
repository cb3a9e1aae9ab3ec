"""How much a mutation adds: what grows and what is created."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.checks.fair_limits import Measure
from gateway.checks.sizes import size_added
from gateway.model.contract import Contract
from gateway.model.facts import Subject
from gateway.model.mutation import Call, Effect, EffectAction
from tests.gateway.model.test_reach import FACTS, MUTATION

MEASURE = Measure(set={"aws_autoscaling_group": frozenset({"desired_capacity"})}, created={"aws_instance": "MaxCount"})


def added(*effects: Effect, before: Any = None, parameters: Any = None) -> int:
    subjects = tuple(
        Subject(
            effect=each, before=before, declared=None, attributes_before={}, attributes_after={}, contract=Contract()
        )
        for each in effects
    )
    call = Call(service="ec2", operation="X", parameters=parameters or {})
    return size_added(MEASURE, replace(MUTATION, effects=effects, call=call), replace(FACTS, subjects=subjects))


def effect(value: Any, kind: str = "aws_autoscaling_group", attribute: str = "desired_capacity", **more: Any) -> Effect:
    return Effect(**{
        "address": f"{kind}.a", "attribute": attribute, "action": EffectAction.SET, "value": value, "resource_type": kind
    } | more)  # fmt: skip


@pytest.mark.parametrize(
    ("before", "value", "size"),
    [(3, 7, 4), (7, 3, 0), (None, 7, 7), (3, 3, 0), (3, "7", 0), (3, True, 0), (0, 2.0, 2)],
)
def test_what_an_attribute_grows_by(before: Any, value: Any, size: int) -> None:
    assert added(effect(value), before=before) == size


def test_other_attributes_and_types_do_not_count() -> None:
    assert added(effect(9, attribute="max_size"), effect(9, "aws_sqs_queue")) == 0
    assert added(effect(9, action=EffectAction.INVOKE)) == 0


def test_what_is_created_counts_by_its_parameter() -> None:
    one = effect(None, "aws_instance", "*", action=EffectAction.CREATE)
    assert added(one, parameters={"MinCount": 1, "MaxCount": 40}) == 40
    assert added(one, replace(one, attribute="ami"), parameters={}) == 1
    assert added(one, replace(one, address="aws_instance.b"), parameters={"MaxCount": "x"}) == 2
