"""A call that is not fully understood has no effects, and resolving never raises."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.model.json import Json
from gateway.core.model.mutation import Call, EffectAction
from gateway.core.model.verdict import Mode
from gateway.core.settings import StackSettings
from gateway.effects.inventory import Inventory
from gateway.effects.registry import SERVICES
from gateway.effects.resolver import EffectResolver
from gateway.terraform.aws_location import AwsLocation
from gateway.terraform.stacks import Stacks

KAFKA = Path(__file__).parents[2] / "cases" / "stacks" / "kafka"
GROUP = "aws_autoscaling_group.a"
SAME_NAME = {
    GROUP: {"name": "a", "desired_capacity": 4},
    "aws_autoscaling_group.b": {"name": "a", "desired_capacity": 4},
}


def test_a_capacity_is_an_effect_on_the_declared_group(effects_of: Callable[..., Any]) -> None:
    (effect,) = effects_of(
        "autoscaling", "SetDesiredCapacity", {"AutoScalingGroupName": "a", "DesiredCapacity": 7}, {GROUP: {"name": "a"}}
    )
    assert (effect.address, effect.attribute, effect.action, effect.value) == (
        GROUP,
        "desired_capacity",
        EffectAction.SET,
        7,
    )
    assert effect.declared
    assert effect.identity == {"name": "a"}


def test_an_undeclared_resource_is_named_by_its_identity(effects_of: Callable[..., Any]) -> None:
    (effect,) = effects_of("sqs", "PurgeQueue", {"QueueUrl": "https://sqs.eu-west-1.amazonaws.com/123456789012/x"}, {})
    assert (effect.address, effect.declared) == ("aws_sqs_queue{name=x}", False)


@pytest.mark.parametrize(
    ("service", "operation", "parameters", "resources"),
    [
        ("autoscaling", "NoSuchOperation", {}, {}),
        ("autoscaling", "SetDesiredCapacity", {"AutoScalingGroupName": "a", "DesiredCapacity": 7}, SAME_NAME),
        ("autoscaling", "SetDesiredCapacity", {"AutoScalingGroupName": "", "DesiredCapacity": 7}, {}),
        ("autoscaling", "SetDesiredCapacity", {"AutoScalingGroupName": 3, "DesiredCapacity": 7}, {}),
        ("autoscaling", "SetDesiredCapacity", {"AutoScalingGroupName": "a", "DesiredCapacity": "many"}, {}),
        ("autoscaling", "SetDesiredCapacity", {"AutoScalingGroupName": "a", "DesiredCapacity": True}, {}),
        ("autoscaling", "SetDesiredCapacity", {"AutoScalingGroupName": "a"}, {}),
        ("autoscaling", "SetDesiredCapacity", {"AutoScalingGroupName": "a", "DesiredCapacity": float("nan")}, {}),
        ("elbv2", "SetSubnets", {"LoadBalancerArn": "not-an-arn", "Subnets": ["s"]}, {}),
        ("sqs", "PurgeQueue", {"QueueUrl": "https://sqs.eu-west-1.amazonaws.com/999999999999/x"}, {}),
        ("lambda", "UpdateFunctionConfiguration", {"FunctionName": "f", "DurableConfig": {"KMSKeyArn": "k"}}, {}),
        (
            "route53",
            "ChangeResourceRecordSets",
            {"HostedZoneId": "Z", "ChangeBatch": {"Changes": [{"Action": "X"}]}},
            {},
        ),
    ],
    ids=lambda value: str(value)[:40],
)
def test_calls_that_are_not_understood_have_no_effects(
    effects_of: Callable[..., Any], service: str, operation: str, parameters: dict[str, Any], resources: dict[str, Any]
) -> None:
    assert effects_of(service, operation, parameters, resources) == ()


def test_an_unknown_service_has_no_effects(resolver_for: Callable[..., EffectResolver]) -> None:
    assert resolver_for({}).effects(Call(service="braket", operation="CreateJob")) == ()


def test_an_inventory_that_raises_means_not_understood() -> None:
    class Broken:
        def locate(
            self, resource_type: str, identity: Mapping[str, str], account: str = "", region: str = ""
        ) -> str | None:
            raise RuntimeError("hush")

        def differing_in_case(
            self, resource_type: str, identity: Mapping[str, str], account: str = "", region: str = ""
        ) -> tuple[str, ...]:
            raise RuntimeError("hush")

        def find(self, resource_type: str, attribute: str, value: str) -> tuple[str, ...]:
            raise RuntimeError("hush")

        def recorded(self, address: str) -> Mapping[str, Json] | None:
            raise RuntimeError("hush")

        def place(self, address: str) -> AwsLocation:
            raise RuntimeError("hush")

        def accounts(self) -> frozenset[str]:
            raise RuntimeError("hush")

    call = Call(service="sqs", operation="PurgeQueue", parameters={"QueueUrl": "https://q/123456789012/x"})
    assert EffectResolver(Broken()).effects(call) == ()


def test_the_same_name_in_another_region_is_another_resource(effects_of: Callable[..., Any]) -> None:
    there = {"aws_dynamodb_table.o": {"name": "o", "arn": "arn:aws:dynamodb:us-east-1:123456789012:table/o"}}
    (effect,) = effects_of("dynamodb", "DeleteTable", {"TableName": "o"}, there)
    assert effect.address == "aws_dynamodb_table{name=o}"


_OURS = {
    "aws_sqs_queue.o": {"name": "o", "arn": "arn:aws:sqs:eu-west-1:123456789012:o"},
    "aws_sns_topic.o": {"name": "o", "arn": "arn:aws:sns:eu-west-1:123456789012:o"},
    "aws_dynamodb_table.o": {"name": "o", "arn": "arn:aws:dynamodb:eu-west-1:123456789012:table/o"},
    "aws_lambda_function.o": {"function_name": "o", "arn": "arn:aws:lambda:eu-west-1:123456789012:function:o"},
}


@pytest.mark.parametrize(
    ("service", "operation", "parameters"),
    [
        ("sqs", "PurgeQueue", {"QueueUrl": "https://sqs.eu-west-1.amazonaws.com/{}/o"}),
        ("sns", "Publish", {"TopicArn": "arn:aws:sns:eu-west-1:{}:o"}),
        ("sns", "SetTopicAttributes", {"TopicArn": "arn:aws:sns:eu-west-1:{}:o", "AttributeName": "DisplayName"}),
        ("dynamodb", "DeleteTable", {"TableName": "arn:aws:dynamodb:eu-west-1:{}:table/o"}),
        ("lambda", "DeleteFunction", {"FunctionName": "arn:aws:lambda:eu-west-1:{}:function:o"}),
        ("lambda", "DeleteFunction", {"FunctionName": "{}:function:o"}),
    ],
    ids=str,
)
def test_the_same_name_in_another_account_is_never_our_resource(
    effects_of: Callable[..., Any], service: str, operation: str, parameters: dict[str, str]
) -> None:
    def of(account: str) -> Any:
        named = {key: value.format(account) for key, value in parameters.items()}
        return effects_of(service, operation, named, _OURS, account="")

    assert [effect.declared for effect in of("123456789012")] == [True]
    assert of("999999999999") == ()


def test_current_attributes_override_the_state() -> None:
    resolver = EffectResolver(_OneGroup())
    parameters = {"AutoScalingGroupName": "a", "TargetGroupARNs": ["new"]}
    call = Call(service="autoscaling", operation="AttachLoadBalancerTargetGroups", parameters=parameters)
    current = {"aws_autoscaling_group.a": {"name": "a", "target_group_arns": ["old", "newer"]}}
    (by_state,), (by_current,) = resolver.effects(call), resolver.effects(call, current)
    assert (by_state.value, by_current.value) == (["old", "new"], ["old", "newer", "new"])
    assert by_state.address == by_current.address


class _OneGroup:
    def locate(
        self, resource_type: str, identity: Mapping[str, str], account: str = "", region: str = ""
    ) -> str | None:
        return "aws_autoscaling_group.a" if resource_type == "aws_autoscaling_group" else None

    def differing_in_case(
        self, resource_type: str, identity: Mapping[str, str], account: str = "", region: str = ""
    ) -> tuple[str, ...]:
        return ()

    def find(self, resource_type: str, attribute: str, value: str) -> tuple[str, ...]:
        return ()

    def recorded(self, address: str) -> Mapping[str, Json] | None:
        return {"name": "a", "target_group_arns": ["old"]}

    def place(self, address: str) -> AwsLocation:
        return AwsLocation()

    def accounts(self) -> frozenset[str]:
        return frozenset()


def test_two_effects_that_contradict_each_other_are_not_understood(effects_of: Callable[..., Any]) -> None:
    rule = {"SecurityGroupRuleId": "sgr-1"}
    resources = {"aws_vpc_security_group_ingress_rule.r": {"id": "sgr-1"}}
    rules = [{**rule, "SecurityGroupRule": {"FromPort": port}} for port in (1, 2)]
    assert (
        effects_of("ec2", "ModifySecurityGroupRules", {"GroupId": "sg-1", "SecurityGroupRules": rules}, resources) == ()
    )


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
_EVERYTHING = [(service, name) for service, table in SERVICES.items() for name in table]


@pytest.mark.slow
@given(data=st.data())
def test_no_parameters_make_it_raise(resolver_for: Callable[..., EffectResolver], data: st.DataObject) -> None:
    """Real parameter names with arbitrary values, for every operation."""
    resolver = _shared(resolver_for)
    service, name = data.draw(st.sampled_from(_EVERYTHING))
    row = SERVICES[service][name]
    names = sorted({path.split(".")[0] for path in (*row.identity, *row.attributes)} | {"Tags", "Attributes"})
    parameters = data.draw(st.dictionaries(st.sampled_from(names), _JSON, max_size=4))
    resolver.effects(Call(service=service, operation=name, parameters=parameters))


_RESOLVERS: dict[int, EffectResolver] = {}


def _shared(resolver_for: Callable[..., EffectResolver]) -> EffectResolver:
    return _RESOLVERS.setdefault(0, resolver_for({}))


@pytest.fixture(scope="module")
def kafka() -> Inventory:
    settings = StackSettings(name="kafka", path=KAFKA)
    return Stacks.load([settings], default_mode=Mode.ENFORCE)


@pytest.mark.parametrize(
    ("service", "operation", "parameters", "address"),
    [
        (
            "autoscaling",
            "SetDesiredCapacity",
            {"AutoScalingGroupName": "kafka-consumer-processor-asg", "DesiredCapacity": 9},
            "aws_autoscaling_group.kafka_consumer",
        ),
        ("dynamodb", "DeleteTable", {"TableName": "kafka-offsets"}, "aws_dynamodb_table.offsets"),
        ("sqs", "PurgeQueue", {"QueueUrl": "https://sqs/queue/kafka-shard-1"}, "aws_sqs_queue.shard[1]"),
        ("sqs", "CreateQueue", {"QueueName": "kafka-consumer-audit"}, "aws_sqs_queue.audit"),
        ("sqs", "CreateQueue", {"QueueName": "unheard-of"}, "aws_sqs_queue{name=unheard-of}"),
    ],
)
def test_the_stacks_are_an_inventory(
    kafka: Inventory, service: str, operation: str, parameters: dict[str, Any], address: str
) -> None:
    """Resources in the state, with `count`, only in the code, and undeclared."""
    effects = EffectResolver(kafka).effects(Call(service=service, operation=operation, parameters=parameters))
    assert {effect.address for effect in effects} == {address}
