"""What records say in the same way to every format."""

import pytest

from gateway.core.records.record import Stage
from gateway.exports.record_facts import (
    account_of,
    day_of,
    is_observed,
    kind_of,
    member,
    objection_of,
    outcome_of,
    region_of,
)
from tests.kit.exports import record


def test_an_outcome_has_the_call_of_its_decision() -> None:
    decided = {"call": {"region": "eu-west-1", "account": "1/../2"}}
    settled = record(Stage.SETTLED, {"outcome": "applied"}, decided=decided)
    assert member(settled, "call") == decided["call"]
    assert region_of(settled) == "eu-west-1"
    assert account_of(settled) == "1____2", "no name in a record leads out of the export's directory"
    assert day_of(settled) == "20261122"


def test_what_is_about_no_call_is_nowhere() -> None:
    assert (region_of(record(Stage.STOPPED, {})), account_of(record(Stage.STOPPED, {}))) == ("global", "unknown")


@pytest.mark.parametrize(
    ("stage", "body", "outcome"),
    [
        (Stage.SETTLED, {"outcome": "applied"}, "applied"),
        (Stage.DECIDED, {"decision": {"verdict": "allow", "carried_out": True}}, ""),
        (Stage.DECIDED, {"decision": {"verdict": "hold", "carried_out": False}}, "held"),
        (Stage.DECIDED, {"decision": {"verdict": "deny", "carried_out": False}}, "denied"),
        (Stage.DECIDED, {"decision": {"verdict": "allow", "carried_out": False}}, "denied"),
        (Stage.TURNED_AWAY, {}, "turned_away"),
        (Stage.EXPIRED, {}, ""),
    ],
)
def test_a_record_says_what_came_of_its_call(stage: Stage, body: dict[str, object], outcome: str) -> None:
    assert outcome_of(record(stage, body)) == outcome


def test_the_first_objection_is_that_of_the_verdict() -> None:
    findings = [{"verdict": "allow", "rule": "a"}, {"verdict": "hold", "rule": "h"}, {"verdict": "deny", "rule": "d"}]
    denied = record(Stage.DECIDED, {"decision": {"verdict": "deny", "findings": findings}})
    assert objection_of(denied)["rule"] == "d"
    assert objection_of(record(Stage.DECIDED, {"decision": {"verdict": "allow", "findings": findings}})) == {}


def test_only_what_was_carried_out_against_its_verdict_is_observed() -> None:
    decision = {"verdict": "deny", "mode": "observe", "carried_out": True}
    assert is_observed(record(Stage.DECIDED, {"decision": decision}))
    assert not is_observed(record(Stage.DECIDED, {"decision": {**decision, "verdict": "allow"}}))
    assert not is_observed(record(Stage.DECIDED, {"decision": {**decision, "carried_out": False}}))


def test_only_people_approve_and_stop() -> None:
    assert kind_of(record(Stage.APPROVED, {}, decided={"caller": {"kind": "agent"}})) == "human"
    assert kind_of(record(Stage.SETTLED, {}, decided={"caller": {"kind": "agent"}})) == "agent"
    assert kind_of(record(Stage.EXPIRED, {}, decided={"caller": {"kind": "agent"}})) == ""
    assert kind_of(record(Stage.KEY_ISSUED, {"kind": "pipeline"})) == "pipeline"
