"""The plan's document and the provider's log say what is true."""

import json
from pathlib import Path

from tests.bench.effects_truth.truth import read_planned, senders


def document(*actions: str, **change: object) -> dict[str, object]:
    return {
        "resource_changes": [
            {"address": "aws_sqs_queue.a", "mode": "managed", "change": {"actions": actions, **change}}
        ]
    }


def test_an_update_changes_what_differs_and_is_known() -> None:
    before = {"delay_seconds": 5, "name": "a", "policy": "x", "tags_all": {}}
    after = {"delay_seconds": 6, "name": "a", "policy": None, "tags_all": {"a": "b"}}
    planned = read_planned(document("update", before=before, after=after, after_unknown={"policy": True}))
    assert planned["aws_sqs_queue.a"].changed == {"delay_seconds"}


def test_what_stays_is_not_planned() -> None:
    assert read_planned(document("no-op", before={}, after={})) == {}


def test_a_replacement_creates_and_deletes() -> None:
    change = read_planned(document("delete", "create", before={"name": "a"}, after={"name": "b"}))["aws_sqs_queue.a"]
    assert (change.creates, change.deletes, change.changed) == (True, True, frozenset())


def test_the_log_says_which_type_sent_a_request(tmp_path: Path) -> None:
    entry = {
        "@message": "HTTP Request Sent",
        "http.request.header.amz_sdk_invocation_id": "one",
        "tf_resource_type": "aws_sqs_queue",
    }
    log = tmp_path / "log"
    log.write_text(json.dumps(entry, separators=(",", ":")) + "\nnoise\n")
    found, end = senders(log, 0)
    assert found == {"one": "aws_sqs_queue"}
    assert senders(log, end) == ({}, end)
