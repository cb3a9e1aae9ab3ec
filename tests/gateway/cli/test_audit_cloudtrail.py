"""What AWS's log tells and the ledger does not, the other way round, and what they tell differently."""

import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from gateway.cli import audit_cloudtrail
from gateway.cli.trail_audit import Audit, Sent, audited, logged_writes
from gateway.core.model.mutation import CallClass
from gateway.core.records.record import Stage
from tests.kit.gate import ASG, Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ACCOUNT = "123456789012"
MUTATION = "mut_" + "0" * 26
SENT = Sent(
    id=MUTATION,
    at=NOON,
    actor="team/ana",
    service="autoscaling",
    operation="SetDesiredCapacity",
    account=ACCOUNT,
    region="us-east-1",
    call_class=CallClass.MUTATION,
    parameters={"AutoScalingGroupName": "web", "DesiredCapacity": 4, "HonorCooldown": False},
    outcome="applied",
    request_id="req-1",
)
EVENT: dict[str, Any] = {
    "eventID": "e-1",
    "eventTime": "2026-03-01T12:00:01Z",
    "eventSource": "autoscaling.amazonaws.com",
    "eventName": "SetDesiredCapacity",
    "awsRegion": "us-east-1",
    "recipientAccountId": ACCOUNT,
    "readOnly": False,
    "requestID": "req-1",
    "userAgent": f"[sentinel/0.1 mutation/{MUTATION}]",
    "userIdentity": {"type": "AssumedRole", "arn": f"arn:aws:sts::{ACCOUNT}:assumed-role/changes/{MUTATION}"},
    "requestParameters": {"autoScalingGroupName": "web", "desiredCapacity": 4, "honorCooldown": False},
}
HOURS = ("2026-03-01T11:00:00Z", "2026-03-01T13:00:00Z")
"""Events of AWS itself at the ends of the time that the trail covers."""


def _edges() -> list[dict[str, Any]]:
    by_aws = {"type": "AWSService", "invokedBy": "autoscaling.amazonaws.com"}
    return [{**EVENT, "eventTime": at, "userAgent": "x", "requestID": at, "userIdentity": by_aws} for at in HOURS]


def _audited(sent: list[Sent], *records: Any) -> Audit:
    events, unread = logged_writes([*_edges(), *records])
    return audited(sent, events, unread=unread)


def _found(audit: Audit) -> list[tuple[str, str]]:
    return [(each.kind, each.why) for each in audit.findings]


def test_what_both_tell_alike_is_no_finding() -> None:
    done = _audited([SENT], EVENT)
    assert (done.findings, done.matched, done.by_services, done.unread) == ((), 1, 2, 0)


@pytest.mark.parametrize("told_by", ["requestID", "userAgent", "arn"])
def test_an_event_is_known_by_any_of_its_three_marks(told_by: str) -> None:
    event = {**EVENT, "requestID": "other", "userAgent": "none", "userIdentity": {"arn": "arn:aws:iam::1:role/x"}}
    if told_by == "arn":
        event["userIdentity"] = EVENT["userIdentity"]
    else:
        event[told_by] = EVENT[told_by]
    assert _found(_audited([SENT], event)) == []


DIFFERS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "another operation": ({"eventName": "DeleteAutoScalingGroup"}, {}, "tells autoscaling:DeleteAutoScalingGroup"),
    "another service": ({"eventSource": "ec2.amazonaws.com"}, {}, "tells ec2:SetDesiredCapacity"),
    "another value": ({"requestParameters": {"desiredCapacity": 40}}, {}, "parameter DesiredCapacity is another"),
    "another region": ({"awsRegion": "eu-west-1"}, {}, "in eu-west-1, and it was sent to us-east-1"),
    "another account": ({"recipientAccountId": "9"}, {}, "in the account 9"),
    "refused": ({"errorCode": "AccessDenied"}, {}, "AWS refused it (AccessDenied)"),
    "carried out": ({}, {"outcome": "failed"}, "the trail shows no error"),
    "in doubt": ({}, {"outcome": "in_doubt"}, "was carried out: `sentinel settle`"),
    "another person": (
        {"userIdentity": {**EVENT["userIdentity"], "sessionContext": {"sourceIdentity": "eve"}}},
        {},
        "Its source identity is eve",
    ),
}


@pytest.mark.parametrize("case", DIFFERS)
def test_what_differs_is_told(case: str) -> None:
    event, sent, why = DIFFERS[case]
    (finding,) = _found(_audited([replace(SENT, **sent)], {**EVENT, **event}))
    assert finding[0] == "differing"
    assert why in finding[1]


