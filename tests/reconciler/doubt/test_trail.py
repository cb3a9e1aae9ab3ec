"""CloudTrail settles a mutation by its own event alone."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.model.resolution import SettledBy
from reconciler.doubt.trail import found_in_trail
from reconciler.doubt.verdict import Answer
from tests.reconciler.doubt.test_verdict import NOW, ONE

ID = "mut_" + "a" * 26
APPLIED = ONE.__class__(**{name: getattr(ONE, name) for name in ONE.__slots__} | {"id": ID})
EVENT = {
    "eventSource": "sqs.amazonaws.com",
    "eventName": "SetQueueAttributes",
    "eventTime": NOW.isoformat().replace("+00:00", "Z"),
    "userAgent": f"sentinel/0.1.0 mutation/{ID}",
    "requestID": "r-7",
}


@pytest.fixture
def trail(tmp_path: Path) -> Any:
    def write(*events: Any) -> Path:
        path = tmp_path / "events.json"
        path.write_text(json.dumps({"Records": events}))
        return path

    return write


OWN: dict[str, tuple[dict[str, Any], Answer]] = {
    "a success": ({}, Answer.APPLIED),
    "a refusal": ({"errorCode": "InvalidParameterValue"}, Answer.FAILED),
    "a refused signature": ({"errorCode": "AccessDenied"}, Answer.FAILED),
    "an operation with its version": ({"eventName": "SetQueueAttributes20150331v2"}, Answer.APPLIED),
    "a user agent in brackets": ({"userAgent": f"[sentinel/0.1.0 mutation/{ID}]"}, Answer.APPLIED),
}


@pytest.mark.parametrize("case", OWN.values(), ids=OWN.keys())
def test_its_own_event_settles_it(trail: Any, case: tuple[dict[str, Any], Answer]) -> None:
    members, expected = case
    verdict = found_in_trail(trail({"eventName": "Other"}, {**EVENT, **members}), APPLIED)
    assert verdict is not None
    assert (verdict.answer, verdict.by, verdict.request_id) == (expected, SettledBy.CLOUDTRAIL, "r-7")


OTHER: dict[str, dict[str, Any]] = {
    "another mutation": {"userAgent": "sentinel/0.1.0 mutation/mut_" + "b" * 26},
    "its id somewhere in a user agent": {"userAgent": f"aws-cli/2 sentinel/0.1.0 mutation/{ID} more"},
    "its id alone": {"userAgent": ID},
    "another operation": {"eventName": "PurgeQueue"},
    "a longer operation": {"eventName": "SetQueueAttributesBatch"},
    "long before": {"eventTime": (NOW - timedelta(hours=1)).isoformat()},
    "long after": {"eventTime": (NOW + timedelta(hours=1)).isoformat()},
    "no time": {"eventTime": "yesterday"},
    "an error of AWS's own": {"errorCode": "InternalFailure"},
    "an unavailable service": {"errorCode": "ServiceUnavailable"},
    "a timeout": {"errorCode": "RequestTimeout"},
    "no user agent": {"userAgent": None},
}


@pytest.mark.parametrize("members", OTHER.values(), ids=OTHER.keys())
def test_any_other_event_settles_nothing(trail: Any, members: dict[str, Any]) -> None:
    assert found_in_trail(trail({**EVENT, **members}), APPLIED) is None


def test_events_that_contradict_each_other_settle_nothing(trail: Any) -> None:
    assert found_in_trail(trail(EVENT, {**EVENT, "errorCode": "AccessDenied"}), APPLIED) is None
    assert found_in_trail(trail(EVENT, {**EVENT, "errorCode": "InternalFailure"}), APPLIED) is None
    assert found_in_trail(trail(), APPLIED) is None


def test_a_directory_and_results_of_lookup_events_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"Events": [{"CloudTrailEvent": json.dumps(EVENT)}]}))
    (tmp_path / "b.json").write_text(json.dumps({"Events": [{"CloudTrailEvent": "{"}, None, 1]}))
    assert found_in_trail(tmp_path, APPLIED) is not None
