"""The operations of EC2 on security groups and their rules.

If the state records rules of the group as separate resources, an effect is on such a resource. Otherwise it is on the group's inline
`ingress` or `egress`: it carries the whole resulting list in the provider's form, computed from the recorded list. For a group that the
state does not have yet, it carries only the rules of the call.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from gateway.core.errors import Ambiguous
from gateway.core.model.json import Json
from gateway.core.model.mutation import Effect
from gateway.effects.call_context import CallContext, Target
from gateway.effects.operation import CREATE, DELETE, Operation
from gateway.effects.services.inline_rules import SingleRule, ports_of, protocol_of, with_rules, without_rules
from gateway.effects.tags import specified_tags
from gateway.effects.translators import as_list, recorded_list
from gateway.effects.values import NotUnderstood

GROUP = "aws_security_group"
LEGACY_RULE = "aws_security_group_rule"
RULE_BY_DIRECTION = {"ingress": "aws_vpc_security_group_ingress_rule", "egress": "aws_vpc_security_group_egress_rule"}
_FLAT = ("CidrIp", "FromPort", "IpProtocol", "ToPort")
_SOURCES = {
    "IpRanges": ("CidrIp", "cidr_blocks"),
    "Ipv6Ranges": ("CidrIpv6", "ipv6_cidr_blocks"),
    "PrefixListIds": ("PrefixListId", "prefix_list_ids"),
    "UserIdGroupPairs": ("GroupId", "security_groups"),
}
_SOURCE_ATTRIBUTE = {
    "cidr_blocks": "cidr_ipv4",
    "ipv6_cidr_blocks": "cidr_ipv6",
    "prefix_list_ids": "prefix_list_id",
    "security_groups": "referenced_security_group_id",
    "self": "referenced_security_group_id",
}


def single_rules(permissions: object, group_id: str, account: str) -> tuple[SingleRule, ...]:
    """EC2's IpPermissions as single rules; `account` is where the call goes, empty if nobody knows.

    Raises `NotUnderstood` for an unknown member, or a permission without a source.
    """
    if not isinstance(permissions, (list, tuple)):
        raise NotUnderstood("permissions that are not a list")
    return tuple(rule for permission in permissions for rule in _single_rules(permission, group_id, account))


def _single_rules(permission: Mapping[str, object], group_id: str, account: str) -> Iterator[SingleRule]:
    if set(permission) - {"IpProtocol", "FromPort", "ToPort", *_SOURCES}:
        raise NotUnderstood("a permission in an unknown form")
    protocol = protocol_of(permission.get("IpProtocol"))
    ports = (0, 0) if protocol == "-1" else (_port(permission, "FromPort"), _port(permission, "ToPort"))
    given = [(member, source) for member in _SOURCES for source in _sources(permission.get(member))]
    if not given:
        raise NotUnderstood("a permission without a source")
    for member, source in given:
        kind, value, description = _source(member, source, group_id, account)
        yield SingleRule(
            protocol=protocol, from_port=ports[0], to_port=ports[1], kind=kind, source=value, description=description
        )


def _sources(value: object) -> Sequence[object]:
    if value is None or isinstance(value, (list, tuple)):
        return value or ()
    raise NotUnderstood("sources that are not a list")


def _source(member: str, source: object, group_id: str, account: str) -> tuple[str, str, str]:
    """Kind, value and description of one source. Another account's group is `account/sg-…`, as the provider writes it."""
    key, kind = _SOURCES[member]
    allowed = {key, "Description", "UserId", "VpcId"} if key == "GroupId" else {key, "Description"}
    if not isinstance(source, Mapping) or not source.get(key) or set(source) - allowed:
        raise NotUnderstood("a source in an unknown form")
    value, owner = str(source[key]), str(source.get("UserId") or "")
    if owner and not account:
        raise NotUnderstood("the group of an account, where nobody knows which one is ours")
    if owner not in ("", account):
        kind, value = "security_groups", f"{owner}/{value}"
    return "self" if value == group_id else kind, value, str(source.get("Description") or "")


def _port(permission: Mapping[str, object], name: str) -> int:
    value = permission.get(name, -1)
    if isinstance(value, bool) or not isinstance(value, int):
        raise NotUnderstood("a port that is not a number")
    return value


def _group(context: CallContext) -> Target:
    group_id, name = context.call.parameters.get("GroupId"), context.call.parameters.get("GroupName")
    if group_id and name:
        raise NotUnderstood("a group by both id and name")
    target = context.target(GROUP, {"id": str(group_id)}) if group_id else _of_default_vpc(context, str(name or ""))
    if target.declared:
        return target
    # Of a group that nothing declares, Sentinel knows only the values that it applied itself.
    return replace(target, recorded=context.inventory.recorded(target.address) or {})


