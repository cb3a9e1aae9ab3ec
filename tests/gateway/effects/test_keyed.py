"""Attributes in maps and in lists of key and value."""

from collections.abc import Callable
from typing import Any

import pytest

from gateway.effects.translators import keyed, keyed_value
from gateway.effects.values import NotUnderstood

NAMES = {"VisibilityTimeout": "visibility_timeout_seconds"}


@pytest.fixture
def target(context: Callable[..., Any]) -> Any:
    return context().target("aws_sqs_queue", {"name": "q"})


@pytest.mark.parametrize(
    "form",
    [
        {"VisibilityTimeout": "60", "FifoQueue": "true"},
        [{"Key": "VisibilityTimeout", "Value": "60"}, {"Key": "FifoQueue", "Value": "true"}],
    ],
)
def test_keys_become_attributes_in_their_kind(target: Any, form: Any) -> None:
    assert keyed(NAMES)(target, form) == {"visibility_timeout_seconds": 60, "fifo_queue": True}


@pytest.mark.parametrize(
    "form", [{"Unheard": "1"}, {"VisibilityTimeout": "long"}, "x", [{"Key": "FifoQueue", "New": 1}], ["a"]]
)
def test_unknown_keys_and_forms_are_not_understood(target: Any, form: Any) -> None:
    with pytest.raises(NotUnderstood):
        keyed(NAMES)(target, form)


def test_one_pair(target: Any) -> None:
    assert keyed_value(target, NAMES, "DelaySeconds", "5") == ("delay_seconds", 5)
