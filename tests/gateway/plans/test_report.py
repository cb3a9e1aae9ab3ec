"""The report of a plan: whole for people, without others' motives for agents."""

import json
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # it has no stubs here
import pytest

from gateway.plans.report import plan_headline, plan_markdown, plan_report, plan_sarif, unjudged_note
from gateway.presentation.markdown import MOST_ROWS
from tests.gateway.plans.test_check import verdict
from tests.kit.plan_reports import ASG, claim, finding, report


def test_people_see_the_claim_and_agents_only_who_holds_it() -> None:
    people, agents = plan_report(verdict(1), sees_all=True), plan_report(verdict(1), sees_all=False)
    assert (people["claims"][0]["value"], people["passes"], people["plan"]["effects"]) == ("claimed-value", False, 1)
    assert (agents["claims"][0]["value"], agents["claims"][0]["motive"], agents["claims"][0]["holder"]) == (
        None,
        None,
        "other",
    )
    assert [each["rule"] for each in agents["decision"]["findings"]] == ["bounds.max"]


DECISION: dict[str, Any] = report()["decision"]


def test_findings_and_claims_are_rows() -> None:
    text = plan_markdown(report())
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == (2 + 3) + (2 + 2)
    assert "| denied | bounds.max |" in text
    assert "availability/incident, until 2026-11-22T09:00:00" in text
    assert "stays: the change is refused" in text


def test_no_text_of_a_plan_or_claim_is_markup() -> None:
    text = plan_markdown(report())
    assert "<img" not in text
    assert "[click](" not in text
    assert "http://" not in text
    assert "@octocat" not in text
    assert "\u202e" not in text
    assert "\\| &lt;img src=x onerror=1&gt;" in text
    # Each row has as many cells as its table: no text adds one.
    assert {line.replace("\\|", "").count("|") for line in text.splitlines() if "denied" in line} == {5}


def test_long_tables_and_texts_are_cut() -> None:
    many = [finding("R1", "deny", "x" * 5000)] * (MOST_ROWS + 7)
    text = plan_markdown(report(decision={**DECISION, "findings": many}))
    assert "… and 7 more." in text
    assert len(text) < MOST_ROWS * 1000


@pytest.mark.parametrize(
    ("members", "sentence"),
    [
        ({}, "The plan of stack kafka (2 resources) would not pass: 2 denials, 1 hold."),
        ({"passes": True}, "The plan of stack kafka (2 resources) would pass, because Sentinel only observes the stack; enforced, it would not: 2 denials, 1 hold."),
        ({"passes": True, "decision": {**DECISION, "findings": []}}, "The plan of stack kafka (2 resources) would pass."),
    ],
)  # fmt: skip
def test_the_headline_says_it_in_one_sentence(members: dict[str, Any], sentence: str) -> None:
    assert plan_headline(report(**members)) == sentence


def test_what_nobody_could_judge_is_said() -> None:
    note = f"Known only after the apply, and judged then: {ASG}.launch_template."
    assert unjudged_note(report()) == note
    assert not unjudged_note(report(unjudged=[]))
    many = unjudged_note(report(unjudged=report()["unjudged"] * 13))
    assert many.endswith(" and 3 more.")
    assert "Known only after the apply" in plan_markdown(report())


def test_a_claim_that_is_not_told_has_no_value() -> None:
    text = plan_markdown(report(claims=[claim("held", value=None, motive=None, until=None)]))
    assert "| without end |" in text
    assert "a human decides" in text


