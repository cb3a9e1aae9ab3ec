"""Implicit conflicts, for the holder to read."""

from typing import Any

from gateway.doors.undone import undone_lines, undone_to_json, undone_values
from gateway.model.record import Record, Stage
from gateway.model.undone import Undone, UndoneBy
from tests.kit.doubles import NOW


def record(claim: str, *, stands: bool = False, **members: Any) -> Record:
    """What the reconciler recorded of a claim."""
    body: dict[str, Any] = {"claim": claim, "address": "aws_x.a", "attribute": "v", "conflict": "implicit"}
    return Record(
        stage=Stage.UNDONE,
        at=NOW,
        mutation_id="mut_1",
        body={**body, "stands": stands, "live": 4, "by": None, **members},
    )


def test_the_latest_word_on_each_claim_counts() -> None:
    records = [record("clm_1"), record("clm_2"), record("clm_1", stands=True), record("clm_2", live=5)]
    assert [(each["claim"], each["live"]) for each in undone_values(records)] == [("clm_2", 5)]


def test_the_sentences_say_who_probably_did_it() -> None:
    own = {"actor": "rival", "mutation": "mut_2", "event": ""}
    foreign = {"actor": "arn:x", "mutation": "", "event": "Put"}
    said = [next(undone_lines(undone_values([record("c", by=by)]))) for by in (None, own, foreign)]
    assert all("v of aws_x.a was found to be 4" in each for each in said)
    assert "Nothing tells who did it." in said[0]
    assert "rival changed the resource since then (mutation mut_2)." in said[1]
    assert "CloudTrail names arn:x (Put)." in said[2]
    assert "another value or none" in next(undone_lines(undone_values([record("c", live=None)])))


def test_a_claim_whose_value_stands_shows_none() -> None:
    assert undone_to_json(None) is None
    shown = undone_to_json(Undone(at=NOW, live=4, by=UndoneBy(actor="a")))
    assert shown is not None
    assert (shown["conflict"], shown["live"]) == ("implicit", 4)
