"""The other ends of a mutation's pairs: on the resource itself, on what depends on it, and on what it depends on."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.core.model.claim import Couplings
from gateway.core.model.mutation import Effect, EffectAction
from gateway.core.model.verdict import Mode
from gateway.core.settings import StackSettings
from gateway.terraform.address import type_of_named
from gateway.terraform.couplings import NO_PARTNERS, CouplingPartners, coupling_partners
from gateway.terraform.stacks import Stacks
from tests.kit import nouns
from tests.kit.gate import STACK

ASG = "aws_autoscaling_group.kafka_consumer"
TEMPLATE = "aws_launch_template.kafka_consumer"
SIZE = {"type": "aws_autoscaling_group", "attribute": "desired_capacity"}
KNOWN = Couplings.of(
    [
        {"one": SIZE, "other": {"type": "aws_launch_template", "attribute": "instance_type"}},
        {"one": SIZE, "other": {"type": "aws_autoscaling_group", "attribute": "max_size"}},
    ]
)


@pytest.fixture(scope="module")
def stacks() -> Stacks:
    """The case stack."""
    return Stacks.load([StackSettings(name="kafka", path=Path(STACK))], default_mode=Mode.ENFORCE)


def found(stacks: Stacks, *effects: Effect, known: Couplings = KNOWN) -> CouplingPartners:
    """What belongs together with these effects."""
    declaring = {each.address: stacks.declaring(each.address) for each in effects}
    dependants: Mapping[str, tuple[object, ...]] = {
        address: stack.dependants(address) if stack else () for address, stack in declaring.items()
    }
    return coupling_partners(effects, declaring, dependants, known)  # type: ignore[arg-type]


def effect(address: str, attribute: str, action: EffectAction = EffectAction.SET) -> Effect:
    """An effect on the case stack."""
    return nouns.effect(address, attribute, 1, action=action)


def test_a_dependant_has_the_other_end(stacks: Stacks) -> None:
    coupled = found(stacks, effect(TEMPLATE, "instance_type"))
    assert coupled == CouplingPartners(attributes=((ASG, "desired_capacity"),))


def test_what_the_resource_depends_on_has_the_other_end(stacks: Stacks) -> None:
    coupled = found(stacks, effect(ASG, "desired_capacity"))
    assert set(coupled.attributes) == {(TEMPLATE, "instance_type"), (ASG, "max_size")}
    assert coupled.dependencies == {TEMPLATE}


def test_the_resource_itself_has_the_other_end(stacks: Stacks) -> None:
    assert found(stacks, effect(ASG, "max_size")).attributes == ((ASG, "desired_capacity"),)


def test_what_changes_no_named_attribute_has_none(stacks: Stacks) -> None:
    quiet = [
        effect(ASG, "min_size"),
        effect(ASG, "*", EffectAction.DELETE),
        effect(ASG, "*", EffectAction.INVOKE),
        effect(ASG, "desired_capacity", EffectAction.CREATE),
    ]
    assert found(stacks, *quiet) is NO_PARTNERS
    assert found(stacks, effect(ASG, "desired_capacity"), known=Couplings()) is NO_PARTNERS


def test_what_no_stack_declares_has_only_itself(stacks: Stacks) -> None:
    undeclared = replace(effect(ASG, "desired_capacity"), address="aws_autoscaling_group{name=x}")
    assert found(stacks, undeclared).attributes == (("aws_autoscaling_group{name=x}", "max_size"),)


def test_the_type_of_an_address() -> None:
    assert type_of_named('module.a["x"].aws_sqs_queue.this[0]') == "aws_sqs_queue"
    assert type_of_named("aws_sqs_queue{name=x}") == "aws_sqs_queue"
