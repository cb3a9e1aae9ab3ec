"""Parameters take the provider's form, or are not understood."""

from collections.abc import Callable
from typing import Any

import pytest

from gateway.effects.translators import (
    added,
    as_json_text,
    comma_list,
    first_of,
    ignored_if,
    mapped,
    name_value_map,
    recorded_list,
    removed,
)
from gateway.effects.values import NotUnderstood


@pytest.fixture
def target(context: Callable[..., Any]) -> Any:
    return context(resources={"aws_sqs_queue.q": {"name": "q", "l": ["a", "b"], "t": "text"}}).target(
        "aws_sqs_queue", {"name": "q"}
    )


def test_adding_and_removing_keep_the_order(target: Any) -> None:
    assert added("l")(target, ["b", "c"]) == {"l": ["a", "b", "c"]}
    assert removed("l")(target, ["a", "x"]) == {"l": ["b"]}
    assert recorded_list(target, "t") == []


def test_other_forms(target: Any) -> None:
    assert comma_list("l")(target, "a, b,") == {"l": ["a", "b"]}
    assert name_value_map("m")(target, [{"Name": "a", "Value": "1"}]) == {"m": {"a": "1"}}
    assert first_of("c", "Arn")(target, [{"Arn": "x"}]) == {"c": "x"}
    assert first_of("c", "Arn")(target, []) == {"c": None}
    assert mapped({"ENABLED": True}, "p")(target, "ENABLED") == {"p": True}
    assert ignored_if("AWS_KMS")(target, "AWS_KMS") == {}
    assert as_json_text("j", str)(target, [1]) == {"j": "[1]"}


@pytest.mark.parametrize(
    ("translate", "value"),
    [
        (added("l"), "a"),
        (removed("l"), {"a": 1}),
        (name_value_map("m"), [{"Name": "a"}]),
        (name_value_map("m"), ["a"]),
        (first_of("c", "Arn"), [{"Arn": "x"}, {"Arn": "y"}]),
        (first_of("c", "Arn"), [{"Arn": "x", "More": 1}]),
        (mapped({"ENABLED": True}, "p"), "MAYBE"),
        (mapped({"ENABLED": True}, "p"), []),
        (ignored_if("AWS_KMS"), "EXTERNAL"),
    ],
)
def test_unknown_values_are_not_understood(target: Any, translate: Any, value: object) -> None:
    with pytest.raises(NotUnderstood):
        translate(target, value)
