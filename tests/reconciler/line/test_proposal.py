"""A proposal survives DBOS, and the body of RECONCILED says what was written, what is left, and why nothing was."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateway.core.model.json import Json
from gateway.core.records.write_backs import ReconciledBody
from reconciler.line.proposal import Proposal, WrittenBack, comparable_body
from reconciler.model import Left, Proof, ProposedEdit, Wanted
from tests.kit.bodies import written_back

WANTED = Wanted(address="aws_x.a", attribute="size", value=6)
LEFT = Left(wanted=WANTED, reason="No.", chain=("main.tf:1",))
PROPOSAL = Proposal(
    base="c0ffee",
    message="m",
    files={Path("main.tf"): b"\xff6"},
    edits=(ProposedEdit(path=Path("main.tf"), wanted=WANTED, chain=("main.tf:1",)),),
    proofs=(Proof(name="parses", held=True, detail="y"),),
    left=(LEFT,),
    kept_out=(LEFT,),
)
SUPERSEDED = replace(LEFT, superseded_by="mut_2")
BESIDE = replace(PROPOSAL, beside={"mut_2": replace(PROPOSAL, files={}, corrects=3), "mut_3": Proposal(left=(LEFT,))})
MORE = Proposal(left=(LEFT, SUPERSEDED), noted=("It was so.",), tried={"protected": "c0"}, corrects=7)


@pytest.mark.parametrize(
    "proposal", [PROPOSAL, BESIDE, MORE, Proposal(), Proposal(commit="c0", nothing_to_do="No.", merged=True)]
)
def test_a_proposal_is_json_and_keeps_every_byte(proposal: Proposal) -> None:
    stored = json.dumps(proposal.to_json())
    assert Proposal.from_json(json.loads(stored)) == proposal
    assert list(json.loads(stored)) == [
        "base",
        "commit",
        "message",
        "files",
        "edits",
        "proofs",
        "left",
        "kept_out",
        "nothing_to_do",
        "merged",
        "noted",
        "tried",
        "corrects",
        "beside",
    ]


def test_each_mutation_of_one_change_has_a_record_of_its_own_with_the_commit_that_has_its_edits() -> None:
    written = BESIDE.written_back(branch="b", commit="c0", diff="d")
    assert WrittenBack.from_json(json.loads(json.dumps(written.to_json()))) == written
    assert {each: (body.commit, body.files, body.corrects) for each, body in written.beside.items()} == {
        "mut_2": ("c0", ("main.tf",), 3),
        "mut_3": ("", (), 0),
    }
    assert written.beside["mut_3"].left[0].reason == "No."


@pytest.mark.parametrize(
    ("kept_out", "said"),
    [
        ((LEFT,), "Nothing of it belongs in code."),
        ((SUPERSEDED,), "It was superseded before it was written: mut_2 changed the same since."),
        (
            (SUPERSEDED, LEFT, replace(SUPERSEDED, superseded_by="mut_3"), SUPERSEDED),
            "It was superseded before it was written: mut_2, mut_3 changed the same since. The rest does not belong in code.",
        ),
    ],
)
def test_a_superseded_change_is_called_that_and_its_successor_is_named(kept_out: tuple[Left, ...], said: str) -> None:
    body: Any = Proposal(kept_out=kept_out).record_body(branch="b", commit="", diff="").members
    assert body["nothing_to_do"] == said
    assert body.get("superseded_by", []) == list(dict.fromkeys(filter(None, (kept.superseded_by for kept in kept_out))))
    assert body["kept_out"][0].get("superseded_by", "") == kept_out[0].superseded_by


def test_what_was_noted_and_tried_and_is_corrected_is_recorded() -> None:
    body = MORE.record_body(branch="b", commit="", diff="")
    assert (body.members["noted"], body.members["tried"], body.members["corrects"]) == (
        ["It was so."],
        {"protected": "c0"},
        7,
    )


def test_a_commit_is_recorded_with_its_proofs() -> None:
    body: Any = PROPOSAL.record_body(branch="sentinel/shop", commit="c0", diff="d" * 99_999).members
    assert set(body) == {"left", "kept_out", "edits", "proofs", "branch", "commit", "files", "diff"}
    assert (body["branch"], body["commit"], body["files"]) == ("sentinel/shop", "c0", ["main.tf"])
    assert body["proofs"] == [{"name": "parses", "held": True, "detail": "y"}]
    assert len(body["diff"]) == 64 * 1024
    (left,) = body["left"]
    assert left["chain"] == ["main.tf:1"]


@pytest.mark.parametrize(
    ("proposal", "expected"),
    [
        (
            Proposal(nothing_to_do="There already.", merged=True),
            {"nothing_to_do": "There already.", "merged": True},
        ),
        (Proposal(), {"nothing_to_do": "Nothing of it belongs in code.", "merged": False}),
        (Proposal(left=(LEFT,)), {}),
    ],
)
def test_without_a_commit_the_body_says_why(proposal: Proposal, expected: dict[str, Json]) -> None:
    body = proposal.record_body(branch="b", commit="", diff="").members
    assert bool(body.pop("left", None)) == (not expected)
    assert body == expected


def test_what_a_record_says_and_which_addresses_it_wrote() -> None:
    body = written_back(
        {"edits": [{"address": "aws_x.a", "path": "main.tf"}], "tried": {"protected": "c0"}, "corrects": 3}
    )
    assert body.edited_addresses == {"aws_x.a"}
    assert written_back({}).edited_addresses == set()
    assert comparable_body(body) == ReconciledBody(edits=body.edits)
