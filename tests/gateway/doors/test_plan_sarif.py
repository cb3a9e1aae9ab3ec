"""SARIF 2.1.0: the members that the standard and code scanning require, and places that exist."""

import json
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # it has no stubs here
import pytest

from gateway.doors.plan_sarif import plan_sarif
from tests.kit.plan_reports import ASG, report

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
