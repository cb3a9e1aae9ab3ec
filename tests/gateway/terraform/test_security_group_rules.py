"""The rules of a group are all that the states record and all that was applied since, but for those that the call writes."""

from collections.abc import Mapping
from typing import Any

import pytest

from gateway.core.model.facts import Subject
from gateway.core.model.json import Json
from gateway.core.model.mutation import Effect, EffectAction
from gateway.core.model.path import WHOLE
from gateway.terraform.security_group_rules import groups_of, rules_beside
from tests.kit import nouns
from tests.kit.growth import assert_linear

RULE = "aws_vpc_security_group_ingress_rule"
INLINE: dict[str, Json] = {"cidr_blocks": ["10.0.0.0/8"], "from_port": 22, "to_port": 22, "protocol": "tcp"}


class States:
    """Resources by address."""

    def __init__(self, resources: Mapping[str, Mapping[str, Json]]) -> None:
        self._resources = resources

    def find(self, resource_type: str, attribute: str, value: str) -> tuple[str, ...]:
        return tuple(
            address
            for address, attributes in self._resources.items()
            if address.startswith(f"{resource_type}.") and attributes.get(attribute) == value
        )

    def recorded(self, address: str) -> Mapping[str, Json] | None:
        return self._resources.get(address)


def _rule(cidr: str, group: str = "sg-1", **more: Json) -> dict[str, Json]:
    return {"security_group_id": group, "cidr_ipv4": cidr, **more}


STATES = States({
    "aws_security_group.g": {"id": "sg-1", "ingress": [INLINE]},
    f"{RULE}.a": _rule("11.0.0.0/8"),
    f"{RULE}.b": _rule("12.0.0.0/8"),
    f"{RULE}.other": _rule("13.0.0.0/8", "sg-2"),
    "aws_security_group_rule.out": _rule("14.0.0.0/8", type="egress"),
})  # fmt: skip


def _subject(address: str, after: Mapping[str, Json], attribute: str = WHOLE, **more: Any) -> Subject:
    resource_type = next(part for part in address.partition("{")[0].split(".") if part.startswith("aws_"))
    given = {"action": EffectAction.CREATE, "resource_type": resource_type, **more}
    effect = Effect(address=address, attribute=attribute, **given)
    return nouns.subject(effect, attributes_after=after)


@pytest.mark.parametrize(
    ("subject", "group"),
    [
        (_subject(f"{RULE}.new", _rule("1.0.0.0/8")), "sg-1"),
        (_subject(f"module.m.{RULE}.new", {}, identity={"security_group_id": "sg-3"}), "sg-3"),
        (_subject("aws_security_group.g", {"id": "sg-1"}, "ingress"), "sg-1"),
        (_subject("aws_security_group{id=sg-4}", {}, "ingress", identity={"id": "sg-4"}), "sg-4"),
        (_subject("aws_security_group.g", {"id": "sg-1"}, "description"), None),
        (_subject(f"{RULE}.gone", _rule("1.0.0.0/8"), action=EffectAction.DELETE), None),
        (_subject("aws_vpc_security_group_egress_rule.new", _rule("1.0.0.0/8")), None),
        (_subject(f"{RULE}.nameless", {}), None),
    ],
)
def test_the_group_of_what_writes_ingress(subject: Subject, group: str | None) -> None:
    assert groups_of([subject]) == ({subject.effect.address: group} if group else {})


def test_the_rules_of_a_group_are_those_recorded_and_those_applied_since() -> None:
    applied: dict[str, dict[str, Json]] = {
        f"{RULE}.b": _rule("99.0.0.0/8"),
        f"{RULE}{{security_group_id=sg-1}}": _rule("15.0.0.0/8"),
        f"module.m.{RULE}.new": _rule("16.0.0.0/8"),
        "aws_vpc_security_group_egress_rule.out": _rule("17.0.0.0/8"),
        "aws_security_group_rule{type=egress}": _rule("18.0.0.0/8", type="egress"),
        f"{RULE}.elsewhere": _rule("19.0.0.0/8", "sg-2"),
    }
    found = rules_beside({f"{RULE}.a": "sg-1"}, STATES, applied)
    assert found.groups == {f"{RULE}.a": "sg-1"}
    cidrs = [rule.get("cidr_ipv4", rule.get("cidr_blocks")) for rule in found.rules["sg-1"]]
    assert cidrs == ["99.0.0.0/8", ["10.0.0.0/8"], "15.0.0.0/8", "16.0.0.0/8"]


def test_what_the_call_writes_is_not_beside_it() -> None:
    written = {"aws_security_group.g": "sg-1", f"{RULE}.a": "sg-1", f"{RULE}.b": "sg-1", f"{RULE}{{x}}": "sg-1"}
    assert rules_beside(written, STATES, {f"{RULE}{{x}}": _rule("15.0.0.0/8")}).rules == {"sg-1": ()}


def test_the_cost_is_linear_in_the_applied_rules() -> None:
    def make(count: int) -> Any:
        applied = {f"{RULE}{{n={number}}}": _rule(f"{number}.0.0.0/8") for number in range(count)}
        groups = {f"{RULE}.new{number}": "sg-1" for number in range(count)}
        return lambda: rules_beside(groups, STATES, applied)

    assert_linear(make, 60)
