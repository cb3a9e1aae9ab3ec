"""`sentinel explain`, against a running gateway: what people are told and what agents are not."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from gateway.policy.sources import shipped
from tests.kit.gate import ASG, Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

Document = Callable[..., tuple[int, Any]]
Speak = Callable[..., None]
WHAT = "aws_autoscaling_group.kafka_consumer"
SECRET_EVIDENCE = "ALERT-OF-THE-HOLDER"


def _set(gate: Gate, actor: str, capacity: int, motive: tuple[str, str]) -> str:
    """Set the capacity through boto3; the mutation, whether it was applied or not."""
    client = gate.client("autoscaling", actor, motive)
    try:
        reply = client.set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=capacity)
    except ClientError as error:
        reply = error.response
    return str(reply["ResponseMetadata"]["HTTPHeaders"]["x-sentinel-mutation"])


@pytest.fixture
def lost(gate: Gate) -> str:
    """A mutation of `rival` that lost against the claim of `agent`."""
    _set(gate, "agent", 6, ("availability", f"incident; evidence={SECRET_EVIDENCE}"))
    return _set(gate, "rival", 3, ("cost", "budget"))


def test_a_person_is_told_the_whole_contest(gate: Gate, lost: str, speak_as: Speak, document: Document) -> None:
    speak_as(gate, "human")
    code, told = document("explain", lost)
    assert (code, told["verdict"], told["state"]) == (0, "deny", "denied")
    contest = told["contest"]
    (rival,) = contest["rivals"]
    for side in (contest["incoming"], rival):
        assert side["score"] == sum(side["terms"].values())
    assert (rival["actor"], rival["intent"], rival["motivation"], rival["outcome"]) == (
        "agent",
        "availability",
        "incident",
        "loses",
    )
    assert contest["needed"] > rival["score"] > contest["incoming"]["score"]
    assert all(each["score"] >= contest["needed"] for each in contest["winning"])
    assert told["come_back"] == {"at": rival["until"], "needs": []}


def test_a_motive_that_would_have_won_does_win(gate: Gate, lost: str, speak_as: Speak, document: Document) -> None:
    """An agent cannot outrank an incident, so the proof is with a weaker claim."""
    gate.release_all()
    _set(gate, "agent", 6, ("performance", "schedule"))
    weaker = _set(gate, "rival", 3, ("cost", "routine"))
    speak_as(gate, "human")
    winning = document("explain", weaker)[1]["contest"]["winning"]
    first = winning[0]
    won = _set(gate, "rival", 3, (first["intent"], f"{first['motivation']}; evidence=CVE-2026-1"))
    assert document("explain", won)[1]["state"] == "applied"
    assert lost


def test_an_agent_is_told_who_and_until_when_but_not_how_to_win(
    gate: Gate, lost: str, speak_as: Speak, document: Document
) -> None:
    speak_as(gate, "rival")
    code, told = document("explain", lost)
    (rival,) = told["contest"]["rivals"]
    assert (code, set(told["contest"])) == (0, {"rivals"})
    assert set(rival) == {"claim", "address", "attribute", "actor", "outcome", "since", "until", "class"}
    everything = str(told) + str(document("records")) + str(document("explain", lost))
    for hidden in ("incident", "availability", SECRET_EVIDENCE, "winning", "needed", "score"):
        assert hidden not in everything, hidden
    assert told["come_back"]["at"] == rival["until"]


def test_nobody_sees_the_explanation_of_another_agents_mutation(
    gate: Gate, lost: str, speak_as: Speak, document: Document
) -> None:
    speak_as(gate, "agent")
    code, refused = document("explain", lost)
    assert (code, refused["code"]) == (1, "not_found")
    assert document("explain", "nonsense")[1]["code"] == "malformed"


def test_a_broken_bound_names_rule_title_file_line_and_the_nearest_legal_value(
    gate: Gate, speak_as: Speak, document: Document, sentinel: Callable[..., Any]
) -> None:
    mutation = _set(gate, "agent", 4000, ("availability", "incident; evidence=A-1"))
    speak_as(gate, "agent")
    told = document("explain", mutation)[1]
    broken = [rule for check in told["checks"] for rule in check["rules"] if rule["verdict"] == "deny"]
    assert {"A value above its maximum", "A step that is too large"} <= {rule["title"] for rule in broken}
    assert all(re.search(r"\.(sentinel\.hcl|tf):\d+$", rule["source"]) for rule in broken)
    (nearest,) = {str(offer) for offer in told["nearest"]}
    assert told["come_back"] == {"at": None, "needs": ["change"]}
    value = told["nearest"][0]["value"]
    assert f"The nearest legal value of desired_capacity of {WHAT} is {value}." in sentinel("explain", mutation).stdout
    assert nearest
    gate.client("autoscaling").set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=value)


def test_a_policy_rule_names_its_title_and_its_line(gate: Gate, speak_as: Speak, document: Document) -> None:
    speak_as(gate, "human")
    mutation = _set(gate, "agent", 5, ("availability", "incident; evidence=A-1"))
    lost = _set(gate, "rival", 3, ("cost", "budget"))
    told = document("explain", lost)[1]
    (rule,) = [rule for check in told["checks"] for rule in check["rules"] if rule["verdict"] == "deny"]
    assert (rule["rule"], rule["title"]) == ("SEN-A001", "A stronger claim on the attribute")
    file, line = rule["source"].split(":")
    source = (shipped() / file).read_text().splitlines()
    assert "findings contains" in source[int(line) - 1]
    assert [check["check"] for check in told["checks"]] == [
        "ground_truth",
        "classes",
        "stops",
        "bounds",
        "derived_rows",
        "dependencies",
        "quarantine",
        "alarms",
        "time_box",
        "policy",
        "fairness",
        "arbitration",
    ]
    assert document("explain", mutation)[1]["claims"]


def test_the_text_says_it_in_plain_english(
    gate: Gate, lost: str, speak_as: Speak, sentinel: Callable[..., Any]
) -> None:
    speak_as(gate, "human")
    text = sentinel("explain", lost).stdout
    for sentence in (
        "rival (agent) asked for autoscaling:SetDesiredCapacity for cost/budget at ",
        "Sentinel refused it",
        "Nothing against it: ground_truth, classes, ",
        "[SEN-A001, A stronger claim on the attribute, direct conflict, arbitration/arbitration.rego:",
        f"  {WHAT}.desired_capacity: asked for 3, before it 6",
        "  It is held for availability/incident and scored ",
        "To win, it needed ",
        "Come back at ",
    ):
        assert sentence in text, text
