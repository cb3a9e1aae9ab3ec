"""What a plan does to declared resources that it does not change, by what it makes beside them: a rule of a security group, a schedule of a group.

AWS knows no such part: the call changes the resource itself, whose contract and claims hold for it. Guardrails judge the value where the plan has
it, so that nobody is asked twice about one.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from gateway.core.model.json import Json
from gateway.core.model.mutation import Call, Effect, EffectAction
from gateway.core.model.path import AttributePath
from gateway.core.model.plan import Plan, PlannedAction, PlannedChange
from gateway.effects.resolver import EffectResolver
from gateway.terraform.stack import Stack

Request = tuple[str, str, dict[str, object]]
_MAKES: Final = (PlannedAction.CREATE, PlannedAction.REPLACE, PlannedAction.UPDATE)


def effects_beside(plan: Plan, stack: Stack, resolver: EffectResolver, account: str, region: str) -> tuple[Effect, ...]:
    """The effects on declared resources of what the plan makes, as far as it tells: those that the calls of its apply have beside the planned
    ones.
    """
    found: list[Effect] = []
    planned = {stack.named(change.address): change.values for change in plan.changes}
    for change in plan.changes:
        maker = _MAKERS.get(change.resource_type)
        if maker is None or change.action not in _MAKES:
            continue
        service, operation, parameters = maker(_attributes(change, stack))
        given = {name: value for name, value in parameters.items() if value not in (None, "", [])}
        call = Call(
            service=service, operation=operation, parameters=given, account=account, region=change.region or region
        )
        found += beside_of(resolver.explain(call).effects, planned)
    return tuple({(each.address, each.attribute): each for each in found}.values())


def beside_of(effects: Sequence[Effect], planned: Mapping[str, Mapping[str, Json]]) -> Iterator[Effect]:
    """Those of a call's effects that set what the plan does not, of declared resources. `planned` are the planned values by address."""
    for effect in effects:
        path = AttributePath(effect.attribute)
        known = planned.get(effect.address, {})
        if effect.declared and effect.action is EffectAction.SET and not any(path.touches(each) for each in known):
            yield replace(effect, beside=True, implied=True)  # it is written back where the plan has it


def _attributes(change: PlannedChange, stack: Stack) -> Mapping[str, Json]:
    """The attributes of the change, in place of those that are recorded."""
    return {**(stack.recorded(stack.named(change.address)) or {}), **change.values}


def _schedule(attributes: Mapping[str, Json]) -> Request:
    names = {
        "AutoScalingGroupName": "autoscaling_group_name", "ScheduledActionName": "scheduled_action_name", "MinSize": "min_size",
        "MaxSize": "max_size", "DesiredCapacity": "desired_capacity", "Recurrence": "recurrence",
    }  # fmt: skip
    # The provider writes -1 for what a schedule leaves as it is.
    given: dict[str, object] = {name: each for name, of in names.items() if (each := attributes.get(of)) != -1}
    return "autoscaling", "PutScheduledUpdateGroupAction", given


def _rule(attributes: Mapping[str, Json]) -> Request:
    """A rule of its own, which has one range of addresses."""
    ranges: dict[str, object] = {name: [{key: each}] for name, key, of in _RANGES if (each := attributes.get(of))}
    return _ingress(attributes.get("security_group_id"), attributes, attributes.get("ip_protocol"), ranges)


def _rules(attributes: Mapping[str, Json]) -> Request:
    """A rule of the older type, which has lists of them; one of egress is not looked at."""
    lists = {name: (key, attributes.get(of)) for name, key, of in _LISTS}
    ranges: dict[str, object] = {
        name: [{key: each} for each in several]
        for name, (key, several) in lists.items()
        if isinstance(several, list) and several
    }
    group = attributes.get("security_group_id") if attributes.get("type") == "ingress" else None
    return _ingress(group, attributes, attributes.get("protocol"), ranges)


def _ingress(group: Json, attributes: Mapping[str, Json], protocol: Json, ranges: dict[str, object]) -> Request:
    permission = {
        "IpProtocol": protocol,
        "FromPort": attributes.get("from_port"),
        "ToPort": attributes.get("to_port"),
        **ranges,
    }
    given = {name: each for name, each in permission.items() if each is not None}
    return "ec2", "AuthorizeSecurityGroupIngress", {"GroupId": group, "IpPermissions": [given]}


_RANGES: Final = (
    ("IpRanges", "CidrIp", "cidr_ipv4"),
    ("Ipv6Ranges", "CidrIpv6", "cidr_ipv6"),
    ("PrefixListIds", "PrefixListId", "prefix_list_id"),
    ("UserIdGroupPairs", "GroupId", "referenced_security_group_id"),
)
_LISTS: Final = (
    ("IpRanges", "CidrIp", "cidr_blocks"),
    ("Ipv6Ranges", "CidrIpv6", "ipv6_cidr_blocks"),
    ("PrefixListIds", "PrefixListId", "prefix_list_ids"),
)
_MAKERS: Final[Mapping[str, Callable[[Mapping[str, Json]], Request]]] = {
    "aws_autoscaling_schedule": _schedule,
    "aws_security_group_rule": _rules,
    "aws_vpc_security_group_ingress_rule": _rule,
}
"""Resource type → the call that makes one. What the table does not have is judged when its call is sent."""
