"""Load balancers."""

from collections.abc import Callable
from typing import Any

LB = "arn:aws:elasticloadbalancing:eu-west-1:123456789012:loadbalancer/app/l/1"
RESOURCES = {"aws_lb.l": {"name": "l", "arn": LB}}


def test_attributes_by_key(effects_of: Callable[..., Any], values: Callable[..., Any]) -> None:
    pairs = [{"Key": "deletion_protection.enabled", "Value": "false"}, {"Key": "access_logs.s3.bucket", "Value": "b"}]
    effects = effects_of(
        "elbv2", "ModifyLoadBalancerAttributes", {"LoadBalancerArn": LB, "Attributes": pairs}, RESOURCES
    )
    assert values(effects) == {"enable_deletion_protection": False, "access_logs.bucket": "b"}


def test_an_unknown_key_is_not_understood(effects_of: Callable[..., Any]) -> None:
    pairs = [{"Key": "unheard.of", "Value": "x"}]
    assert (
        effects_of("elbv2", "ModifyLoadBalancerAttributes", {"LoadBalancerArn": LB, "Attributes": pairs}, RESOURCES)
        == ()
    )


def test_the_arn_says_which_kind_of_resource_is_tagged(effects_of: Callable[..., Any]) -> None:
    trust = LB.replace("loadbalancer/app/l/1", "truststore/t/1")
    tags = [{"Key": "a", "Value": "b"}]
    (effect,) = effects_of("elbv2", "AddTags", {"ResourceArns": [LB], "Tags": tags}, RESOURCES)
    assert (effect.address, effect.attribute) == ("aws_lb.l", "tags.a")
    assert effects_of("elbv2", "AddTags", {"ResourceArns": [LB, trust], "Tags": tags}, RESOURCES) == ()