def _of_default_vpc(context: CallContext, name: str) -> Target:
    """The group with this name in the default VPC: a name alone means none of another VPC (EC2 API reference, DeleteSecurityGroup).

    Raises `NotUnderstood` if no code declares the default VPC, and for a group of it that no state records.
    """

    def is_in_it(group: Mapping[str, Json]) -> bool:
        return bool(context.inventory.find("aws_default_vpc", "id", str(group.get("vpc_id") or "-")))

    target = context.target_where(GROUP, {"name": name}, "name", is_in_it)
    if not target.recorded:
        raise NotUnderstood(
            "a security group's name means the one in the default VPC, and no code declares such a group; name it by its GroupId"
        )
    return target


def _created(context: CallContext) -> Target:
    """The group that is created: a name is unique in its VPC only. Without one in the call it is in the default VPC, beside any recorded one."""
    name, vpc = context.text("GroupName"), context.call.parameters.get("VpcId")
    if vpc:
        return context.target(GROUP, {"name": name, "vpc_id": str(vpc)})
    target = context.target(GROUP, {"name": name})
    return context.beside(target) if target.recorded else target


def _rules_of_call(context: CallContext, group_id: str) -> tuple[SingleRule, ...]:
    """The rules of the call, from IpPermissions or from the legacy flat parameters."""
    flat = {name: context.call.parameters[name] for name in _FLAT if context.call.parameters.get(name) is not None}
    permissions = context.call.parameters.get("IpPermissions")
    if flat and permissions:
        raise NotUnderstood("both IpPermissions and flat parameters")
    if not flat:
        return single_rules(permissions, group_id, context.account)
    cidr = flat.pop("CidrIp", None)
    return single_rules([{**flat, "IpRanges": [{"CidrIp": cidr}]}], group_id, context.account)


def _rule_resource_type(context: CallContext, direction: str, group_id: str) -> str:
    """The resource type that this group's rules have in the state, or else in the code; empty if they are inline."""
    if not group_id:
        return ""
    for has_rules in (_has_recorded_rules, _has_declared_rules):
        if any(has_rules(context, kind, group_id) for kind in RULE_BY_DIRECTION.values()):
            return RULE_BY_DIRECTION[direction]
        if has_rules(context, LEGACY_RULE, group_id):
            return LEGACY_RULE
    return ""


def _has_recorded_rules(context: CallContext, kind: str, group_id: str) -> bool:
    return bool(context.inventory.find(kind, "security_group_id", group_id))


def _has_declared_rules(context: CallContext, kind: str, group_id: str) -> bool:
    try:
        return context.target(kind, {"security_group_id": group_id}).declared
    except Ambiguous:
        return True


def _authorize(direction: str) -> Operation:
    def handler(context: CallContext) -> tuple[Effect, ...]:
        context.allow_only("GroupId", "GroupName", "IpPermissions", "DryRun", "TagSpecifications", *_FLAT)
        group = _group(context)
        group_id = str(group.recorded.get("id") or context.call.parameters.get("GroupId") or "")
        rules = _rules_of_call(context, group_id)
        resource_type = _rule_resource_type(context, direction, group_id)
        if context.call.parameters.get("TagSpecifications") and resource_type in ("", LEGACY_RULE):
            if resource_type or recorded_list(group, direction):
                raise NotUnderstood("tags of a rule that the code declares in a form without tags")
            resource_type = RULE_BY_DIRECTION[direction]  # the only form with tags, so this is its first rule
        if resource_type:
            return tuple(
                effect for rule in rules for effect in _create_rule(context, resource_type, direction, group_id, rule)
            )
        whole = group.put(direction, with_rules(recorded_list(group, direction), rules))
        return (replace(whole, unrecorded=_unrecorded(context, rules)),)

    return Operation(resource_type=GROUP, other_types=(LEGACY_RULE, *RULE_BY_DIRECTION.values()), handler=handler)


def _create_rule(
    context: CallContext, resource_type: str, direction: str, group_id: str, rule: SingleRule
) -> Iterator[Effect]:
    """The effects that create a separate rule resource."""
    legacy = resource_type == LEGACY_RULE
    values = _legacy_rule_attributes(direction, rule) if legacy else _rule_attributes(rule)
    values = {"security_group_id": group_id, **values}
    identity = {key: str(value) for key, value in values.items() if key != "description" and value not in ("", None)}
    target = context.target(resource_type, identity)
    yield target.whole(CREATE)
    unrecorded = _unrecorded(context, (rule,))
    for effect in target.put_all(values, action=CREATE):
        yield replace(effect, unrecorded=unrecorded)
    if tags := context.call.parameters.get("TagSpecifications"):
        yield from target.put_all(specified_tags("security-group-rule")(target, tags), action=CREATE)


