"""The sources of signals in the settings: what each form needs, and what is said about evidence."""

from typing import Any

import pytest
from pydantic import ValidationError

from gateway.core.model.motive import Motivation
from gateway.core.settings.signals import (
    ConcernSettings,
    SignalForm,
    SignalSourceSettings,
    check_stacks,
    distinct,
    evidence_rule,
    topic_region,
)

TOPIC = "arn:aws:sns:eu-west-1:123456789012:alarms"
SECRET = {"secret": "0123456789abcdef"}


@pytest.mark.parametrize(
    ("form", "more", "says"),
    [
        ("alertmanager", {}, "Set one of"),
        ("alertmanager", {"secret": "short"}, "at least 16"),
        ("alertmanager", {**SECRET, "secret_env": "X"}, "Set one of"),
        ("sns", {}, "topics"),
        ("sns", {"topics": ["arn:aws:sqs:eu-west-1:123456789012:alarms"]}, "topics"),
        ("osv", {}, "path"),
        ("calendar", {}, "path"),
        ("other", SECRET, "alertmanager"),
        ("datadog", {**SECRET, "concerns": [{"addresses": ["a"]}]}, "stack"),
        ("datadog", {**SECRET, "name": "A b"}, "name"),
    ],
)
def test_what_is_missing_is_named(form: str, more: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        SignalSourceSettings.model_validate({"name": "s", "form": form, **more})


def test_each_form_proves_what_it_is_about() -> None:
    def motivations(form: str, **more: Any) -> set[Motivation]:
        return set(SignalSourceSettings.model_validate({"name": "s", "form": form, **more}).motivations)

    assert motivations("pagerduty", **SECRET) == {Motivation.INCIDENT}
    assert motivations("sns", topics=[TOPIC]) == {Motivation.INCIDENT}
    assert motivations("osv", path="x") == {Motivation.VULNERABILITY}
    assert motivations("calendar", path="x") == {Motivation.LAUNCH, Motivation.SCHEDULE}
    assert motivations("tickets", path="x", proves=["budget"]) == {Motivation.BUDGET}


def test_two_sources_have_two_names() -> None:
    one = SignalSourceSettings(name="s", form=SignalForm.DATADOG, secret_env="X")
    assert distinct([one]) == [one]
    with pytest.raises(ValueError, match="same name"):
        distinct([one, one])


def test_a_stack_that_does_not_exist_is_a_mistake() -> None:
    rules = tuple(ConcernSettings(stack=stack) for stack in ("*", "{stack}", "shop"))
    one = SignalSourceSettings(name="s", form=SignalForm.DATADOG, secret_env="X", concerns=rules)
    check_stacks([one], ["shop"])
    with pytest.raises(ValueError, match="There is no stack 'shop'"):
        check_stacks([one], ["shops"])


def test_the_rule_for_evidence_is_said() -> None:
    assert "Evidence is not checked" in evidence_rule([])
    one = SignalSourceSettings(name="pager", form=SignalForm.DATADOG, secret_env="X")
    assert "checked for incident" in evidence_rule([one])
    assert "pager" in evidence_rule([one])


def test_a_topic_names_its_region() -> None:
    assert (topic_region(TOPIC), topic_region("x")) == ("eu-west-1", "")
