"""What the parameters of a DELETE or INVOKE are accounted for by."""

from collections.abc import Callable
from typing import Any

import pytest

from gateway.effects.arguments import account_for, as_recorded, carried, only
from gateway.effects.values import NotUnderstood

FORCED = {"aws_sqs_queue.q": {"name": "q", "force": True}}


def test_each_argument_says_what_it_takes(context: Callable[..., Any]) -> None:
    call = context({"A": 1}, FORCED)
    target = call.target("aws_sqs_queue", {"name": "q"})
    assert carried(call, target, (1, b"x")) == [1, "eA=="]
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
    assert account_for({"Force": carried}, names, call, target) == {"Force": True}
    assert account_for({}, (*names, frozenset({"Force"})), call, target) is None
    with pytest.raises(NotUnderstood, match="Force"):
        account_for({}, names, call, target)
