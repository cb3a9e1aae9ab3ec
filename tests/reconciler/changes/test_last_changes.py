"""The last change of each attribute is known, whether it was asked for or a consequence, and what it supersedes."""

from datetime import UTC, datetime
from typing import Any

import pytest

from gateway.core.model.mutation import Effect, EffectAction
from reconciler.changes.applied_mutation import AppliedMutation
from reconciler.changes.last_changes import LastChanges
from tests.kit.growth import assert_linear
from tests.kit.nouns import effect

GROUP = "aws_autoscaling_group.web"
AT = datetime(2026, 1, 2, tzinfo=UTC)


def _applied(seq: int, *effects: Effect, implied: tuple[Effect, ...] = (), **more: Any) -> AppliedMutation:
    return AppliedMutation(
        id=f"mut_{seq}",
        seq=seq,
        stack="shop",
        actor="a",
        at=AT,
        operation="x:Y",
        effects=effects,
        implied=implied,
        settled_at=AT,
        **more,
    )


def _changes(*applied: AppliedMutation) -> LastChanges:
    changes = LastChanges()
    for each in applied:
        changes.add(each)
    return changes


@pytest.mark.parametrize(
    ("later", "attribute", "superseded", "changed"),
    [
        (effect(GROUP, "size", 8), "size", True, True),
        (effect(GROUP, "size", 8), "sizes", False, False),
        (effect(GROUP, "tags", {}), "tags.owner", True, True),
        # A part of it was changed: the rest still counts.
        (effect(GROUP, "tags.owner", "x"), "tags", False, True),
        (effect(GROUP, "*", None, action=EffectAction.DELETE), "size", True, True),
        (effect(GROUP, "*", None, action=EffectAction.CREATE), "size", True, True),
        (effect(GROUP, "size", None, action=EffectAction.INVOKE), "size", False, True),
        (effect(GROUP, "*", None, action=EffectAction.INVOKE), "size", False, False),
        (effect("aws_autoscaling_group.other", "size", 8), "size", False, False),
    ],
)
def test_what_a_later_change_supersedes(later: Effect, attribute: str, superseded: bool, changed: bool) -> None:
    changes = _changes(_applied(1, effect(GROUP, attribute, 6)), _applied(2, later))
    for after, expected in ((1, True), (2, False)):
        assert (changes.superseding(GROUP, attribute, after) is not None) is (superseded and expected)
        assert (changes.since(GROUP, attribute, after) is not None) is (changed and expected)


def test_a_consequence_changes_and_supersedes_nothing() -> None:
    lowered = _applied(2, effect(GROUP, "max_size", 8), implied=(effect(GROUP, "size", 8, implied=True),))
    changes = _changes(_applied(1, effect(GROUP, "size", 10)), lowered)
    since = changes.since(GROUP, "size", 1)
    assert since is not None
    assert (since.mutation, since.asked) == ("mut_2", False)
    assert changes.superseding(GROUP, "size", 1) is None


def test_the_last_in_the_ledger_counts_in_whatever_order_the_outcomes_came() -> None:
    changes = _changes(_applied(3, effect(GROUP, "size", 8)), _applied(2, effect(GROUP, "size", 7)))
    found = changes.superseding(GROUP, "size", 1)
    assert found is not None
    assert found.mutation == "mut_3"


def test_a_restated_value_is_no_change() -> None:
    restated = _applied(2, effect(GROUP, "size", 6), restated=frozenset({(GROUP, "size")}))
    assert _changes(restated).since(GROUP, "size", 1) is None


def test_it_grows_with_the_attributes_and_not_with_the_mutations() -> None:
    def ask(mutations: int) -> Any:
        changes = _changes(*(_applied(seq, effect(GROUP, f"a{seq % 10}", seq)) for seq in range(mutations)))
        return lambda: changes.since(GROUP, "a1", 0)

    assert_linear(ask, 100, limit=1.1)


@pytest.mark.parametrize("passing", [{"wanted_seconds": 60.0}, {"puts_back": "mut_2"}])
def test_a_change_for_a_time_supersedes_nothing_that_is_to_stay(passing: dict[str, Any]) -> None:
    first, good = _applied(1, effect(GROUP, "size", 6)), _applied(2, effect(GROUP, "size", 8))
    later = _applied(3, effect(GROUP, "size", 9), **passing)
    assert _changes(first, later).superseding(GROUP, "size", 1) is None
    last = _changes(first, good, later).superseding(GROUP, "size", 1)
    assert last is not None
    assert last.mutation == "mut_2"
    since = _changes(first, good, later).since(GROUP, "size", 2)
    assert since is not None
    assert since.mutation == "mut_3"
