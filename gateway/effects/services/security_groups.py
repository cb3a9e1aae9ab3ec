"""What EC2's operations on security group rules do.

A rule belongs to the resource that the state has for it: to the group's own `ingress` or `egress`, or, where rules of this group are
resources of their own, to one of those. An inline effect carries the whole list that results, in the provider's shape, computed from
the recorded list; where the state does not know the group (it was made a moment ago) it carries the rules of the call alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gateway.effects.context import CallContext, Target
from gateway.effects.operation import Operation
from gateway.effects.tags import specified_tags
from gateway.effects.translators import recorded_list
from gateway.effects.values import NotUnderstood
from gateway.model.json import Json
from gateway.model.mutation import Effect, EffectAction

GROUP = "aws_security_group"
OLD_RULE = "aws_security_group_rule"
NEW_RULES = {"ingress": "aws_vpc_security_group_ingress_rule", "egress": "aws_vpc_security_group_egress_rule"}
_PROTOCOLS = {"1": "icmp", "6": "tcp", "17": "udp", "58": "icmpv6", "all": "-1"}
_FLAT = ("CidrIp", "FromPort", "IpProtocol", "ToPort")
_SOURCES = {
    "IpRanges": ("CidrIp", "cidr_blocks"),
    "Ipv6Ranges": ("CidrIpv6", "ipv6_cidr_blocks"),
    "PrefixListIds": ("PrefixListId", "prefix_list_ids"),
    "UserIdGroupPairs": ("GroupId", "security_groups"),
}
_NEW_SOURCE = {
    "cidr_blocks": "cidr_ipv4",
    "ipv6_cidr_blocks": "cidr_ipv6",
    "prefix_list_ids": "prefix_list_id",
    "security_groups": "referenced_security_group_id",
    "self": "referenced_security_group_id",
}
_LISTS = ("cidr_blocks", "ipv6_cidr_blocks", "prefix_list_ids", "security_groups")


@dataclass(frozen=True, slots=True, kw_only=True)
class Grain:
    """The smallest rule: one protocol, one range of ports, one source or destination."""

    protocol: str
    from_port: int
    to_port: int
    kind: str
    """`cidr_blocks`, `ipv6_cidr_blocks`, `prefix_list_ids`, `security_groups`, or `self`."""
    source: str
    """The range, list or group; of `self` the group itself."""
    description: str = ""

    @property
    def ports(self) -> tuple[str, int, int]:
        """Protocol and ports."""
        return self.protocol, self.from_port, self.to_port


def grains(permissions: object, group_id: str) -> tuple[Grain, ...]:
    """EC2's IpPermissions taken apart. Raises `NotUnderstood` for a member nobody knows, or a rule without any source."""
    if not isinstance(permissions, (list, tuple)):
        raise NotUnderstood("permissions that are no list")
    return tuple(grain for permission in permissions for grain in _grains(permission, group_id))


def _grains(permission: Mapping[str, object], group_id: str) -> Iterator[Grain]:
    if set(permission) - {"IpProtocol", "FromPort", "ToPort", *_SOURCES}:
        raise NotUnderstood("a permission in a form nobody knows")
    protocol = _protocol(permission.get("IpProtocol"))
    ports = (0, 0) if protocol == "-1" else (_port(permission, "FromPort"), _port(permission, "ToPort"))
    given = [(member, source) for member in _SOURCES for source in _list(permission.get(member))]
    if not given:
        raise NotUnderstood("a permission for nobody")
    for member, source in given:
        kind, value, description = _source(member, source, group_id)
        yield Grain(
            protocol=protocol,
            from_port=ports[0],
            to_port=ports[1],
            kind=kind,
            source=value,
            description=description,
        )


def _list(value: object) -> Sequence[object]:
    if value is None or isinstance(value, (list, tuple)):
        return value or ()
    raise NotUnderstood("sources that are no list")


