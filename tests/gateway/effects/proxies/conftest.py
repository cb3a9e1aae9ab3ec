"""Resolves calls that carry others, with the classes that the gateway gives them."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from gateway.aws.models.call_classes import class_of_call, shipped
from gateway.core.model.mutation import Call
from gateway.effects.resolver import EffectResolver, Explanation
from tests.gateway.effects.conftest import ACCOUNT, REGION, FakeInventory

QUEUE = f"arn:aws:sqs:{REGION}:{ACCOUNT}:orders"
FUNCTION = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:worker"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/runs"
RESOURCES: Mapping[str, Mapping[str, Any]] = {
    "aws_sqs_queue.orders": {"name": "orders", "arn": QUEUE, "tags": {"team": "a"}},
    "aws_lambda_function.worker": {"function_name": "worker", "arn": FUNCTION},
    "aws_ecs_service.web": {
        "name": "web",
        "cluster": f"arn:aws:ecs:{REGION}:{ACCOUNT}:cluster/main",
        "desired_count": 2,
    },
}
Understand = Callable[..., Explanation]


@pytest.fixture(scope="session")
def understand() -> Understand:
    """What is known about a call, given by service, operation and parameters; by default against `RESOURCES`."""

    def understood(
        service: str, operation: str, parameters: Mapping[str, Any], resources: Mapping[str, Any] | None = None
    ) -> Explanation:
        resolver = EffectResolver(
            FakeInventory(RESOURCES if resources is None else resources),
            class_of=lambda call: class_of_call(call, shipped().of(call.service, call.operation)),
        )
        call = Call(service=service, operation=operation, parameters=parameters, account=ACCOUNT, region=REGION)
        return resolver.explain(call)

    return understood


def inner_effects(found: Explanation) -> list[tuple[str, str, str, object, str]]:
    """Address, attribute, action, value and inner call of the effects that an inner call makes."""
    return [(each.address, each.attribute, each.action.value, each.value, each.by) for each in found.effects if each.by]
