"""Finds the other ingress rules of the security groups that a call writes, because policies judge all rules of a group together."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from gateway.core.model.facts import GroupRules, Subject
from gateway.core.model.json import Json
from gateway.core.model.mutation import EffectAction
from gateway.core.model.path import WHOLE, put_all
from gateway.terraform.address import split_stack

GROUP_ID = "security_group_id"
"""The attribute by which a rule says whose it is."""
_GROUPS = ("aws_security_group", "aws_default_security_group")
_RULES = ("aws_vpc_security_group_ingress_rule", "aws_security_group_rule")


class RecordedResources(Protocol):
    """Reads the recorded resources; `terraform.stacks.Stacks` does."""

    def find(self, resource_type: str, attribute: str, value: str) -> tuple[str, ...]:
        """The addresses of all recorded resources of this type whose attribute has this value."""
        ...

    def recorded(self, address: str) -> Mapping[str, Json] | None:
        """The attributes that the state records for the resource; None if the state does not have it."""
        ...


def groups_of(subjects: Sequence[Subject]) -> Mapping[str, str]:
    """Address → id of its group, for every group and every rule of its own whose ingress the effects write."""
    found = {subject.effect.address: _group_of(subject) for subject in subjects if _writes(subject)}
    return {address: group for address, group in found.items() if group}


def _writes(subject: Subject) -> bool:
    effect = subject.effect
    if effect.action not in (EffectAction.SET, EffectAction.CREATE):
        return False
    return effect.resource_type in _RULES or (
        effect.resource_type in _GROUPS and effect.attribute in ("ingress", WHOLE)
    )


def _group_of(subject: Subject) -> str:
    effect = subject.effect
    attribute = GROUP_ID if effect.resource_type in _RULES else "id"
    return str(subject.attributes_after.get(attribute) or effect.identity.get(attribute) or "")


def rules_beside(
    groups: Mapping[str, str], recorded: RecordedResources, applied: Mapping[str, Mapping[str, Json]]
) -> GroupRules:
    """The other rules of these groups: as the states record them, and as they were applied since then.

    `applied` holds attributes by address, of every resource that was applied with one of these groups as its `security_group_id`.
    """
    rules: dict[str, list[Mapping[str, Json]]] = {group: [] for group in groups.values()}
    for group, listed in rules.items():
        for rule in _recorded_rules(group, recorded, applied, set(groups)):
            listed.append(rule)
    for address, attributes in applied.items():
        group = str(attributes.get(GROUP_ID) or "")
        if group in rules and address not in groups and _is_rule(address) and recorded.recorded(address) is None:
            rules[group].append(attributes)
    ingress = {group: tuple(rule for rule in listed if rule.get("type") != "egress") for group, listed in rules.items()}
    return GroupRules(groups=groups, rules=ingress)


def _recorded_rules(
    group: str, recorded: RecordedResources, applied: Mapping[str, Mapping[str, Json]], written: set[str]
) -> Iterator[Mapping[str, Json]]:
    for resource_type in _RULES:
        for address in recorded.find(resource_type, GROUP_ID, group):
            if address not in written:
                yield put_all(recorded.recorded(address) or {}, tuple(applied.get(address, {}).items()))
    # A group's state lists all of its rules when it is refreshed, no matter who declares them.
    for resource_type in _GROUPS:
        for address in recorded.find(resource_type, "id", group):
            inline = (recorded.recorded(address) or {}).get("ingress")
            if address not in written and isinstance(inline, Sequence) and not isinstance(inline, str):
                yield from (rule for rule in inline if isinstance(rule, Mapping))


def _is_rule(address: str) -> bool:
    """Whether the address, in a module or undeclared (`type{…}`), is one of an ingress rule."""
    return any(resource_type in split_stack(address)[1].partition("{")[0].split(".") for resource_type in _RULES)
