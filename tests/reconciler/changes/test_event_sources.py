"""Events are read from every kind of source, without the gateway's own; a source that fails hides none of the others."""

import gzip
import io
import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.core.settings.publish import EventSourceKind, EventSourceSettings
from reconciler.changes.event_sources import EventSources, QueueSource, open_sources

NOW = datetime(2026, 1, 2, 12, tzinfo=UTC)
SINCE = NOW - timedelta(days=1)
OWN = "arn:aws:iam::111122223333:role/gateway"


def _record(
    name: str = "SetQueueAttributes", *, actor: str = "arn:aws:iam::1:user/bob", at: datetime = NOW, **more: Any
) -> dict[str, Any]:
    identity = {"type": "IAMUser", "arn": actor}
    return {
        "eventSource": "sqs.amazonaws.com",
        "eventName": name,
        "eventTime": at.isoformat(),
        "userIdentity": identity,
        "requestParameters": {"queueUrl": "q"},
        **more,
    }


class Aws:
    """boto3 clients that answer from memory."""

    def __init__(self, *records: dict[str, Any]) -> None:
        self.records = records
        self.deleted: list[str] = []
        self.asked: list[tuple[str, str]] = []
        self.delivered = 0

    def __call__(self, service: str, region: str) -> "Aws":
        self.asked.append((service, region))
        return self

    def get_paginator(self, name: str) -> Any:
        self.page = name
        return self

    def paginate(self, **given: Any) -> list[dict[str, Any]]:
        if self.page == "lookup_events":
            assert given["StartTime"] == SINCE
            return [{"Events": [{"CloudTrailEvent": json.dumps(record)}]} for record in self.records]
        entry = {"LastModified": NOW}
        keys = [
            "AWSLogs/1/CloudTrail/torn.json.gz",
            "AWSLogs/1/CloudTrail/a.json.gz",
            "AWSLogs/1/CloudTrail-Digest/b.json.gz",
            "AWSLogs/readme",
        ]
        return [
            {"Contents": [{**entry, "Key": key} for key in keys]},
            {"Contents": [{"Key": "AWSLogs/old.json.gz", "LastModified": SINCE - timedelta(days=1)}]},
            {},
        ]

    def get_object(self, *, Bucket: str, Key: str) -> dict[str, Any]:  # noqa: N803  boto3's names
        if Key.endswith("torn.json.gz"):
            return {"Body": io.BytesIO(b"\x1f\x8b")}
        assert (Bucket, Key) == ("trail", "AWSLogs/1/CloudTrail/a.json.gz")
        return {"Body": io.BytesIO(gzip.compress(json.dumps({"Records": self.records}).encode()))}

    def receive_message(self, **_: Any) -> dict[str, Any]:
        if self.delivered:
            return {}
        self.delivered += 1
        bodies = [
            json.dumps({"detail-type": "AWS API Call via CloudTrail", "detail": record}) for record in self.records
        ]
        return {
            "Messages": [
                {"ReceiptHandle": str(number), "Body": body}
                for number, body in enumerate([*bodies, "no JSON", '{"detail": 3}', "[" * 200_000])
            ]
        }

    def delete_message(self, *, QueueUrl: str, ReceiptHandle: str) -> None:  # noqa: N803  boto3's names
        self.deleted.append(ReceiptHandle)


RECORDS = (_record(), _record(actor=OWN), _record("GetQueueUrl", readOnly=True), _record(at=SINCE - timedelta(days=3)))


@pytest.mark.parametrize(
    "given",
    [
        {"kind": EventSourceKind.BUCKET, "bucket": "trail"},
        {"kind": EventSourceKind.LOOKUP, "region": "eu-west-1"},
        {"kind": EventSourceKind.QUEUE, "url": "http://q"},
    ],
)
async def test_changes_of_others_are_read(given: dict[str, Any]) -> None:
    aws = Aws(*RECORDS)
    sources = open_sources([EventSourceSettings(**given)], aws, identity=OWN)
    [event] = await sources.since(SINCE)
    assert (event.origin.actor, event.origin.event) == ("arn:aws:iam::1:user/bob", "sqs:SetQueueAttributes")
    assert {region for _, region in aws.asked} == {given.get("region", "")}
    await sources.done()


async def test_files_are_read_as_cloudtrail_delivers_them(tmp_path: Path) -> None:
    day = tmp_path / "AWSLogs" / "1" / "CloudTrail" / "eu-west-1"
    day.mkdir(parents=True)
    (day / "a.json.gz").write_bytes(gzip.compress(json.dumps({"Records": RECORDS}).encode()))
    (day / "torn.json.gz").write_bytes(gzip.compress(b"{}")[:-5])
    (tmp_path / "b.json").write_text(json.dumps([_record("DeleteQueue")]))
    digest = tmp_path / "CloudTrail-Digest"
    digest.mkdir()
    (digest / "c.json").write_text(json.dumps([_record("CreateQueue")]))
    given = EventSourceSettings(kind=EventSourceKind.FILES, path=tmp_path)
    sources = open_sources([given], Aws(), identity=OWN)
    assert sorted(event.origin.event for event in await sources.since(SINCE)) == [
        "sqs:DeleteQueue",
        "sqs:SetQueueAttributes",
    ]
    await sources.done()


async def test_the_latest_events_count_and_no_more_than_so_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reconciler.changes.event_sources.MOST_EVENTS", 2)
    for age in range(3):
        file = tmp_path / f"{age}.json"
        file.write_text(json.dumps([_record(f"Set{age}"), _record("GetQueueUrl", readOnly=True)]))
        os.utime(file, times=(NOW.timestamp() - age, NOW.timestamp() - age))
    given = EventSourceSettings(kind=EventSourceKind.FILES, path=tmp_path)
    found = await open_sources([given], Aws(), identity="").since(SINCE)
    assert [event.origin.event for event in found] == ["sqs:Set0", "sqs:Set1"]


async def test_messages_are_deleted_only_when_what_they_tell_is_recorded() -> None:
    aws = Aws(*RECORDS[:1])
    sources = open_sources([EventSourceSettings(kind=EventSourceKind.QUEUE, url="http://q")], aws, identity="")
    assert len(await sources.since(SINCE)) == 1
    assert aws.deleted == []
    await sources.done()
    assert aws.deleted == ["0", "1", "2", "3"]
    assert len(await sources.since(SINCE)) == 1, "drift that it explains may be seen later"
    assert len(await sources.since(NOW + timedelta(days=1))) == 0


async def test_a_source_that_fails_hides_no_other(tmp_path: Path) -> None:
    def broken(service: str) -> Any:
        raise ConnectionError(service)

    (tmp_path / "a.json").write_text(json.dumps([_record()]))
    good = open_sources([EventSourceSettings(kind=EventSourceKind.FILES, path=tmp_path)], Aws(), identity="")
    queue = QueueSource(url="http://q", client=broken, handles=["1"])
    sources = EventSources(sources=(queue, *good.sources))
    assert len(await sources.since(SINCE)) == 1
    await sources.done()
    assert queue.handles == ["1"]
