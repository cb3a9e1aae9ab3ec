"""Events show who made a change; a record that cannot be read is reported and not fatal."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from gateway.core.cloudtrail_files import event_files, read_records
from gateway.core.errors import EventsInvalid
from reconciler.changes.cloudtrail import origins
from reconciler.changes.event_file import read_events
from reconciler.terraform.plan import ResourceChange, TerraformPlan


def _record(**changes: Any) -> dict[str, Any]:
    return {
        "eventSource": "autoscaling.amazonaws.com",
        "eventName": "SetDesiredCapacity",
        "eventTime": "2026-11-20T10:00:00Z",
        "eventID": "e1",
        "userIdentity": {"type": "IAMUser", "arn": "arn:aws:iam::1:user/mallory", "userName": "mallory"},
        "requestParameters": {"autoScalingGroupName": "web", "desiredCapacity": 5},
    } | changes


def _plan(attribute: str = "desired_capacity", **attributes: Any) -> TerraformPlan:
    address = "aws_autoscaling_group.web"
    given = {"name": "web", "id": "web", "arn": "arn:aws:autoscaling:eu:1:group:web"} | attributes
    change = ResourceChange(address=address, attribute=attribute, live=5, other=2)
    return TerraformPlan(changes=(change,), drift=(change,), configured={}, outputs=(), objects={address: given})


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "events.json"
    path.write_text(text)
    return path


def _maker(tmp_path: Path, *records: Any, plan: TerraformPlan | None = None) -> str:
    events = read_events(_file(tmp_path, json.dumps({"Records": records}))).events
    found = origins(events, plan or _plan())
    return next((origin.actor for origin in found.values()), "")


@pytest.mark.parametrize(
    "form",
    [
        lambda record: json.dumps({"Records": [record]}),
        lambda record: json.dumps([record]),
        json.dumps,
        lambda record: f"{json.dumps(record)}\n\n{json.dumps(record)}\n",
        lambda record: json.dumps({"Events": [{"CloudTrailEvent": json.dumps(record)}]}),
        lambda record: "\ufeff" + json.dumps([record]),
    ],
)
def test_every_form_of_file_is_read(tmp_path: Path, form: Any) -> None:
    events = read_events(_file(tmp_path, form(_record()))).events
    assert {event.origin.event for event in events} == {"autoscaling:SetDesiredCapacity"}


@pytest.mark.parametrize("text", ["", "not json", '{"Records": 5}', "17", '"x"'])
def test_what_is_no_file_of_events_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(EventsInvalid):
        read_events(_file(tmp_path, text))


def test_bytes_that_are_no_text_and_a_missing_file_are_errors(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "x", tmp_path / "gone"):
        with pytest.raises(EventsInvalid):
            read_events(path)


@pytest.mark.parametrize(
    "bad", [17, None, "x", [], {}, {"eventSource": "a"}, _record(eventTime="yesterday"), _record(userIdentity=3)]
)
def test_a_bad_record_is_reported_with_its_index_and_skipped(tmp_path: Path, bad: Any) -> None:
    found = read_events(_file(tmp_path, json.dumps([_record(), bad])))
    assert len(found.events) == 1
    assert len(found.bad) == 1
    assert "Record 1 " in found.bad[0]


def test_the_latest_wins(tmp_path: Path) -> None:
    late = _record(eventTime="2026-11-20T12:00:00Z", userIdentity={"type": "IAMUser", "userName": "bob"})
    assert _maker(tmp_path, late, _record()) == "bob"


def test_one_that_names_the_attribute_goes_before_a_later_one(tmp_path: Path) -> None:
    late = _record(eventTime="2026-11-20T12:00:00Z", requestParameters={"autoScalingGroupName": "web", "maxSize": 9})
    assert _maker(tmp_path, late | {"userIdentity": {"userName": "bob"}}, _record()).endswith("mallory")


@pytest.mark.parametrize(
    "changes",
    [
        {"errorCode": "AccessDenied"},
        {"readOnly": True},
        {"eventSource": "sqs.amazonaws.com"},
        {"requestParameters": {"autoScalingGroupName": "web-2"}},
        {"requestParameters": None},
    ],
)
def test_what_failed_only_read_or_concerns_another_resource_made_nothing(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    assert _maker(tmp_path, _record(**changes)) == ""


@pytest.mark.parametrize(
    ("identity", "actor"),
    [
        ({"type": "AWSService", "invokedBy": "autoscaling.amazonaws.com"}, "autoscaling.amazonaws.com"),
        (
            {
                "type": "AssumedRole",
                "arn": "arn:aws:sts::1:assumed-role/AWSServiceRoleForAutoScaling/AutoScaling",
                "sessionContext": {
                    "sessionIssuer": {
                        "arn": "arn:aws:iam::1:role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling"
                    }
                },
                "invokedBy": "autoscaling.amazonaws.com",
            },
            "autoscaling.amazonaws.com",
        ),
        # Somebody had a service make the call: it is their change, and no controller's.
        (
            {"type": "IAMUser", "arn": "arn:aws:iam::1:user/bob", "invokedBy": "cloudformation.amazonaws.com"},
            "arn:aws:iam::1:user/bob",
        ),
        ({"type": "AssumedRole", "sessionContext": {"sessionIssuer": {"arn": "arn:role"}}}, "arn:role"),
        ({"type": "Root"}, "Root"),
        ({}, "unknown"),
    ],
)
def test_the_most_telling_name_is_the_actor(tmp_path: Path, identity: dict[str, Any], actor: str) -> None:
    assert _maker(tmp_path, _record(userIdentity=identity)) == actor


@pytest.mark.parametrize(
    ("place", "actor"),
    [
        ({"recipientAccountId": "1", "awsRegion": "eu"}, "arn:aws:iam::1:user/mallory"),
        ({"recipientAccountId": "2"}, ""),
        ({"awsRegion": "us"}, ""),
    ],
)
def test_a_resource_of_the_same_name_in_another_place_is_another(
    tmp_path: Path, place: dict[str, Any], actor: str
) -> None:
    assert _maker(tmp_path, _record(**place)) == actor


def test_what_is_nested_too_deeply_is_no_file_of_events(tmp_path: Path) -> None:
    deep = "[" * 200_000
    with pytest.raises(EventsInvalid, match="too deeply"):
        read_records(_file(tmp_path, deep))
    assert read_records(_file(tmp_path, f'{{"eventName": "X"}}\n{deep}')) == [{"eventName": "X"}, None]


def test_compressed_files_are_read_up_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.json.gz"
    file.write_bytes(gzip.compress(b'[{"eventName": "X"}]'))
    assert read_records(file) == [{"eventName": "X"}]
    monkeypatch.setattr("gateway.core.cloudtrail_files.LARGEST", 50)
    for content in (gzip.compress(b"[" + b" " * 100 + b"]"), b"[" + b" " * 100 + b"]"):
        file.write_bytes(content)
        with pytest.raises(EventsInvalid, match="more than 50 bytes"):
            read_records(file)
    file.write_bytes(gzip.compress(b"[]")[:-4])
    with pytest.raises(EventsInvalid):
        read_records(file)


def test_files_are_found_where_cloudtrail_puts_them(tmp_path: Path) -> None:
    for name in ("a.json", "AWSLogs/1/CloudTrail/b.json.gz", "AWSLogs/1/CloudTrail-Digest/c.json.gz", "d.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert [file.name for file in event_files(tmp_path)] == ["b.json.gz", "a.json"]
    assert event_files(tmp_path / "a.json") == [tmp_path / "a.json"]