URI = {"type": "string", "minLength": 1, "pattern": "^[^/ ][^ ]*$"}
MESSAGE = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
LOCATION = {
    "type": "object",
    "required": ["physicalLocation"],
    "properties": {
        "physicalLocation": {
            "type": "object",
            "required": ["artifactLocation", "region"],
            "properties": {
                "artifactLocation": {"type": "object", "required": ["uri"], "properties": {"uri": URI}},
                "region": {"type": "object", "required": ["startLine"], "properties": {"startLine": {"type": "integer", "minimum": 1}}},
            },
        },
    },
}  # fmt: skip
RESULT = {
    "type": "object",
    "required": ["ruleId", "ruleIndex", "level", "message", "locations", "partialFingerprints"],
    "additionalProperties": False,
    "properties": {
        "ruleId": {"type": "string"},
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": {"enum": ["none", "note", "warning", "error"]},
        "message": MESSAGE,
        "locations": {"type": "array", "minItems": 1, "items": LOCATION},
        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
        "properties": {"type": "object"},
    },
}
RULE = {"type": "object", "required": ["id", "shortDescription"], "properties": {"shortDescription": MESSAGE}}
LOG = {
    "type": "object",
    "required": ["$schema", "version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string"},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "minItems": 1,
            "maxItems": 1,
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "properties": {
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "tool": {
                        "type": "object",
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "type": "object",
                                "required": ["name"],
                                "properties": {"rules": {"type": "array", "uniqueItems": True, "items": RULE}},
                            }
                        },
                    },
                    "results": {"type": "array", "items": RESULT},
                },
            },
        },
    },
}
"""The part of the published schema that Sentinel's logs use (sections 3.13 to 3.27), and what code scanning asks for beyond it."""


def log(**members: Any) -> Any:
    """The log of a report, valid by the schema, as it is read back."""
    document = json.loads(json.dumps(plan_sarif(report(**members), plan_file="plan.json", root="stacks/kafka/")))
    jsonschema.validate(document, LOG)
    return document["runs"][0]


def test_each_objection_is_a_result_with_its_rule_level_and_place() -> None:
    run = log()
    ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert ids == ["bounds.max", "SEN-A002", "SEN-A006", "claims.undone"]
    assert [(each["level"], ids[each["ruleIndex"]] == each["ruleId"]) for each in run["results"]] == [
        ("error", True),
        ("warning", True),
        ("error", True),
        ("note", True),
    ]
    places = [each["locations"][0]["physicalLocation"] for each in run["results"]]
    assert places[0] == {"artifactLocation": {"uri": "stacks/kafka/modules/a/main.tf"}, "region": {"startLine": 12}}
    assert places[1]["artifactLocation"]["uri"] == places[2]["artifactLocation"]["uri"] == "plan.json"
    assert run["results"][0]["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == ASG


def test_a_finding_keeps_its_fingerprint_when_its_text_changes() -> None:
    one = log()["results"][0]
    other = log(
        decision={**report()["decision"], "findings": [{**report()["decision"]["findings"][0], "reason": "Other."}]}
    )
    assert one["partialFingerprints"] == other["results"][0]["partialFingerprints"]


def test_what_an_observed_stack_would_refuse_is_a_note() -> None:
    run = log(decision={**report()["decision"], "mode": "observe"})
    assert {each["level"] for each in run["results"]} == {"note"}


def test_a_plan_that_passes_has_no_results() -> None:
    run = log(passes=True, claims=[], decision={**report()["decision"], "findings": []})
    assert (run["results"], run["tool"]["driver"]["rules"]) == ([], [])


@pytest.mark.parametrize("missing", ["version", "runs"])
def test_the_schema_notices_what_is_missing(missing: str) -> None:
    document = plan_sarif(report(), plan_file="plan.json")
    del document[missing]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, LOG)


UNKNOWN = {"address": "aws_x.a", "type": "aws_x", "action": "create", "with_plan": False}


def test_changes_that_nobody_understands_are_named() -> None:
    document = report(
        passes=False, claims=[], not_understood=[UNKNOWN, {**UNKNOWN, "address": "aws_y.b", "with_plan": True}]
    )
    document["decision"]["findings"] = []

    assert plan_headline(document) == (
        "The plan of stack kafka (2 resources) would not pass: 1 change with calls that nobody understands."
    )
    text = plan_markdown(document)
    assert "Nobody understands the calls that change aws\\_x.a" in text
    assert "`sentinel apply`: aws\\_y.b" in text.replace("\\`", "`")
    [result] = plan_sarif(document, plan_file="plan.json")["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("plan.not_understood", "warning")
    assert result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == "aws_x.a"