def test_a_change_that_was_sent_twice_is_told() -> None:
    (finding,) = _found(_audited([SENT], EVENT, {**EVENT, "eventID": "e-2", "requestID": "req-2"}))
    assert "tells it 2 times" in finding[1]


@pytest.mark.parametrize(
    ("recorded", "logged"),
    [
        ("x", "HIDDEN_DUE_TO_SECURITY_REASONS"),
        ("hmac_sha256:0123456789abcdef", "x"),
        (True, "true"),
        (4, "4"),
        ({"a": 1}, "x"),
        ("x", None),
    ],
)
def test_what_cannot_be_compared_is_no_difference(recorded: Any, logged: Any) -> None:
    sent = replace(SENT, parameters={"Name": recorded})
    assert _found(_audited([sent], {**EVENT, "requestParameters": {"name": logged}})) == []


@pytest.mark.parametrize("name", ["CreateFunction20150331", "CreateFunction20150331v2", "CreateFunction"])
def test_names_with_a_version_are_the_same_operation(name: str) -> None:
    sent = replace(SENT, service="lambda", operation="CreateFunction", parameters={})
    event = {**EVENT, "eventSource": "lambda.amazonaws.com", "eventName": name}
    assert _found(_audited([sent], event)) == []


FOREIGN: dict[str, tuple[dict[str, Any], bool]] = {
    "a person": ({"userAgent": "aws-cli", "requestID": "z", "userIdentity": {"arn": "arn:aws:iam::1:user/eve"}}, True),
    "a made-up mutation": ({"userAgent": "mutation/mut_" + "1" * 26, "requestID": "z", "userIdentity": {}}, True),
    "somebody by CloudFormation": (
        {
            "userAgent": "x",
            "requestID": "z",
            "userIdentity": {"type": "AssumedRole", "arn": "a", "invokedBy": "cloudformation.amazonaws.com"},
        },
        True,
    ),
    "refused": ({"userAgent": "x", "requestID": "z", "userIdentity": {}, "errorCode": "AccessDenied"}, False),
    "a read": ({"userAgent": "x", "requestID": "z", "userIdentity": {}, "readOnly": True}, False),
    "data that passed": ({"userAgent": "mutation/dat_" + "1" * 26, "requestID": "z", "userIdentity": {}}, False),
    "a service by its own role": (
        {
            "userAgent": "x",
            "requestID": "z",
            "userIdentity": {
                "arn": "arn:aws:sts::1:assumed-role/AWSServiceRoleForX/y",
                "invokedBy": "x.amazonaws.com",
                "sessionContext": {"sessionIssuer": {"arn": "arn:aws:iam::1:role/aws-service-role/x/y"}},
            },
        },
        False,
    ),
}


@pytest.mark.parametrize("case", FOREIGN)
def test_a_write_that_sentinel_did_not_send_is_foreign(case: str) -> None:
    event, foreign = FOREIGN[case]
    done = _audited([SENT], EVENT, {**EVENT, "eventID": "e-2", **event})
    assert [each.kind for each in done.findings] == (["foreign"] if foreign else [])


@pytest.mark.parametrize(
    ("sent", "missing"),
    [
        ({}, True),
        ({"outcome": "failed"}, False),
        ({"outcome": "in_doubt"}, False),
        ({"at": NOON + timedelta(minutes=58)}, False),
        ({"at": NOON - timedelta(hours=2)}, False),
        ({"region": "eu-west-1"}, False),
        ({"account": "9"}, False),
        ({"call_class": CallClass.DATA}, False),
    ],
)
def test_a_change_is_missing_where_the_trail_would_tell_it(sent: dict[str, Any], missing: bool) -> None:
    done = _audited([replace(SENT, **sent)])
    assert [each.kind for each in done.findings] == (["missing"] if missing else [])


def test_records_that_are_no_events_are_counted() -> None:
    events, unread = logged_writes([None, {}, [], {**EVENT, "eventTime": "soon"}, EVENT])
    assert (len(events), unread) == (1, 4)
    assert audited([SENT], [], unread=1) == Audit(
        findings=(), events=0, matched=0, by_services=0, passed=0, not_covered=1, unread=1
    )


# The command ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    with Gate(tmp_path_factory.mktemp("audit")) as running:
        running.client("autoscaling").set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=6)
        yield running


@pytest.fixture
def config(gate: Gate, elsewhere: Path) -> Path:
    file = elsewhere / "sentinel.toml"
    file.write_text(f'data = "{gate.directory / "data"}"\n')
    return file


