"""The body of RECONCILED tells what was written, what is left, and why nothing was."""

import json
from pathlib import Path
from typing import Any

import pytest

from reconciler.drift.classify import ClassifiedDrift
from reconciler.model import Edit, Edited, Left, Proof, Wanted
from reconciler.proof.propose import ProvedEdit
from reconciler.serialize import body, files, nothing_written, proposal

WANTED = Wanted(address="aws_x.a", attribute="size", value=6)
LEFT = Left(wanted=WANTED, reason="No.", chain=("main.tf:1",))
EDIT = Edit(path=Path("main.tf"), start=0, end=1, old=b"4", new=b"6", wanted=WANTED, chain=("main.tf:1",))
PROVED = ProvedEdit(
    edited=Edited(files={Path("main.tf"): b"\xff6"}, edits=(EDIT,)),
    proofs=(Proof(name="parses", held=True, detail="y"),),
)


def test_a_proposal_is_json_and_keeps_every_byte() -> None:
    told = json.loads(json.dumps(proposal(ClassifiedDrift(), PROVED, "message", base="c0ffee")))
    assert files(told) == {Path("main.tf"): b"\xff6"}
    assert (told["base"], told["message"]) == ("c0ffee", "message")


def test_a_commit_is_told_with_its_proofs() -> None:
    told: Any = body(
        proposal(ClassifiedDrift(left=(LEFT,)), PROVED, "m", base="b"),
        branch="sentinel/shop",
        commit="c0",
        diff="d" * 99_999,
    )
    assert (told["branch"], told["commit"], told["files"]) == ("sentinel/shop", "c0", ["main.tf"])
    assert told["proofs"] == [{"name": "parses", "held": True, "detail": "y"}]
    assert len(str(told["diff"])) == 64 * 1024
    assert "merged" not in told
    (left,) = told["left"]
    assert left["chain"] == ["main.tf:1"]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (
            nothing_written(ClassifiedDrift(), nothing_to_do="There already.", merged=True),
            {"nothing_to_do": "There already.", "merged": True},
        ),
        (nothing_written(ClassifiedDrift()), {"nothing_to_do": "Nothing of it belongs in code.", "merged": False}),
        (nothing_written(ClassifiedDrift(), left=[LEFT]), {}),
    ],
)
def test_nothing_written_says_why(told: dict[str, Any], expected: dict[str, Any]) -> None:
    said = dict(body(told, branch="b", commit="", diff=""))
    left = said.pop("left", None)
    assert said == expected
    assert bool(left) == (not expected)
