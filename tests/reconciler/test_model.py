"""Wanted values have keys that fit the changes of a plan, and edits, proofs and values left survive their JSON forms."""

import json
from dataclasses import replace
from pathlib import Path

from reconciler.model import (
    REPLACES,
    Left,
    Proof,
    ProposedEdit,
    Wanted,
    edit_from_json,
    edit_to_json,
    is_new,
    is_replacement,
    left_from_json,
    left_to_json,
    proof_from_json,
    proof_to_json,
)
from reconciler.terraform.plan import ResourceChange


def test_a_wanted_value_and_a_change_of_the_same_attribute_share_their_top() -> None:
    wanted = Wanted(address='aws_x.a["b.c"]', attribute="tags.owner", value="x")
    assert wanted.key == ('aws_x.a["b.c"]', "tags.owner")
    assert wanted.path.steps == ("tags", "owner")
    change = ResourceChange(address='aws_x.a["b.c"]', attribute="tags.team")
    assert wanted.top_key == change.top_key == ('aws_x.a["b.c"]', "tags")
    assert change.resource_type == "aws_x"
    assert ResourceChange(address="not an address", attribute="*").resource_type == ""


def test_a_replacement_says_which_resource_it_replaces() -> None:
    new = Wanted(address="aws_sqs_queue.a", attribute="*", value={"import_id": "b"})
    other = replace(new, value={"import_id": "b", REPLACES: "a"})
    assert [(is_new(each), is_replacement(each)) for each in (new, other)] == [(True, False), (True, True)]
    assert not is_replacement(replace(new, attribute="tags", value={REPLACES: "a"}))


WANTED = Wanted(address="aws_x.a", attribute="size", value={"b": [1, None]})


def test_every_form_is_read_back_as_it_was() -> None:
    left = Left(wanted=WANTED, reason="No.", chain=("main.tf:1",))
    edit = ProposedEdit(path=Path("a/main.tf"), wanted=WANTED, chain=("main.tf:1", "x.tf:2"))
    proof = Proof(name="parses", held=True, detail="y")
    assert left_from_json(json.loads(json.dumps(left_to_json(left)))) == left
    assert edit_from_json(json.loads(json.dumps(edit_to_json(edit)))) == edit
    assert proof_from_json(json.loads(json.dumps(proof_to_json(proof)))) == proof


def test_the_members_and_their_order_are_those_of_the_record() -> None:
    left = Left(wanted=WANTED, reason="No.")
    edit = ProposedEdit(path=Path("main.tf"), wanted=WANTED)
    assert list(left_to_json(left)) == ["address", "attribute", "value", "reason", "chain"]
    assert list(edit_to_json(edit)) == ["address", "attribute", "value", "path", "chain"]
    assert list(proof_to_json(Proof(name="parses", held=True))) == ["name", "held", "detail"]