def _event_of(gate: Gate, **changes: Any) -> dict[str, Any]:
    record: Any = gate.records(stage=Stage.DECIDED)[-1]
    at = record.at
    return {
        **EVENT,
        "eventTime": f"{at:%Y-%m-%dT%H:%M:%SZ}",
        "recipientAccountId": record.body.call.account or ACCOUNT,
        "requestID": "seen",
        "userAgent": f"sentinel/0 mutation/{record.mutation_id}",
        "userIdentity": {"arn": "arn:aws:iam::1:role/gateway"},
        "requestParameters": {"autoScalingGroupName": ASG, "desiredCapacity": 6},
        **changes,
    }


Document = Callable[..., tuple[int, Any]]


def test_the_command_compares_files(gate: Gate, config: Path, document: Document, tmp_path: Path) -> None:
    own = _event_of(gate)
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(json.dumps({"Records": [own]}).encode()))
    code, said = document("audit-cloudtrail", str(tmp_path), "--config", str(config))
    assert (code, said["matched"], said["findings"]) == (0, 1, []), said
    foreign = _event_of(gate, userAgent="console", userIdentity={"arn": "arn:aws:iam::1:user/eve"}, eventID="e-9")
    (tmp_path / "b.json").write_text(json.dumps([foreign]))
    code, said = document("audit-cloudtrail", str(tmp_path), "--config", str(config))
    assert (code, [(each["kind"], each["event"]) for each in said["findings"]]) == (2, [("foreign", "e-9")])
    code, said = document(
        "audit-cloudtrail", str(tmp_path / "b.json"), "--since", "2020-01-01", "--until", "2020-02-01"
    )
    assert (code, said["events"]) == (0, 0)


def test_the_command_shows_what_it_found(gate: Gate, config: Path, sentinel: Any, tmp_path: Path) -> None:
    other = _event_of(gate, requestParameters={"desiredCapacity": 60})
    (tmp_path / "a.json").write_text("\n".join((json.dumps(other), "no json")))
    done = sentinel("audit-cloudtrail", str(tmp_path / "a.json"), "--config", str(config))
    assert done.exit_code == 2
    assert "differing: autoscaling:SetDesiredCapacity" in done.stdout
    assert "1 record(s) that are no events" in done.stdout


def test_the_command_asks_cloudtrail(
    gate: Gate, config: Path, document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    class Trail:
        """CloudTrail, as boto3 shows it."""

        def get_paginator(self, _name: str) -> "Trail":
            return self

        def paginate(self, **given: Any) -> Iterator[Any]:
            asked.append(given)
            yield {"Events": [{"CloudTrailEvent": json.dumps(_event_of(gate))}]}

    def clients(_settings: Any, region: str) -> Any:
        asked.append(region)
        return lambda _service: Trail()

    monkeypatch.setattr("gateway.cli.aws_clients.aws_clients", clients)
    code, said = document("audit-cloudtrail", "--lookup", "--region", "eu-west-1", "--config", str(config))
    assert (code, said["matched"]) == (0, 1)
    assert asked[0] == "eu-west-1"
    assert asked[1]["LookupAttributes"] == [{"AttributeKey": "ReadOnly", "AttributeValue": "false"}]
    assert asked[1]["StartTime"] < datetime.now(UTC)

    def refused(*_: Any, **__: Any) -> Any:
        raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "LookupEvents")

    monkeypatch.setattr(Trail, "paginate", refused)
    code, said = document("audit-cloudtrail", "--lookup", "--config", str(config))
    assert code == 1
    assert "could not be asked" in json.dumps(said)


def test_bad_input_is_a_sentence(config: Path, document: Document, tmp_path: Path) -> None:
    for given in ((), (str(tmp_path), "--lookup"), (str(tmp_path),), (str(tmp_path / "none.json"),)):
        code, said = document("audit-cloudtrail", *given, "--config", str(config))
        assert code == 1
        assert said["detail"].endswith("."), said


def test_many_pages_of_the_ledger_are_read(
    gate: Gate, config: Path, document: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_cloudtrail, "_PAGE", 1)
    gate.client("autoscaling").set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=7)
    event = _event_of(gate, requestParameters={"desiredCapacity": 7})
    (tmp_path / "a.json").write_text(json.dumps([event]))
    code, said = document("audit-cloudtrail", str(tmp_path / "a.json"), "--config", str(config))
    assert (code, said["matched"]) == (0, 1), said
