"""The CloudTrail form is read back by our own reader and by DuckDB, as any tool for CloudTrail would read it."""

import json
from collections.abc import Sequence
from pathlib import Path

from gateway.core.model.export_format import ExportFormatName
from gateway.core.records.record import Stage
from gateway.exports.cloudtrail import cloudtrail_event, cloudtrail_place, is_call
from gateway.exports.columns import open_duckdb
from gateway.exports.formats import FORMATS
from gateway.ledger.ask.exports import ExportedRecord
from reconciler.changes.creating_events import Place, told
from reconciler.changes.event_file import read_events
from tests.kit.exports import record

FORM = FORMATS[ExportFormatName.CLOUDTRAIL]


def _file(records: Sequence[ExportedRecord], directory: Path) -> Path:
    path = directory / "events.json.gz"
    path.write_bytes(FORM.pack(FORM.content([FORM.line(each) for each in records if FORM.has(each)])))
    return path


def test_our_own_reader_finds_every_change_and_nothing_else(records: Sequence[ExportedRecord], tmp_path: Path) -> None:
    applied = [each for each in records if each.row.stage == Stage.SETTLED and each.body["outcome"] == "applied"]
    found = read_events(_file(records, tmp_path))
    assert not found.bad
    assert applied
    assert [event.origin.actor for event in found.events] == [each.row.actor for each in applied]
    assert {event.origin.event for event in found.events} == {"sqs:Set"}
    assert len({event.origin.event_id for event in found.events}) == len(applied)


def test_duckdb_reads_it_as_it_reads_cloudtrail(records: Sequence[ExportedRecord], tmp_path: Path) -> None:
    file = _file(records, tmp_path)
    query = "SELECT event.errorCode, count(*) FROM (SELECT unnest(Records) AS event FROM read_json(?)) GROUP BY ALL"
    with open_duckdb() as connection:
        counted = dict(connection.execute(query, [str(file)]).fetchall())
    assert sum(counted.values()) == sum(map(is_call, records))
    assert counted["AccessDenied"] > 0
    assert counted["OutcomeUnknown"] > 0
    assert counted[None] == sum(
        1 for each in records if each.row.stage == Stage.SETTLED and each.body["outcome"] == "applied"
    )


def test_an_event_has_what_investigators_ask_cloudtrail_for() -> None:
    decided = {
        "caller": {"kind": "agent", "key_id": "SNTL1", "on_behalf_of": "carol"},
        "call": {
            "service": "cloudwatch",
            "operation": "PutMetricAlarm",
            "account": "123456789012",
            "region": "eu-west-1",
            "parameters": {"AlarmName": "lag"},
        },
        "sender": {"peer": "10.0.0.9", "user_agent": "Boto3/1.43"},
        "motive": {"intent": "cost", "motivation": "budget", "text": "cheaper"},
        "effects": [{"address": "aws_cloudwatch_metric_alarm.lag"}],
    }
    settled = record(Stage.SETTLED, {"outcome": "applied", "request_id": "r-1"}, decided=decided)
    event = json.loads(cloudtrail_event(settled))
    assert event["eventSource"] == "monitoring.amazonaws.com"
    assert event["userIdentity"]["userName"] == "agent"
    assert event["userIdentity"]["sessionContext"]["sourceIdentity"] == "agent"
    assert event["requestParameters"] == {"alarmName": "lag"}
    assert (event["sourceIPAddress"], event["userAgent"]) == ("10.0.0.9", "Boto3/1.43")
    assert event["additionalEventData"]["sentinel"]["motivation"] == "budget"
    assert event["additionalEventData"]["sentinel"]["addresses"] == ["aws_cloudwatch_metric_alarm.lag"]
    assert (event["eventTime"], event["requestID"]) == ("2026-11-22T12:00:00Z", "r-1")
    assert cloudtrail_place(settled) == "AWSLogs/123456789012/CloudTrail/eu-west-1/2026/11/22"


def test_a_stranger_is_denied_and_changes_nothing() -> None:
    event = json.loads(cloudtrail_event(record(Stage.TURNED_AWAY, {"reason": "No key.", "peer": "::1"}, actor="")))
    assert (event["errorCode"], event["userIdentity"]["type"]) == ("AccessDenied", "SentinelStranger")
    assert (event["eventSource"], event["eventName"]) == ("sentinel.amazonaws.com", "TurnedAway")


def test_a_decision_that_is_carried_out_has_its_event_with_the_outcome() -> None:
    assert not is_call(record(Stage.DECIDED, {"decision": {"verdict": "allow", "carried_out": True}}))
    assert is_call(record(Stage.DECIDED, {"decision": {"verdict": "deny", "carried_out": False}}))
    assert not is_call(record(Stage.APPROVED, {}))


def test_what_the_ledger_says_was_created_is_found_as_what_a_trail_says(tmp_path: Path) -> None:
    """`sentinel reconcile --events` reads the export: nobody's creation is passed over because it went through the gateway."""
    call = {"service": "elbv2", "operation": "CreateTargetGroup", "account": "", "region": "", "parameters": {"Name": "spare"}}  # fmt: skip
    settled = record(Stage.SETTLED, {"outcome": "applied", "made": "arn:tg/spare"}, decided={"call": call})
    (creation,) = told(read_events(_file([settled], tmp_path)).events, Place(accounts=frozenset({"1"}))).creations
    assert creation.event.origin.event == "elasticloadbalancing:CreateTargetGroup"
    assert creation.values.texts >= {"spare", "arn:tg/spare"}
    assert creation.elsewhere == "", "an account and a region that the record does not say are no other ones"
    assert "aws_lb_target_group" in creation.types
