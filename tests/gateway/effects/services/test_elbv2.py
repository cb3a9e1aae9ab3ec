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


def test_a_declared_attachment_is_deleted_and_the_group_only_implied(effects_of: Callable[..., Any]) -> None:
    group = "arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/g/1"
    declared = {
        "aws_lb_target_group.g": {"arn": group},
        "aws_lb_target_group_attachment.a": {"target_group_arn": group, "target_id": "i-1", "port": "80"},
    }
    call = {"TargetGroupArn": group, "Targets": [{"Id": "i-1", "Port": 80}]}
    own, whole = effects_of("elbv2", "DeregisterTargets", call, declared)
    assert (own.address, own.action.value) == ("aws_lb_target_group_attachment.a", "delete")
    assert (whole.address, whole.action.value, whole.implied) == ("aws_lb_target_group.g", "invoke", True)
    (other,) = effects_of("elbv2", "DeregisterTargets", {**call, "Targets": [{"Id": "i-2"}]}, declared)
    assert (other.address, other.implied) == ("aws_lb_target_group.g", False)
