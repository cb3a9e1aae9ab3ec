"""Pairs of attributes that belong together are found by either end."""

from gateway.model.coupling import CoupledAttribute, Couplings

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
