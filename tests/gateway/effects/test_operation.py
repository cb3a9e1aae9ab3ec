"""A row of a table is a value with safe defaults."""

from collections.abc import Callable
from typing import Any

import pytest

from gateway.core.model.mutation import EffectAction
from gateway.effects.operation import Operation, account_for, any_value, as_recorded, controls, only
from gateway.effects.values import NotUnderstood


def test_a_row_is_a_set_and_not_an_upsert_by_default() -> None:
    row = Operation(resource_type="aws_sqs_queue")
    assert (row.action, row.upserts, row.handler, row.controls) == (EffectAction.SET, False, None, frozenset())


def test_controls_are_a_set() -> None:
    assert controls("DryRun", "DryRun") == {"DryRun"}


FORCED = {"aws_sqs_queue.q": {"name": "q", "force": True}}


def test_each_argument_says_what_it_takes(context: Callable[..., Any]) -> None:
    call = context({"A": 1}, FORCED)
    target = call.target("aws_sqs_queue", {"name": "q"})
    assert any_value(call, target, (1, b"x")) == [1, "eA=="]
    assert only(False, 0)(call, target, False) is False
    assert as_recorded("force")(call, target, True) is True
    assert as_recorded("other")(call, target, False) is False
    for argument in (only(False), as_recorded("other"), as_recorded("other", "harmless")):
        with pytest.raises(NotUnderstood):
            argument(call, target, True)


def test_nothing_is_left_unaccounted(context: Callable[..., Any]) -> None:
    call = context({"Name": "q", "Force": True, "Absent": None})
    target = call.target("aws_sqs_queue", {"name": "q"})
    names = (frozenset({"Name"}),)
    assert account_for({"Force": any_value}, names, call, target) == {"Force": True}
    assert account_for({}, (*names, frozenset({"Force"})), call, target) is None
    with pytest.raises(NotUnderstood, match="Force"):
        account_for({}, names, call, target)