def _source(member: str, source: object, group_id: str) -> tuple[str, str, str]:
    """Kind, value and description of one source."""
    key, kind = _SOURCES[member]
    known = {key, "Description", "UserId", "VpcId"} if key == "GroupId" else {key, "Description"}
    if not isinstance(source, Mapping) or not source.get(key) or set(source) - known:
        raise NotUnderstood("a source in a form nobody knows")
    value = str(source[key])
    return "self" if value == group_id else kind, value, str(source.get("Description") or "")


def _protocol(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise NotUnderstood("a permission without a protocol")
    return _PROTOCOLS.get(value.lower(), value.lower())


def _port(permission: Mapping[str, object], name: str) -> int:
    value = permission.get(name, -1)
    if isinstance(value, bool) or not isinstance(value, int):
        raise NotUnderstood("a port that is no number")
    return value


def with_grains(rules: Sequence[Json], new: Iterable[Grain]) -> list[Json]:
    """The recorded rules and these, each joined to the rule of the same protocol, ports and description where there is one."""
    result = [dict(rule) for rule in rules if isinstance(rule, Mapping)]
    for grain in new:
        home = next((rule for rule in result if _ports(rule) == grain.ports and _said(rule) == grain.description), None)
        if home is None:
            home = {
                **{key: [] for key in _LISTS},
                "description": grain.description,
                "from_port": grain.from_port,
                "protocol": grain.protocol,
                "self": False,
                "to_port": grain.to_port,
            }
            result.append(home)
        members = _members(home, grain.kind)
        home[grain.kind] = (
            True if grain.kind == "self" else [*members, *([grain.source] if grain.source not in members else [])]
        )
    return list(result)


def without_grains(rules: Sequence[Json], gone: Iterable[Grain]) -> list[Json]:
    """The recorded rules without these; a rule that has no source left is gone too. AWS does not look at the description."""
    result = [dict(rule) for rule in rules if isinstance(rule, Mapping)]
    for grain in gone:
        for rule in result:
            if _ports(rule) == grain.ports:
                left = [source for source in _members(rule, grain.kind) if source != grain.source]
                rule[grain.kind] = False if grain.kind == "self" else left
    return [rule for rule in result if rule.get("self") or any(_members(rule, kind) for kind in _LISTS)]


def _ports(rule: Mapping[str, Json]) -> tuple[str, Json, Json]:
    protocol = _protocol(str(rule.get("protocol") or "-1"))
    return (protocol, 0, 0) if protocol == "-1" else (protocol, rule.get("from_port"), rule.get("to_port"))


def _said(rule: Mapping[str, Json]) -> str:
    return str(rule.get("description") or "")


def _members(rule: Mapping[str, Json], kind: str) -> list[Json]:
    value = rule.get(kind)
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else []


def _group(context: CallContext) -> Target:
    group_id, name = context.call.parameters.get("GroupId"), context.call.parameters.get("GroupName")
    if group_id and name:
        raise NotUnderstood("a group named twice")
    if group_id:
        return context.target(GROUP, {"id": str(group_id)})
    return context.target(GROUP, {"name": str(name or "")})


def _rules_of_call(context: CallContext, group_id: str) -> tuple[Grain, ...]:
    """The rules of the call, as IpPermissions or in the older flat form."""
    flat = {name: context.call.parameters[name] for name in _FLAT if context.call.parameters.get(name) is not None}
    permissions = context.call.parameters.get("IpPermissions")
    if flat and permissions:
        raise NotUnderstood("rules in two forms at once")
    if not flat:
        return grains(permissions, group_id)
    cidr = flat.pop("CidrIp", None)
    return grains([{**flat, "IpRanges": [{"CidrIp": cidr}]}], group_id)


def _separate(context: CallContext, direction: str, group_id: str) -> str:
    """The type of rule resource that the state has for this group, empty where its rules are its own."""
    if not group_id:
        return ""
    if any(context.inventory.find(kind, "security_group_id", group_id) for kind in NEW_RULES.values()):
        return NEW_RULES[direction]
    return OLD_RULE if context.inventory.find(OLD_RULE, "security_group_id", group_id) else ""


def _authorize(direction: str) -> Operation:
    def handler(context: CallContext) -> tuple[Effect, ...]:
        context.allow_only("GroupId", "GroupName", "IpPermissions", "DryRun", "TagSpecifications", *_FLAT)
        group = _group(context)
        group_id = str(group.recorded.get("id") or context.call.parameters.get("GroupId") or "")
        new = _rules_of_call(context, group_id)
        kind = _separate(context, direction, group_id)
        if kind:
            return tuple(effect for grain in new for effect in _created(context, kind, direction, group_id, grain))
        return (group.put(direction, with_grains(recorded_list(group, direction), new)),)

    return Operation(resource_type=GROUP, other_types=(OLD_RULE, *NEW_RULES.values()), handler=handler)


def _created(context: CallContext, kind: str, direction: str, group_id: str, grain: Grain) -> Iterator[Effect]:
    """A rule resource of its own that comes to be."""
    values = _new_values(grain) if kind != OLD_RULE else _old_values(direction, grain)
    values = {"security_group_id": group_id, **values}
    identity = {key: str(value) for key, value in values.items() if key != "description" and value not in ("", None)}
    target = context.target(kind, identity)
    yield target.whole(EffectAction.CREATE)
    for attribute, value in values.items():
        yield target.put(attribute, value, action=EffectAction.CREATE)
    if kind != OLD_RULE and (tags := context.call.parameters.get("TagSpecifications")):
        for attribute, value in specified_tags("security-group-rule")(target, tags).items():
            yield target.put(attribute, value, action=EffectAction.CREATE)


def _new_values(grain: Grain) -> dict[str, Json]:
    ports: dict[str, Json] = {} if grain.protocol == "-1" else {"from_port": grain.from_port, "to_port": grain.to_port}
    said: dict[str, Json] = {"description": grain.description} if grain.description else {}
    return {"ip_protocol": grain.protocol, **ports, _NEW_SOURCE[grain.kind]: grain.source, **said}


def _old_values(direction: str, grain: Grain) -> dict[str, Json]:
    source: Json = (
        [grain.source] if grain.kind in ("cidr_blocks", "ipv6_cidr_blocks", "prefix_list_ids") else grain.source
    )
    attribute = {"security_groups": "source_security_group_id"}.get(grain.kind, grain.kind)
    said: dict[str, Json] = {"description": grain.description} if grain.description else {}
    return {
        "type": direction,
        "protocol": grain.protocol,
        "from_port": grain.from_port,
        "to_port": grain.to_port,
        attribute: True if grain.kind == "self" else source,
        **said,
    }


def _revoke(direction: str) -> Operation:
    def handler(context: CallContext) -> tuple[Effect, ...]:
        context.allow_only("GroupId", "GroupName", "IpPermissions", "DryRun", "SecurityGroupRuleIds", *_FLAT)
        group = _group(context)
        group_id = str(group.recorded.get("id") or context.call.parameters.get("GroupId") or "")
        ids = context.call.parameters.get("SecurityGroupRuleIds") or []
        effects = [rule_by_id(context, str(rule)).whole(EffectAction.DELETE) for rule in ids]  # type: ignore[attr-defined]  # a list in botocore's model
        if ids and not context.call.parameters.get("IpPermissions"):
            return tuple(effects)
        gone = _rules_of_call(context, group_id)
        if _separate(context, direction, group_id):
            return (*effects, *(_revoked(context, direction, group_id, grain) for grain in gone))
        return (*effects, group.put(direction, without_grains(recorded_list(group, direction), gone)))

    return Operation(resource_type=GROUP, other_types=(OLD_RULE, *NEW_RULES.values()), handler=handler)


def _revoked(context: CallContext, direction: str, group_id: str, grain: Grain) -> Effect:
    """The rule resource that is gone; of an older one with several ranges, the ranges that are left."""
    for address in context.inventory.find(NEW_RULES[direction], "security_group_id", group_id):
        recorded = context.inventory.recorded(address) or {}
        if all(recorded.get(key) == value for key, value in _new_values(grain).items() if key != "description"):
            return context.target(NEW_RULES[direction], {"id": str(recorded.get("id"))}).whole(EffectAction.DELETE)
    for address in context.inventory.find(OLD_RULE, "security_group_id", group_id):
        recorded = context.inventory.recorded(address) or {}
        if recorded.get("type") == direction and _ports(recorded) == grain.ports and _holds(recorded, grain):
            target = context.target(OLD_RULE, {"id": str(recorded.get("id"))})
            left = [source for source in _members(recorded, grain.kind) if source != grain.source]
            return target.put(grain.kind, left) if left else target.whole(EffectAction.DELETE)
    values = {"security_group_id": group_id, **_new_values(grain)}
    identity = {key: str(value) for key, value in values.items() if key != "description"}
    return context.target(NEW_RULES[direction], identity).whole(EffectAction.DELETE)


def _holds(recorded: Mapping[str, Json], grain: Grain) -> bool:
    if grain.kind == "self":
        return recorded.get("self") is True
    if grain.kind == "security_groups":
        return recorded.get("source_security_group_id") == grain.source
    return grain.source in _members(recorded, grain.kind)


def rule_by_id(context: CallContext, rule_id: str) -> Target:
    """The rule resource with this id (`sgr-…`). Raises `NotUnderstood` where the state knows none: nobody could say what the rule is."""
    for kind in NEW_RULES.values():
        target = context.target(kind, {"id": rule_id})
        if target.declared:
            return target
    raise NotUnderstood("a rule by an id that the state does not know")


_RULE_MEMBERS = {
    "CidrIpv4": "cidr_ipv4",
    "CidrIpv6": "cidr_ipv6",
    "Description": "description",
    "FromPort": "from_port",
    "IpProtocol": "ip_protocol",
    "PrefixListId": "prefix_list_id",
    "ReferencedGroupId": "referenced_security_group_id",
    "ToPort": "to_port",
}
_RULE_SOURCES = {"CidrIpv4", "CidrIpv6", "PrefixListId", "ReferencedGroupId"}


def _modify(context: CallContext) -> tuple[Effect, ...]:
    context.allow_only("GroupId", "SecurityGroupRules", "DryRun")
    group, rules = context.text("GroupId"), context.call.parameters.get("SecurityGroupRules")
    effects: list[Effect] = []
    for rule in rules if isinstance(rules, (list, tuple)) else ():
        target, wanted = rule_by_id(context, str(rule["SecurityGroupRuleId"])), rule["SecurityGroupRule"]
        if set(wanted) - set(_RULE_MEMBERS):
            raise NotUnderstood("a rule in a form nobody knows")
        if target.recorded.get("security_group_id", group) != group:
            raise NotUnderstood("a rule of another group")
        # AWS takes the rule as a whole: whoever judges it must see the source beside the ports, also where only one of them changes.
        whole = {key: value for key, value in wanted.items() if value is not None}
        if "IpProtocol" not in whole or len(_RULE_SOURCES & set(whole)) != 1:
            raise NotUnderstood("a part of a rule")
        gone = {key for key, name in _RULE_MEMBERS.items() if key not in whole and target.recorded.get(name)}
        effects += [target.put(_RULE_MEMBERS[key], whole.get(key)) for key in (*whole, *sorted(gone))]
    return tuple(effects)


OPERATIONS: Mapping[str, Operation] = {
    "AuthorizeSecurityGroupIngress": _authorize("ingress"),
    "AuthorizeSecurityGroupEgress": _authorize("egress"),
    "RevokeSecurityGroupIngress": _revoke("ingress"),
    "RevokeSecurityGroupEgress": _revoke("egress"),
    "ModifySecurityGroupRules": Operation(resource_type=GROUP, other_types=tuple(NEW_RULES.values()), handler=_modify),
    "CreateSecurityGroup": Operation(
        resource_type=GROUP,
        identity={"GroupName": "name"},
        action=EffectAction.CREATE,
        attributes={"TagSpecifications": specified_tags("security-group")},
        controls=frozenset({"DryRun"}),
    ),
    "DeleteSecurityGroup": Operation(
        resource_type=GROUP, identity={"GroupId": "id", "GroupName": "name"}, action=EffectAction.DELETE
    ),
}