def _unrecorded(context: CallContext, rules: Iterable[SingleRule]) -> tuple[str, ...]:
    """The groups among the sources that the state does not record: nobody knows what they hold, or whose they are."""
    groups = dict.fromkeys(rule.source for rule in rules if rule.kind == "security_groups")
    return tuple(group for group in groups if not _is_recorded(context, group))


def _is_recorded(context: CallContext, group: str) -> bool:
    return any(context.inventory.find(kind, "id", group) for kind in (GROUP, "aws_default_security_group"))


def _rule_attributes(rule: SingleRule) -> dict[str, Json]:
    """The attributes of `aws_vpc_security_group_ingress_rule` or `…_egress_rule`."""
    ports: dict[str, Json] = {} if rule.protocol == "-1" else {"from_port": rule.from_port, "to_port": rule.to_port}
    description: dict[str, Json] = {"description": rule.description} if rule.description else {}
    return {"ip_protocol": rule.protocol, **ports, _SOURCE_ATTRIBUTE[rule.kind]: rule.source, **description}


def _legacy_rule_attributes(direction: str, rule: SingleRule) -> dict[str, Json]:
    """The attributes of `aws_security_group_rule`."""
    is_list = rule.kind in ("cidr_blocks", "ipv6_cidr_blocks", "prefix_list_ids")
    source: Json = [rule.source] if is_list else rule.source
    attribute = {"security_groups": "source_security_group_id"}.get(rule.kind, rule.kind)
    description: dict[str, Json] = {"description": rule.description} if rule.description else {}
    return {
        "type": direction,
        "protocol": rule.protocol,
        "from_port": rule.from_port,
        "to_port": rule.to_port,
        attribute: True if rule.kind == "self" else source,
        **description,
    }


def _revoke(direction: str) -> Operation:
    def handler(context: CallContext) -> tuple[Effect, ...]:
        context.allow_only("GroupId", "GroupName", "IpPermissions", "DryRun", "SecurityGroupRuleIds", *_FLAT)
        group = _group(context)
        group_id = str(group.recorded.get("id") or context.call.parameters.get("GroupId") or "")
        ids = context.call.parameters.get("SecurityGroupRuleIds") or []
        effects = [rule_by_id(context, str(rule_id)).whole(DELETE) for rule_id in ids]  # type: ignore[attr-defined]  # a list in botocore's model
        if ids and not context.call.parameters.get("IpPermissions"):
            return tuple(effects)
        rules = _rules_of_call(context, group_id)
        if _rule_resource_type(context, direction, group_id):
            return (*effects, *_RuleResources(context, direction, group_id).revoke(rules))
        return (*effects, group.put(direction, without_rules(recorded_list(group, direction), rules)))

    return Operation(resource_type=GROUP, other_types=(LEGACY_RULE, *RULE_BY_DIRECTION.values()), handler=handler)


class _RuleResources:
    """The rule resources that the state records for one group, found by what they allow."""

    def __init__(self, context: CallContext, direction: str, group_id: str) -> None:
        self._context = context
        self._group_id = group_id
        self._resource_type = RULE_BY_DIRECTION[direction]
        self._rules: dict[tuple[object, ...], str] = {}
        self._legacy: dict[tuple[object, ...], tuple[str, Mapping[str, Json]]] = {}
        for recorded in self._recorded(self._resource_type):
            for source in ("cidr_ipv4", "cidr_ipv6", "prefix_list_id", "referenced_security_group_id"):
                if recorded.get(source):
                    ports = _rule_ports(recorded)
                    self._rules.setdefault((*ports, source, recorded[source]), str(recorded.get("id")))
        for recorded in self._recorded(LEGACY_RULE):
            if recorded.get("type") == direction:
                for kind, source in _legacy_sources(recorded, group_id):
                    key = (*ports_of(recorded), kind, source)
                    self._legacy.setdefault(key, (str(recorded.get("id")), recorded))

    def _recorded(self, resource_type: str) -> Iterator[Mapping[str, Json]]:
        for address in self._context.inventory.find(resource_type, "security_group_id", self._group_id):
            yield self._context.inventory.recorded(address) or {}

    def revoke(self, rules: Iterable[SingleRule]) -> Iterator[Effect]:
        """The deletion of each rule's resource; for a legacy resource with several sources, the list without those revoked."""
        left: dict[str, tuple[Target, str, dict[str, None]]] = {}
        for rule in rules:
            attributes = _rule_attributes(rule)
            rule_id = self._rules.get((*_rule_ports(attributes), _SOURCE_ATTRIBUTE[rule.kind], rule.source))
            legacy = None if rule_id else self._legacy.get((*rule.ports, rule.kind, rule.source))
            if rule_id is not None:
                yield self._context.target(self._resource_type, {"id": rule_id}).whole(DELETE)
            elif legacy is not None:
                target = self._context.target(LEGACY_RULE, {"id": legacy[0]})
                sources = dict.fromkeys(map(str, as_list(legacy[1].get(rule.kind))))
                left.setdefault(target.address, (target, rule.kind, sources))[2].pop(rule.source, None)
            else:
                values = {"security_group_id": self._group_id, **attributes}
                identity = {name: str(value) for name, value in values.items() if name != "description"}
                yield self._context.target(self._resource_type, identity).whole(DELETE)
        for target, kind, sources in left.values():
            yield target.put(kind, list(sources)) if sources else target.whole(DELETE)


