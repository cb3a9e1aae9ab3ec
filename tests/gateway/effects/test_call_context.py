"""Targets are located, distinguished, and named if nothing declares them."""

from collections.abc import Callable
from typing import Any

import pytest

from gateway.core.errors import Ambiguous
from gateway.core.model.mutation import EffectAction
from gateway.effects.values import NotUnderstood

QUEUE = "aws_sqs_queue"


def test_a_target_has_the_recorded_attributes(context: Callable[..., Any]) -> None:
    target = context(resources={"aws_sqs_queue.q": {"name": "q", "delay_seconds": 3}}).target(QUEUE, {"name": "q"})
    assert (target.declared, target.recorded["delay_seconds"]) == (True, 3)


def test_an_undeclared_target_is_named_by_its_sorted_identity(context: Callable[..., Any]) -> None:
    assert context().target(QUEUE, {"name": "q", "id": "i"}).address == "aws_sqs_queue{id=i,name=q}"


def test_a_nameless_target_is_named_by_its_call(context: Callable[..., Any]) -> None:
    one, same, other = context({"A": 1}), context({"A": 1}), context({"A": 2})
    assert one.unnamed(QUEUE).address == same.unnamed(QUEUE).address != other.unnamed(QUEUE).address


@pytest.mark.parametrize("identity", [{}, {"name": ""}])
def test_no_identity_is_no_target(context: Callable[..., Any], identity: dict[str, str]) -> None:
    with pytest.raises(NotUnderstood):
        context().target(QUEUE, identity)


def test_two_resources_with_the_same_identity_are_ambiguous(context: Callable[..., Any]) -> None:
    same_name = {"aws_sqs_queue.a": {"name": "q"}, "aws_sqs_queue.b": {"name": "q"}}
    with pytest.raises(Ambiguous):
        context(resources=same_name).target(QUEUE, {"name": "q"})
    with pytest.raises(NotUnderstood):
        context(resources=same_name).target_where(QUEUE, {"name": "q"}, "name", lambda _recorded: True)


def test_target_where_takes_the_one_that_fits(context: Callable[..., Any]) -> None:
    resources = {"aws_sqs_queue.a": {"name": "q", "n": 1}, "aws_sqs_queue.b": {"name": "q", "n": 2}}
    target = context(resources=resources).target_where(
        QUEUE, {"name": "q"}, "name", lambda recorded: recorded["n"] == 2
    )
    assert target.address == "aws_sqs_queue.b"


def test_put_all_is_one_effect_per_attribute_in_order(context: Callable[..., Any]) -> None:
    effects = context().target(QUEUE, {"name": "q"}).put_all({"delay_seconds": 3, "tags.a": "b"})
    assert [(effect.attribute, effect.value) for effect in effects] == [("delay_seconds", 3), ("tags.a", "b")]
    assert {effect.action for effect in effects} == {EffectAction.SET}


@pytest.mark.parametrize("place", ["us-east-1:123456789012", "eu-west-1:999999999999"])
def test_the_same_name_in_another_region_or_account_is_another_resource(
    context: Callable[..., Any], place: str
) -> None:
    resources = {"aws_sqs_queue.q": {"name": "q", "arn": f"arn:aws:sqs:{place}:q"}}
    assert not context(resources=resources).target(QUEUE, {"name": "q"}).declared


def test_an_attribute_that_the_provider_does_not_have_is_not_understood(context: Callable[..., Any]) -> None:
    target = context().target(QUEUE, {"name": "q"})
    with pytest.raises(NotUnderstood):
        target.put("unheard_of", 1)
    assert target.put("tags.a", "b", action=EffectAction.CREATE).action is EffectAction.CREATE


def test_allow_only_names_the_unexpected_parameter_and_text_requires_text(context: Callable[..., Any]) -> None:
    call = context({"A": "x", "B": 1, "C": None})
    call.allow_only("A", "B")
    with pytest.raises(NotUnderstood, match="B"):
        call.allow_only("A")
    with pytest.raises(NotUnderstood):
        call.text("B")
    assert call.text("A") == "x"


def test_policies_judge_a_document_as_it_is(context: Callable[..., Any]) -> None:
    target = context().target(QUEUE, {"name": "q"})
    document = '{"Statement":[{"Sid":"password=hunter2"}]}'
    effect = target.put("policy", document)
    assert (effect.judged, effect.sensitive) == (document, True)
    assert "hunter2" not in effect.value
    assert "hunter2" not in repr(effect)
    assert target.put("policy", '{"Statement":[]}').judged is None
    assert target.put("tags.a", "password=hunter2").judged is None


def test_a_document_that_names_a_member_twice_is_not_understood(context: Callable[..., Any]) -> None:
    target = context().target(QUEUE, {"name": "q"})
    with pytest.raises(NotUnderstood, match="twice"):
        target.put("policy", '{"Statement":[],"Statement":[]}')
    with pytest.raises(NotUnderstood, match="twice"):
        target.put("tags", {"a": ['{"a":{"b":1,"b":2}}']})
