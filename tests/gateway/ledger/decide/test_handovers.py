"""An attribute changes hands with who sets it, a part of it, or what it is a part of; siblings do not."""

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.model.path import overlaps
from gateway.ledger.decide.handovers import Handovers
from gateway.ledger.store.rows import HolderRow
from tests.kit.growth import assert_linear

A = "aws_x.y"


def _rows(*claims: tuple[str, str]) -> list[HolderRow]:
    return [
        HolderRow(address=A, attribute=attribute, actor=actor, since=f"{number:04}", id=str(number))
        for number, (actor, attribute) in enumerate(claims)
    ]


@pytest.mark.parametrize(
    ("claims", "attribute", "flips"),
    [
        ([("a", "tags"), ("b", "tags.x"), ("a", "tags"), ("b", "tags.x")], "tags.x", 3),
        ([("a", "tags"), ("b", "tags.x"), ("a", "tags"), ("b", "tags.x")], "tags", 3),
        ([("a", "tags"), ("b", "tags.x"), ("a", "tags"), ("b", "tags.x")], "tags.y", 0),
        ([("a", "tags"), ("b", "tags"), ("a", "tags")], "tags.never_set", 2),
        ([("a", "tags.x"), ("b", "tags.y"), ("a", "tags.x"), ("b", "tags.y")], "tags", 0),
        ([("a", "tags.x"), ("c", "tags.y"), ("b", "tags.x"), ("c", "tags.y"), ("a", "tags.x")], "tags", 2),
        ([("a", "tags"), ("b", "tags.x"), ("a", "tags"), ("b", "tags.y"), ("a", "tags")], "tags", 4),
        ([("a", "*"), ("b", "size"), ("a", "*"), ("b", "size")], "size", 3),
        ([("a", "size"), ("b", "capacity"), ("a", "size")], "*", 0),
        ([("a", "tags.a%2Eb"), ("b", "tags.a"), ("a", "tags.a%2Eb")], "tags.a", 0),
    ],
)
def test_what_overlaps_changes_hands(claims: list[tuple[str, str]], attribute: str, flips: int) -> None:
    handovers = Handovers(reversed(_rows(*claims)))
    assert handovers.flips(A, attribute) == flips
    assert handovers.flips("aws_x.other", attribute) == 0


def test_who_had_a_part_had_it() -> None:
    handovers = Handovers(_rows(("a", "tags"), ("b", "tags.x")))
    assert [handovers.had(actor, A, "tags.x") for actor in "abc"] == [True, True, False]
    assert [handovers.had(actor, A, "tags.y") for actor in "abc"] == [True, False, False]


ATTRIBUTES = st.sampled_from(["a", "a.b", "a.b.c", "a.d", "e", "*"])


def _by_hand(rows: Sequence[HolderRow], attribute: str) -> int:
    there = [row for row in rows if overlaps(row.attribute, attribute)]
    count = 0
    for place, row in enumerate(there):
        earlier = [each for each in there[:place] if overlaps(each.attribute, row.attribute)]
        count += bool(earlier) and earlier[-1].actor != row.actor
    return count


@given(st.lists(st.tuples(st.sampled_from("xyz"), ATTRIBUTES), max_size=12), ATTRIBUTES)
def test_each_claim_is_compared_with_the_latest_that_it_overlaps_with(
    claims: list[tuple[str, str]], attribute: str
) -> None:
    rows = _rows(*claims)
    assert Handovers(rows).flips(A, attribute) == _by_hand(rows, attribute)


def test_it_is_linear_in_the_claims() -> None:
    def make(count: int) -> Callable[[], object]:
        rows = [HolderRow(A, f"tags.k{number}", "ab"[number % 2], f"{number:09}", "c") for number in range(count)]
        return lambda: Handovers(rows).flips(A, "tags")

    assert_linear(make, 200)
