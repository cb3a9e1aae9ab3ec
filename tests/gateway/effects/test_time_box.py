"""What a change for a time is put back to; what cannot be put back is refused with the reason."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.contract import Contract
from gateway.core.model.facts import Facts, Subject
from gateway.core.model.json import Json
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.mutation import Call, CallClass, Mutation
from gateway.core.model.path import AttributePath, put_all
from gateway.core.model.time_box import TimeBox, TimeBoxPart
from gateway.core.model.verdict import Mode
from gateway.effects.resolver import EffectResolver
from gateway.effects.time_box import is_time_boxed, time_box_of
from tests.gateway.effects.conftest import ACCOUNT, REGION, FakeInventory
from tests.kit import nouns

NOW = datetime(2026, 3, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
QUEUE = "https://sqs.eu-west-1.amazonaws.com/123456789012/q"
GROUP = {"AutoScalingGroupName": "a"}
STATE: Mapping[str, Mapping[str, Json]] = {
    "aws_autoscaling_group.a": {"name": "a", "min_size": 2, "max_size": 16, "desired_capacity": 4},
    "aws_sqs_queue.q": {"name": "q", "url": QUEUE, "delay_seconds": 0, "tags": {"owner": "a"}},
    "aws_ssm_parameter.p": {"name": "p", "type": "SecureString", "value": "x"},
    "aws_lambda_function.f": {"function_name": "f", "timeout": 3},
}
RESOLVER = EffectResolver(FakeInventory(STATE))


def _mutation(service: str, operation: str, parameters: Mapping[str, Any], **members: Any) -> Mutation:
    call = Call(service=service, operation=operation, parameters=parameters, account=ACCOUNT, region=REGION)
    motive = Motive(intent=Intent.COST, motivation=Motivation.BUDGET, wanted_for=HOUR)
    usual: dict[str, Any] = {"motive": motive, "call_class": CallClass.MUTATION, "effects": RESOLVER.effects(call)}
    caller = Caller(actor="agent", kind=ActorKind.AGENT, key_id="k")
    return Mutation(id="mut_1", caller=caller, call=call, **{**usual, **members})


def _facts(mutation: Mutation, state: Mapping[str, Mapping[str, Json]] = STATE, **members: Any) -> Facts:
    after: dict[str, Mapping[str, Json]] = {}
    for each in mutation.effects:
        after[each.address] = put_all(
            after.get(each.address, state.get(each.address, {})), [(each.attribute, each.value)]
        )
    subjects = tuple(
        Subject(
            effect=each,
            before=AttributePath(each.attribute).value_at(state.get(each.address, {})),
            declared=None,
            attributes_before=state.get(each.address, {}),
            attributes_after=after[each.address],
            contract=Contract(),
            exists=each.address in state,
            **members,
        )
        for each in mutation.effects
    )
    return Facts(now=NOW, stack="shop", mode=Mode.ENFORCE, subjects=subjects)


def _box(mutation: Mutation, standing: Sequence[TimeBoxPart] = (), **members: Any) -> TimeBox:
    return time_box_of(RESOLVER, mutation, _facts(mutation, **members), standing)


def _part(attribute: str, value: Json, base: Json) -> TimeBoxPart:
    return nouns.time_box_part(
        mutation_id="mut_0", address="aws_sqs_queue.q", attribute=attribute, value=value, base=base, root="mut_00"
    )


def test_what_was_there_before_is_put_back_by_one_call() -> None:
    box = _box(_mutation("autoscaling", "SetDesiredCapacity", {**GROUP, "DesiredCapacity": 6}))
    assert (box.refusal, box.until) == ("", NOW + HOUR)
    assert box.bases == {("aws_autoscaling_group.a", "desired_capacity"): 4}
    assert box.call is not None
    assert box.call.parameters == {**GROUP, "DesiredCapacity": 4}


def test_what_changes_nothing_has_nothing_to_put_back() -> None:
    box = _box(_mutation("autoscaling", "SetDesiredCapacity", {**GROUP, "DesiredCapacity": 4}))
    assert (box.refusal, box.bases, box.call) == ("", {}, None)


REFUSED: dict[str, tuple[str, str, Mapping[str, Any], str]] = {
    "created": ("sqs", "CreateQueue", {"QueueName": "n"}, "a resource that is created"),
    "deleted": ("sqs", "DeleteQueue", {"QueueUrl": QUEUE}, "a resource that is deleted"),
    "invoked": ("sqs", "PurgeQueue", {"QueueUrl": QUEUE}, "an action"),
    "not understood": ("sqs", "AddPermission", {"QueueUrl": QUEUE}, "is not known"),
    "a secret": ("ssm", "PutParameter", {"Name": "p", "Value": "y", "Overwrite": True}, "secret"),
    "not recorded": ("autoscaling", "SetDesiredCapacity", {"AutoScalingGroupName": "b", "DesiredCapacity": 6}, "neither"),
    "unset before": ("lambda", "UpdateFunctionConfiguration", {"FunctionName": "f", "MemorySize": 512}, "no call is known that unsets"),
    "two calls": ("sqs", "TagQueue", {"QueueUrl": QUEUE, "Tags": {"owner": "b", "new": "x"}}, "no call is known"),
    "many": ("sqs", "TagQueue", {"QueueUrl": QUEUE, "Tags": {f"t{n}": "x" for n in range(51)}}, "at most 50"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_put_back_is_refused_with_the_reason(case: str) -> None:
    service, operation, parameters, why = REFUSED[case]
    box = _box(_mutation(service, operation, parameters))
    assert why in box.refusal
    assert "Nothing was sent." in box.refusal
    assert (box.call, box.bases) == (None, {})


def test_a_value_that_the_caller_is_not_told_is_refused() -> None:
    mutation = _mutation("autoscaling", "SetDesiredCapacity", {**GROUP, "DesiredCapacity": 6})
    assert "secret" in _box(mutation, hidden=True).refusal


def test_a_masked_value_is_refused() -> None:
    mutation = _mutation("sqs", "TagQueue", {"QueueUrl": QUEUE, "Tags": {"owner": "b"}})
    masked: Mapping[str, Mapping[str, Json]] = {
        **STATE,
        "aws_sqs_queue.q": {"name": "q", "tags": {"owner": {"hmac_sha256": "a" * 64}}},
    }
    assert "secret" in time_box_of(RESOLVER, mutation, _facts(mutation, masked)).refusal


def test_the_value_before_the_first_of_several_is_put_back() -> None:
    mutation = _mutation("sqs", "SetQueueAttributes", {"QueueUrl": QUEUE, "Attributes": {"DelaySeconds": "9"}})
    box = _box(mutation, [_part("delay_seconds", 5, 0)])
    assert box.bases == {("aws_sqs_queue.q", "delay_seconds"): 0}
    assert box.roots == {("aws_sqs_queue.q", "delay_seconds"): "mut_00"}


def test_a_change_inside_or_around_another_one_goes_back_to_what_was_before_both() -> None:
    inside = _mutation("sqs", "TagQueue", {"QueueUrl": QUEUE, "Tags": {"owner": "c"}})
    assert _box(inside, [_part("tags", {"owner": "b"}, {"owner": "a"})]).bases == {
        ("aws_sqs_queue.q", "tags.owner"): "a"
    }
    (part,) = inside.effects
    around = replace(inside, effects=(replace(part, attribute="tags", value={"owner": "c"}),))
    box = _box(around, [_part("tags.owner", "a", "before")])
    assert box.bases == {("aws_sqs_queue.q", "tags"): {"owner": "before"}} or box.refusal
    beside = _mutation("sqs", "TagQueue", {"QueueUrl": QUEUE, "Tags": {"a.b": "c"}})
    assert _box(beside, [_part("tags.owner", "a", "before")]).bases == {("aws_sqs_queue.q", "tags.a%2Eb"): None}


@pytest.mark.parametrize(
    ("members", "boxed"),
    [
        ({}, True),
        ({"motive": None}, False),
        ({"motive": Motive(intent=Intent.COST, motivation=Motivation.BUDGET)}, False),
        ({"call_class": CallClass.DATA}, False),
    ],
)
def test_only_a_change_that_is_wanted_for_a_time_is_one(members: Mapping[str, Any], boxed: bool) -> None:
    mutation = _mutation("autoscaling", "SetDesiredCapacity", {**GROUP, "DesiredCapacity": 6}, **members)
    assert is_time_boxed(mutation) is boxed


def test_without_a_time_there_is_nothing_to_put_back() -> None:
    mutation = _mutation("autoscaling", "SetDesiredCapacity", {**GROUP, "DesiredCapacity": 6}, motive=None)
    assert _box(mutation) == TimeBox()
