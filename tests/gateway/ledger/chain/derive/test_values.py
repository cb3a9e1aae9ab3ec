"""The last applied value of each attribute, until the resource is deleted, the value is only known to AWS, or the code declares it."""

from typing import Any

import pytest

from gateway.core.records.record import Stage
from gateway.ledger.chain.derive.values import ExpectedValues
from gateway.ledger.store.statements import Session


@pytest.fixture
def part(session: Session) -> ExpectedValues:
    return ExpectedValues(session)


def apply(feed: Any, part: ExpectedValues, name: str, *effects: tuple[str, str, str], outcome: str = "applied") -> None:
    listed = [
        {"action": action, "address": address, "attribute": where, "value": name} for action, address, where in effects
    ]
    feed(part, Stage.DECIDED, name, decision={"carried_out": True}, effects=listed)
    feed(part, Stage.SETTLED, name, outcome=outcome)


def values(part: ExpectedValues) -> dict[str, str]:
    return {".".join(key): row["value"] for key, row in part.table.rows.items()}


def test_the_last_value_counts(part: ExpectedValues, feed: Any) -> None:
    apply(feed, part, "m1", ("set", "a", "x"), ("create", "a", "y"), ("create", "a", "*"))
    apply(feed, part, "m2", ("set", "a", "x"))
    apply(feed, part, "m3", ("set", "a", "y"), outcome="failed")
    apply(feed, part, "m4", ("set", "a", "z"), outcome="in_doubt")
    assert values(part) == {"a.x": '"m2"', "a.y": '"m1"'}


@pytest.mark.parametrize("effect", [("delete", "a", "*"), ("create", "a", "*")])
def test_a_resource_that_is_deleted_or_made_loses_its_values(
    part: ExpectedValues, feed: Any, effect: tuple[str, str, str]
) -> None:
    apply(feed, part, "m1", ("set", "a", "x"), ("set", "a", "y"), ("set", "b", "x"))
    apply(feed, part, "m2", effect)
    assert values(part) == {"b.x": '"m1"'}


def test_an_invocation_leaves_no_known_value(part: ExpectedValues, feed: Any) -> None:
    apply(feed, part, "m1", ("set", "a", "x"), ("set", "a", "y"))
    apply(feed, part, "m2", ("invoke", "a", "x"), ("invoke", "a", "*"))
    assert values(part) == {"a.y": '"m1"'}


@pytest.mark.parametrize(("merged", "left"), [(True, {}), (False, {"a.x": '"m1"'}), (None, {"a.x": '"m1"'})])
def test_what_was_merged_is_known_from_the_code(
    part: ExpectedValues, feed: Any, merged: object, left: dict[str, str]
) -> None:
    apply(feed, part, "m1", ("set", "a", "x"))
    feed(part, Stage.RECONCILED, "m1", merged=merged)
    assert values(part) == left


def test_memory_holds_one_value_for_each_attribute(part: ExpectedValues, feed: Any) -> None:
    for number in range(500):
        apply(feed, part, f"m{number}", ("set", "a", "x"))
    assert len(part.table.rows) == len(part._attributes) == len(part._of_mutation) == 1
    assert not part._effects
