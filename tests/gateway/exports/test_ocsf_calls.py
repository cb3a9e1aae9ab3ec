"""What was decided and came of a call, as the numbers of OCSF's API Activity."""

from typing import Any

import pytest

from gateway.exports.ocsf_calls import api_activity
from gateway.model.record import Stage
from tests.kit.exported import record


def decided(verdict: str, *, rule: str = "SEN-1", **decision: Any) -> dict[str, Any]:
    """The body of a decision on a change of one attribute."""
    return {
        "caller": {"kind": "agent", "key_id": "SNTL1"},
        "call": {"service": "sqs", "operation": "SetQueueAttributes", "region": "eu-west-1"},
        "sender": {"peer": "10.0.0.9", "user_agent": "Boto3/1.43"},
        "effects": [
            {
                "address": "aws_sqs_queue.q",
                "attribute": "delay",
                "action": "set",
                "before": 1,
                "value": 2,
                "declared": 1,
            }
        ],
        "decision": {
            "verdict": verdict,
            "mode": "enforce",
            "carried_out": verdict == "allow",
            "findings": [{"check": "c", "verdict": verdict, "rule": rule, "reason": "Because."}],
            **decision,
        },
    }


@pytest.mark.parametrize(
    ("decision", "severity", "action", "disposition", "status"),
    [
        (decided("allow"), 1, 1, 1, 99),
        (decided("allow", approval="apr_1"), 1, 1, 8, 99),
        (decided("hold"), 2, 99, 14, 99),
        (decided("deny"), 3, 2, 2, 2),
        (decided("deny", rule="never.stopped"), 4, 2, 2, 2),
        (decided("deny", mode="observe", carried_out=True), 3, 3, 17, 99),
    ],
)
def test_a_verdict_has_its_numbers(
    decision: dict[str, Any], severity: int, action: int, disposition: int, status: int
) -> None:
    event = api_activity(record(Stage.DECIDED, decision))
    assert (event["severity_id"], event["action_id"], event["disposition_id"]) == (severity, action, disposition)
    assert event["status_id"] == status


@pytest.mark.parametrize(
    ("settled", "status"),
    [({"outcome": "applied"}, 1), ({"outcome": "failed", "code": "X"}, 2), ({"outcome": "in_doubt"}, 0)],
)
def test_an_outcome_has_its_status(settled: dict[str, Any], status: int) -> None:
    event = api_activity(record(Stage.SETTLED, settled, decided=decided("allow")))
    assert event["status_id"] == status
    assert event["api"]["operation"] == "SetQueueAttributes"
    assert event["api"]["service"] == {"name": "sqs.amazonaws.com"}
    assert event["src_endpoint"] == {"ip": "10.0.0.9"}
    assert event["http_request"] == {"user_agent": "Boto3/1.43"}


def test_a_refusal_names_its_rule_and_reason() -> None:
    event = api_activity(record(Stage.DECIDED, decided("deny")))
    assert (event["status_code"], event["status_detail"]) == ("SEN-1", "Because.")
    assert event["api"]["response"] == {"error": "SEN-1", "error_message": "Because."}


@pytest.mark.parametrize(("action", "activity"), [("set", 3), ("create", 1), ("delete", 4), ("invoke", 99)])
def test_the_activity_follows_from_the_effect(action: str, activity: int) -> None:
    body = decided("allow")
    body["effects"][0]["action"] = action
    event = api_activity(record(Stage.DECIDED, body))
    assert (event["activity_id"], event["type_uid"]) == (activity, 600300 + activity)


def test_a_resource_has_its_values() -> None:
    [resource] = api_activity(record(Stage.DECIDED, decided("allow")))["resources"]
    assert resource["uid"] == "aws_sqs_queue.q"
    assert resource["data"] == {"attribute": "delay", "action": "set", "before": 1, "value": 2, "declared": 1}


def test_a_stranger_is_unauthorized_and_an_address_that_is_none_is_a_name() -> None:
    body = {"code": "not_authenticated", "reason": "No key.", "peer": "socket", "about": "POST /"}
    event = api_activity(record(Stage.TURNED_AWAY, body, actor="", mutation_id=""))
    assert (event["action_id"], event["disposition_id"], event["severity_id"]) == (2, 26, 3)
    assert event["src_endpoint"] == {"name": "socket"}
    assert event["api"]["operation"] == "POST /"


def test_a_known_caller_turned_away_names_its_operation() -> None:
    event = api_activity(record(Stage.TURNED_AWAY, {"about": "sqs:SendMessage"}))
    assert (event["api"]["operation"], event["api"]["service"]["name"]) == ("SendMessage", "sqs.amazonaws.com")