def _rule_ports(rule: Mapping[str, Json]) -> tuple[Json, Json, Json]:
    """Protocol, first port, last port of a rule resource; a rule for every protocol has no ports."""
    protocol = rule.get("ip_protocol")
    return (protocol, None, None) if protocol == "-1" else (protocol, rule.get("from_port"), rule.get("to_port"))


def _legacy_sources(recorded: Mapping[str, Json], group_id: str) -> Iterator[tuple[str, str]]:
    """Kind and value of each source of a recorded `aws_security_group_rule`."""
    if recorded.get("self") is True:
        yield "self", group_id
    if recorded.get("source_security_group_id"):
        yield "security_groups", str(recorded["source_security_group_id"])
    for kind in ("cidr_blocks", "ipv6_cidr_blocks", "prefix_list_ids"):
        yield from ((kind, str(source)) for source in as_list(recorded.get(kind)))


def rule_by_id(context: CallContext, rule_id: str) -> Target:
    """The rule resource with this id (`sgr-…`). Raises `NotUnderstood` if none is declared: the call does not say what the rule is."""
    for resource_type in RULE_BY_DIRECTION.values():
        target = context.target(resource_type, {"id": rule_id})
        if target.declared:
            return target
    raise NotUnderstood("a rule id that the state does not record")


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
    """ModifySecurityGroupRules."""
    context.allow_only("GroupId", "SecurityGroupRules", "DryRun")
    group, rules = context.text("GroupId"), context.call.parameters.get("SecurityGroupRules")
    effects: list[Effect] = []
    for rule in rules if isinstance(rules, (list, tuple)) else ():
        target, request = rule_by_id(context, str(rule["SecurityGroupRuleId"])), rule["SecurityGroupRule"]
        if set(request) - set(_RULE_MEMBERS):
            raise NotUnderstood("a rule in an unknown form")
        if target.recorded.get("security_group_id", group) != group:
            raise NotUnderstood("a rule of another group than the call")
        # AWS replaces the whole rule, and the checks need the source together with the ports even if only one of them changes.
        whole = {key: value for key, value in request.items() if value is not None}
        if "IpProtocol" not in whole or len(_RULE_SOURCES & set(whole)) != 1:
            raise NotUnderstood("an incomplete rule")
        removed = {key for key, name in _RULE_MEMBERS.items() if key not in whole and target.recorded.get(name)}
        values = {_RULE_MEMBERS[key]: whole.get(key) for key in (*whole, *sorted(removed))}
        source = str(whole.get("ReferencedGroupId") or "")
        unrecorded = (source,) if source and not _is_recorded(context, source) else ()
        effects += (replace(effect, obliged=True, unrecorded=unrecorded) for effect in target.put_all(values))
    return tuple(effects)


OPERATIONS: Mapping[str, Operation] = {
    "AuthorizeSecurityGroupIngress": _authorize("ingress"),
    "AuthorizeSecurityGroupEgress": _authorize("egress"),
    "RevokeSecurityGroupIngress": _revoke("ingress"),
    "RevokeSecurityGroupEgress": _revoke("egress"),
    "ModifySecurityGroupRules": Operation(
        resource_type=GROUP, other_types=tuple(RULE_BY_DIRECTION.values()), handler=_modify
    ),
    "CreateSecurityGroup": Operation(
        resource_type=GROUP,
        identity={"GroupName": "name", "VpcId": "vpc_id"},
        find_target=_created,
        action=CREATE,
        attributes={"TagSpecifications": specified_tags("security-group")},
        controls=frozenset({"DryRun"}),
    ),
    "DeleteSecurityGroup": Operation(
        resource_type=GROUP,
        identity={"GroupId": "id", "GroupName": "name"},
        find_target=_group,
        action=DELETE,
        controls=frozenset({"DryRun"}),
    ),
}
