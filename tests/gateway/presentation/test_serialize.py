"""Serializing the model: plain JSON, times in UTC, and no secrets."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from gateway.core.model.claim import ClaimEnd, Undone, UndoneBy
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.mutation import Call
from gateway.core.model.outcome import Applied, Failed, InDoubt, Outcome, Refused, Reply
from gateway.core.model.verdict import CounterOffer, Decision, Finding, Verdict
from gateway.core.records.record import Record, Stage
from gateway.presentation import serialize
from gateway.presentation.serialize import undone_lines, undone_to_json, undone_values
from tests.kit import nouns
from tests.kit.bodies import sample_record
from tests.kit.doubles import NOW as DOUBLES_NOW

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
MOTIVE = Motive(
    intent=Intent.AVAILABILITY,
    motivation=Motivation.INCIDENT,
    text="lag",
    evidence=("A-1",),
    wanted_for=timedelta(hours=1),
)
EFFECT = nouns.effect("aws_x.y", "size", {"hmac_sha256": "00"})
MUTATION = nouns.mutation(
    EFFECT,
    call=Call(service="rds", operation="ModifyDBInstance", parameters={"MasterUserPassword": "hunter2"}, region="r"),
    motive=MOTIVE,
)
FINDING = Finding(check="bounds", verdict=Verdict.DENY, rule="bounds.max", reason="Too much.", source="a.hcl:3")
CLAIM = nouns.claim("aws_x.y", "size", 6, motive=MOTIVE, since=NOW, until=NOW, ended_at=NOW, end=ClaimEnd.EXPIRED)


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (None, None),
        (NOW, "2026-11-21T09:30:00Z"),
        (NOW.astimezone(timezone(timedelta(hours=2))), "2026-11-21T09:30:00Z"),
        (NOW.replace(microsecond=5), "2026-11-21T09:30:00.000005Z"),
    ],
)
def test_times_are_iso_8601_in_utc(moment: datetime | None, text: str | None) -> None:
    assert serialize.time_to_json(moment) == text


def test_a_motive_is_serialized_completely() -> None:
    motive = serialize.mutation_to_json(MUTATION)["motive"]
    assert (motive["intent"], motive["motivation"], motive["text"]) == ("availability", "incident", "lag")
    assert motive["evidence"] == ["A-1"]
    assert serialize.mutation_to_json(replace(MUTATION, motive=None))["motive"] is None


def test_a_finding_has_its_counter_offer_where_there_is_one() -> None:
    assert "offer" not in serialize.finding_to_json(FINDING)
    offered = replace(FINDING, offer=CounterOffer(nearest=16, holder="b", retry_after=NOW))
    assert serialize.finding_to_json(offered)["offer"] == {
        "nearest": 16,
        "holder": "b",
        "retry_after": "2026-11-21T09:30:00Z",
    }


def test_a_mutation_is_serialized_without_its_parameters() -> None:
    text = json.dumps(serialize.mutation_to_json(MUTATION))
    assert "hunter2" not in text
    assert '"operation": "ModifyDBInstance"' in text


@pytest.mark.parametrize(
    ("outcome", "view"),
    [
        (None, None),
        (
            Applied(reply=Reply(status=200, headers=(), body=b"secret"), request_id="r"),
            {"outcome": "applied", "request_id": "r"},
        ),
        (
            Failed(code="X", message="no", request_id="r"),
            {"outcome": "failed", "code": "X", "message": "no", "request_id": "r"},
        ),
        (InDoubt(reason="No answer."), {"outcome": "in_doubt", "reason": "No answer."}),
        (Refused(decision=Decision()), {"outcome": "refused"}),
    ],
)
def test_every_outcome_has_its_word(outcome: Outcome | None, view: dict[str, Any] | None) -> None:
    assert serialize.outcome_to_json(outcome) == view


def test_everything_is_json() -> None:
    record = sample_record(
        stage=Stage.DECIDED, at=NOW, mutation_id="mut_1", body={"call": {"parameters": {"a": [1, {"b": None}]}}}, seq=3
    )
    decision = Decision(findings=(FINDING,), supersedes=("clm_0",))
    everything = [
        serialize.decision_to_json(decision),
        serialize.mutation_to_json(MUTATION),
        serialize.record_to_json(record),
        serialize.claim_to_json(CLAIM),
        serialize.claim_to_json(replace(CLAIM, motive=None, until=None, ended_at=None, end=None)),
    ]
    decided, _, recorded, ended, standing = json.loads(json.dumps(everything))
    assert (decided["verdict"], recorded["seq"], recorded["body"]["call"]["parameters"]["a"][1]["b"]) == (
        "deny",
        3,
        None,
    )
    assert (ended["end"], standing["end"], standing["until"]) == ("expired", None, None)


def record(claim: str, *, stands: bool = False, **members: Any) -> Record:
    """What the reconciler recorded of a claim."""
    body: dict[str, Any] = {"claim": claim, "address": "aws_x.a", "attribute": "v", "conflict": "implicit"}
    return sample_record(
        stage=Stage.UNDONE,
        at=DOUBLES_NOW,
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
    shown = undone_to_json(Undone(at=DOUBLES_NOW, live=4, by=UndoneBy(actor="a")))
    assert shown is not None
    assert (shown["conflict"], shown["live"]) == ("implicit", 4)
