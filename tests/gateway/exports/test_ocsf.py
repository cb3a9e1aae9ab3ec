"""Every record is a valid event of OCSF 1.8, judged by OCSF's own schema, and the schema would notice."""

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # ships no types
import pytest
from ocsf_json_schema import OcsfJsonSchemaEmbedded, get_ocsf_schema

from gateway.core.records.record import Stage
from gateway.exports.ocsf import (
    _ENTITIES,
    CALL_STAGES,
    actor_of,
    api_activity,
    chain_members,
    common_members,
    entity_management,
    labels_of,
    milliseconds,
    ocsf_event,
    ocsf_place,
)
from gateway.ledger.ask.exports import ExportedRecord
from tests.kit.exports import record

CLASSES = {6003: "api_activity", 3004: "entity_management"}


@cache
def judge(class_uid: int) -> Any:
    """The schema of a class, with the profiles that events name."""
    schema = OcsfJsonSchemaEmbedded(get_ocsf_schema("1.8.0"))
    profiles = ["cloud", "datetime", "security_control"]
    return jsonschema.Draft202012Validator(schema.get_class_schema(CLASSES[class_uid], profiles=profiles))


def objections(event: Mapping[str, Any]) -> list[str]:
    """What the schema has against an event."""
    return [error.message for error in judge(event["class_uid"]).iter_errors(event)]


def test_every_stage_is_a_valid_event(records: Sequence[ExportedRecord]) -> None:
    assert {exported.row.stage for exported in records} == set(Stage)
    for exported in records:
        event = json.loads(ocsf_event(exported))
        assert not objections(event), (exported.row.stage, event)
        assert event["metadata"]["sequence"] == exported.row.seq
        assert event["metadata"]["uid"] == exported.row.hash
        assert event["unmapped"]["sentinel"]["previous"] == exported.row.previous


@pytest.mark.parametrize(
    "spoil",
    [
        lambda event: event.pop("api"),
        lambda event: event.pop("time"),
        lambda event: event.pop("src_endpoint"),
        lambda event: event.update(actor={}),
        lambda event: event.update(severity_id=77),
        lambda event: event.update(why="because"),
    ],
)
def test_the_schema_refuses_what_is_not_valid(
    records: Sequence[ExportedRecord], spoil: Callable[[dict[str, Any]], object]
) -> None:
    decided = next(record for record in records if record.row.stage == Stage.DECIDED)
    event = json.loads(ocsf_event(decided))
    spoiled = copy.deepcopy(event)
    spoil(spoiled)
    assert not objections(event)
    assert objections(spoiled)


def test_each_class_is_a_source_of_its_own(records: Sequence[ExportedRecord]) -> None:
    for exported in records:
        source, region, account, day = ocsf_place(exported).split("/")
        assert source == CLASSES[json.loads(ocsf_event(exported))["class_uid"]]
        assert (region, account, day) == ("region=global", "accountId=unknown", "eventDay=20260301")


DECIDED = {
    "caller": {"kind": "agent", "key_id": "SNTL1", "on_behalf_of": "carol"},
    "call": {"service": "sqs", "operation": "SetQueueAttributes", "account": "123456789012", "region": "eu-west-1"},
    "motive": {"intent": "cost", "motivation": "budget"},
}


def test_the_common_members_say_who_where_and_when() -> None:
    members = common_members(record(Stage.DECIDED, DECIDED))
    assert members["time"] == milliseconds("2026-11-22T12:00:00.000001Z") == 1795348800000
    assert members["cloud"] == {
        "provider": "AWS",
        "region": "eu-west-1",
        "account": {"uid": "123456789012", "type_id": 10, "type": "AWS Account"},
    }
    assert members["metadata"]["labels"] == ["intent:cost", "motivation:budget", "stack:shop"]
    assert members["metadata"]["correlation_uid"] == "mut_1"


def test_the_actor_is_named_with_its_key_and_principal() -> None:
    actor = actor_of(record(Stage.DECIDED, DECIDED))
    assert actor["user"] == {"uid": "agent", "name": "agent", "type_id": 4, "type": "Service"}
    assert actor["session"] == {"uid": "SNTL1"}
    assert actor["invoked_by"] == "carol"


def test_a_human_is_a_user_and_a_stranger_is_unknown() -> None:
    assert actor_of(record(Stage.APPROVED, {}, actor="ana"))["user"]["type"] == "User"
    assert actor_of(record(Stage.TURNED_AWAY, {}, actor=""))["user"]["uid"] == "unknown"


def test_an_outcome_has_the_motive_of_its_decision() -> None:
    settled = record(Stage.SETTLED, {"outcome": "applied"}, decided=DECIDED)
    assert labels_of(settled)["intent"] == "cost"
    assert actor_of(settled)["user"]["type"] == "Service"


def test_an_event_says_where_it_stands_in_the_chain() -> None:
    assert chain_members(record(Stage.EXPIRED, {})) == {
        "seq": 7,
        "version": 1,
        "previous": "0" * 64,
        "hash": "ab" * 32,
    }


def test_every_other_stage_has_an_entity() -> None:
    assert set(_ENTITIES) == set(Stage) - CALL_STAGES


def test_an_approval_is_activated_by_a_person_and_a_broken_glass_is_severe() -> None:
    event = entity_management(record(Stage.APPROVED, {"approval": "apr_1", "reason": "Fine."}, actor="ana"))
    assert (event["activity_id"], event["entity"]["uid"], event["comment"]) == (10, "apr_1", "Fine.")
    assert event["actor"]["user"]["uid"] == "ana"
    assert entity_management(record(Stage.BROKE_GLASS, {"approval": "apr_1"}))["severity_id"] == 4


def test_what_is_known_of_the_call_is_there() -> None:
    decided = {"call": {"service": "sqs", "operation": "SetQueueAttributes"}}
    event = entity_management(record(Stage.EXPIRED, {"claim": "clm_1"}, decided=decided))
    assert event["api"]["operation"] == "SetQueueAttributes"
    assert event["entity"] == {"uid": "clm_1", "name": "clm_1", "type": "claim", "data": {"claim": "clm_1"}}


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
