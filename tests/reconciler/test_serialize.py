"""JSON forms can be read back."""

import json
from pathlib import Path

from reconciler.model import Left, Proof, ProposedEdit, Wanted
from reconciler.serialize import (
    edit_from_json,
    edit_to_json,
    left_from_json,
    left_to_json,
    proof_from_json,
    proof_to_json,
)

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
