"""The id that AWS chose for what a call created, from its reply: nothing else says it, and an import needs it."""

from collections.abc import Mapping
from typing import Any, Final

_PATHS: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    ("ec2", "RunInstances"): ("Instances", "InstanceId"),
    ("ec2", "CreateSecurityGroup"): ("GroupId",),
    ("ec2", "AuthorizeSecurityGroupIngress"): ("SecurityGroupRules", "SecurityGroupRuleId"),
    ("ec2", "AuthorizeSecurityGroupEgress"): ("SecurityGroupRules", "SecurityGroupRuleId"),
    ("elbv2", "CreateLoadBalancer"): ("LoadBalancers", "LoadBalancerArn"),
    ("elbv2", "CreateTargetGroup"): ("TargetGroups", "TargetGroupArn"),
    ("elbv2", "CreateListener"): ("Listeners", "ListenerArn"),
    **{("ec2", f"Create{noun}"): (noun, f"{noun}Id") for noun in ("Vpc", "Subnet", "RouteTable", "InternetGateway")},
}
"""The members that lead to the id, by service and operation. A list counts only if it has one item."""
_LONGEST: Final = 500


def made_id(service: str, operation: str, parsed: Mapping[str, Any]) -> str:
    """The id in a reply as botocore parses it; empty if AWS chose none, or chose several."""
    value: Any = parsed
    for name in _PATHS.get((service, operation), ()):
        if isinstance(value, list):
            value = value[0] if len(value) == 1 else None
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, str) and len(value) <= _LONGEST else ""
