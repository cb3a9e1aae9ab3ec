"""An answer is judged by the members that it reaches at any depth, and passes only as it was reviewed."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.aws.models.answer_review import PASSED, Answer, Passed, Review, passed_text, review

TEXT = {"Text": {"type": "string"}, "Hidden": {"type": "string", "sensitive": True}, "Number": {"type": "integer"}}
NOTHING = Review(reasons={"names": "Names."}, hands_out={}, spared={}, doubts={}, passed={})


def structure(**members: Any) -> dict[str, Any]:
    return {"type": "structure", "members": {name: {"shape": shape} for name, shape in members.items()}}


def answer(**shapes: Any) -> Answer:
    return Answer("s", "GetThing", {**TEXT, **shapes}, {"output": {"shape": "Out"}})


def passing(of: Answer) -> Review:
    return replace(NOTHING, passed={("s", "GetThing"): Passed(fingerprint=of.fingerprint, reasons=("names",))})


def test_members_are_found_in_lists_maps_and_structures_that_contain_themselves() -> None:
    deep = answer(
        Out=structure(Things="Things"),
        Things={"type": "list", "member": {"shape": "Named"}},
        Named={"type": "map", "key": {"shape": "Text"}, "value": {"shape": "Thing"}},
        Thing=structure(Key="Text", Count="Number", Parent="Thing"),
    )
    assert deep.members.keys() == {"Out.Things", "Thing.Key", "Thing.Count", "Thing.Parent"}
    assert {name for name, member in deep.members.items() if member.text} == {"Out.Things", "Thing.Key"}


def test_what_is_inside_something_sensitive_is_sensitive_by_whatever_way_it_is_reached() -> None:
    both = answer(
        Out={"type": "structure", "members": {"Open": {"shape": "In"}, "Closed": {"shape": "In", "sensitive": True}}},
        In=structure(Key="Text"),
    )
    assert both.members["In.Key"].sensitive
    assert answer(Out=structure(A="Hidden")).members["Out.A"].sensitive
    assert not answer(Out=structure(A="Text")).members["Out.A"].sensitive


def test_an_operation_without_an_answer_has_no_members() -> None:
    assert not Answer("s", "Stop", TEXT, {}).members


@pytest.mark.parametrize(
    "changed",
    [
        {"Out": structure(A="Text", B="Text")},
        {"Out": structure(A="Hidden")},
        {"Out": structure(A="In"), "In": structure(A="Text")},
        {"Out": structure(A="Map"), "Map": {"type": "map", "key": {"shape": "Text"}, "value": {"shape": "Text"}}, "Text": {"type": "string", "sensitive": True}},
    ],
)  # fmt: skip
def test_another_text_needs_another_review(changed: dict[str, Any]) -> None:
    before = answer(Out=structure(A="Text"))
    assert before.passes(passing(before))
    assert not answer(**changed).passes(passing(before))


def test_another_number_or_word_of_a_list_needs_none() -> None:
    before = answer(Out=structure(A="Text"))
    after = answer(Out=structure(A="Text", B="Number", C="State"), State={"type": "string", "enum": ["on", "off"]})
    assert after.passes(passing(before))


def test_what_was_never_reviewed_does_not_pass() -> None:
    assert not answer(Out=structure(A="Text")).passes(NOTHING)


def test_a_member_that_hands_out_a_secret_is_stronger_than_a_review() -> None:
    key = answer(
        Out=structure(Items="Items"), Items={"type": "list", "member": {"shape": "In"}}, In=structure(Key="Text")
    )
    known = replace(passing(key), hands_out={"s": frozenset({"In.Key"}), "t": frozenset({"Out.Items"})})
    assert key.handed_out(known) == {"In.Key"}
    assert not key.passes(known)
    assert key.passes(replace(known, spared={("s", "GetThing"): "AWS leaves it out."}))


def test_the_rows_that_ship_are_written_as_the_tool_writes_them() -> None:
    assert passed_text(review().passed) == PASSED.read_text()
