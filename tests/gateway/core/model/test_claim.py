"""An implicit conflict survives being stored."""

from datetime import UTC, datetime

import pytest

from gateway.core.model.claim import CoupledAttribute, Couplings, Undone, UndoneBy, undone_by_to_json, undone_from_json

AT = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize("by", [None, UndoneBy(actor="a", mutation_id="mut_1"), UndoneBy(actor="arn:x", event="E")])
def test_it_is_the_same_after_it_was_stored(by: UndoneBy | None) -> None:
    form = {"live": {"a": [1]}, "by": undone_by_to_json(by)}
    assert undone_from_json(form, AT) == Undone(at=AT, live={"a": [1]}, by=by)


PAIR = {"one": {"type": "aws_a", "attribute": "size"}, "other": {"type": "aws_b", "attribute": "class"}}
SAME = {"one": {"type": "aws_a", "attribute": "size"}, "other": {"type": "aws_a", "attribute": "limit"}}


def test_each_end_leads_to_the_other() -> None:
    known = Couplings.of([PAIR, SAME])
    assert known.with_attribute("aws_a", "size") == (
        CoupledAttribute("aws_b", "class"),
        CoupledAttribute("aws_a", "limit"),
    )
    assert known.with_attribute("aws_b", "class") == (CoupledAttribute("aws_a", "size"),)
    assert known.with_attribute("aws_a", "limit") == (CoupledAttribute("aws_a", "size"),)


def test_a_part_of_an_attribute_belongs_to_what_the_whole_does() -> None:
    known = Couplings.of([PAIR])
    assert known.with_attribute("aws_b", "class.0") == (CoupledAttribute("aws_a", "size"),)
    assert known.with_attribute("aws_b", "classes") == ()


def test_what_no_pair_names_belongs_to_nothing() -> None:
    assert Couplings().with_attribute("aws_a", "size") == ()
    assert Couplings.of([PAIR]).with_attribute("aws_c", "size") == ()
