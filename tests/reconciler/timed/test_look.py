"""The live values decide whether a change is still what was set."""

from datetime import UTC, datetime
from typing import Any

import pytest

from gateway.model.json import Json
from gateway.model.time_box import TimeBoxPart, TimeBoxState
from gateway.time_box_ports import DueChange
from reconciler.terraform.refreshed import Refreshed
from reconciler.timed.look import LeftPart, address_in_stack, changed_outside, left_to_others, not_read

NOW = datetime(2026, 3, 1, tzinfo=UTC)
GROUP = "aws_autoscaling_group.web"


def part(**given: Any) -> TimeBoxPart:
    """A part whose end has come."""
    usual: dict[str, Any] = {
        "mutation_id": "mut_1",
        "address": GROUP,
        "attribute": "desired_capacity",
        "value": 7,
        "base": 4,
        "root": "mut_1",
        "actor": "agent",
        "stack": "shop",
        "since": NOW,
        "until": NOW,
    }
    return TimeBoxPart(**{**usual, **given})


def _live(value: Json) -> Refreshed:
    return Refreshed(read=frozenset({GROUP}), objects={GROUP: {"desired_capacity": value}})


@pytest.mark.parametrize(("value", "ours"), [(7, True), ("7", True), (4, True), (9, False), (None, False)])
def test_only_what_was_set_or_was_there_before_is_ours(value: Json, ours: bool) -> None:
    left = changed_outside([part()], _live(value))
    assert [each.state for each in left] == ([] if ours else [TimeBoxState.CHANGED_OUTSIDE])


def test_what_is_gone_was_changed_outside() -> None:
    assert changed_outside([part()], Refreshed(read=frozenset({GROUP}), objects={}))


def test_what_was_not_read_is_named() -> None:
    assert not_read([part(), part(address="aws_x.y")], _live(7)) == ["aws_x.y"]


def test_an_address_that_several_stacks_have_is_read_in_its_own() -> None:
    named = part(address=f"shop:{GROUP}")
    assert address_in_stack(named) == address_in_stack(part()) == GROUP
    assert not_read([named], _live(7)) == []
    assert changed_outside([named], _live(7)) == []
    assert [each.address for each in changed_outside([named], _live(9))] == [f"shop:{GROUP}"]
    assert not_read([part(address=f"other:{GROUP}")], _live(7)) == [f"other:{GROUP}"]


def test_what_others_have_is_left_with_who_has_it() -> None:
    alone = ((part(), TimeBoxState.SUPERSEDED, "mut_2"),)
    [left] = left_to_others(DueChange(mutation_id="mut_1", stack="shop", until=NOW, alone=alone))
    assert (left.state, left.by) == (TimeBoxState.SUPERSEDED, "mut_2")
    assert "later change" in left.reason
    assert LeftPart.from_json(left.to_json()) == left
