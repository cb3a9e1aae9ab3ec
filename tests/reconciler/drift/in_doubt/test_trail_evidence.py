"""CloudTrail settles a mutation by its own event alone."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.core.model.outcome import SettledBy
from reconciler.drift.in_doubt.live_evidence import DoubtAnswer
from reconciler.drift.in_doubt.trail_evidence import Trail, verdict_of_trail
from tests.reconciler.drift.in_doubt.test_live_evidence import NOW, ONE

ID = "mut_" + "a" * 26
APPLIED = replace(ONE, id=ID)
ROLE = "arn:aws:iam::123456789012:role/service/sentinel"
USER = "arn:aws:iam::123456789012:user/sentinel"
WHO = {
    "type": "AssumedRole",
    "arn": "arn:aws:sts::123456789012:assumed-role/sentinel/i-1",
    "accountId": "123456789012",
    "sessionContext": {"sessionIssuer": {"type": "Role", "arn": ROLE}},
}
EVENT = {
    "eventSource": "sqs.amazonaws.com",
    "eventName": "SetQueueAttributes",
    "eventTime": NOW.isoformat().replace("+00:00", "Z"),
    "userAgent": f"sentinel/0.1.0 mutation/{ID}",
    "requestID": "r-7",
    "recipientAccountId": "123456789012",
    "userIdentity": WHO,
}


@pytest.fixture
def trail(tmp_path: Path) -> Any:
    def write(*events: Any) -> Trail:
        path = tmp_path / "events.json"
        path.write_text(json.dumps({"Records": events}))
        return Trail(path=path, identity=ROLE)

    return write


OWN: dict[str, tuple[dict[str, Any], DoubtAnswer]] = {
    "a success": ({}, DoubtAnswer.APPLIED),
    "a refusal": ({"errorCode": "InvalidParameterValue"}, DoubtAnswer.FAILED),
    "a refused signature": ({"errorCode": "AccessDenied"}, DoubtAnswer.FAILED),
    "an operation with its version": ({"eventName": "SetQueueAttributes20150331v2"}, DoubtAnswer.APPLIED),
    "a user agent in brackets": ({"userAgent": f"[sentinel/0.1.0 mutation/{ID}]"}, DoubtAnswer.APPLIED),
    "an event source in China": ({"eventSource": "sqs.amazonaws.com.cn"}, DoubtAnswer.APPLIED),
}


@pytest.mark.parametrize("case", OWN.values(), ids=OWN.keys())
def test_its_own_event_settles_it(trail: Any, case: tuple[dict[str, Any], DoubtAnswer]) -> None:
    members, expected = case
    verdict = verdict_of_trail(trail({"eventName": "Other"}, {**EVENT, **members}), APPLIED)
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
    "another service": {"eventSource": "sns.amazonaws.com"},
    "a service of a stranger": {"eventSource": "sqs.amazonaws.com.evil.example"},
    "no service": {"eventSource": None},
    "another account": {"recipientAccountId": "999999999999"},
    "an identity of another account": {"userIdentity": {**WHO, "accountId": "999999999999"}},
    "another role": {
        "userIdentity": {**WHO, "sessionContext": {"sessionIssuer": {"type": "Role", "arn": f"{ROLE}-2"}}}
    },
    "a session that is named like the role": {"userIdentity": {"type": "AssumedRole", "arn": ROLE}},
    "a federated user": {"userIdentity": {**WHO, "type": "FederatedUser"}},
    "a user": {"userIdentity": {"type": "IAMUser", "arn": USER, "accountId": "123456789012"}},
    "root": {"userIdentity": {"type": "Root", "arn": "arn:aws:iam::123456789012:root"}},
    "no identity": {"userIdentity": None},
}


@pytest.mark.parametrize("members", OTHER.values(), ids=OTHER.keys())
def test_any_other_event_settles_nothing(trail: Any, members: dict[str, Any]) -> None:
    assert verdict_of_trail(trail({**EVENT, **members}), APPLIED) is None


def test_events_that_contradict_each_other_settle_nothing(trail: Any) -> None:
    assert verdict_of_trail(trail(EVENT, {**EVENT, "errorCode": "AccessDenied"}), APPLIED) is None
    assert verdict_of_trail(trail(EVENT, {**EVENT, "errorCode": "InternalFailure"}), APPLIED) is None
    assert verdict_of_trail(trail(), APPLIED) is None


def test_a_directory_and_results_of_lookup_events_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"Events": [{"CloudTrailEvent": json.dumps(EVENT)}]}))
    (tmp_path / "b.json").write_text(json.dumps({"Events": [{"CloudTrailEvent": "{"}, None, 1]}))
    assert verdict_of_trail(Trail(path=tmp_path, identity=ROLE), APPLIED) is not None


def test_a_strangers_event_takes_nothing_from_its_own(trail: Any) -> None:
    stranger = {
        **EVENT,
        "errorCode": "AccessDenied",
        "userIdentity": {"type": "AWSAccount", "accountId": "999999999999"},
    }
    verdict = verdict_of_trail(trail(stranger, EVENT), APPLIED)
    assert verdict is not None
    assert verdict.answer is DoubtAnswer.APPLIED


def test_a_gateway_with_the_credentials_of_a_user_is_known_by_it(trail: Any) -> None:
    events = trail({**EVENT, "userIdentity": {"type": "IAMUser", "arn": USER, "accountId": "123456789012"}})
    assert verdict_of_trail(replace(events, identity=USER), APPLIED) is not None


@pytest.mark.parametrize(("account", "found"), [("123456789012", True), ("210987654321", False)])
def test_the_account_of_the_call_counts(trail: Any, account: str, *, found: bool) -> None:
    assert (verdict_of_trail(trail(EVENT), replace(APPLIED, account=account)) is not None) is found


SOURCES = {
    "cloudwatch": "monitoring",
    "elbv2": "elasticloadbalancing",
    "sesv2": "ses",
    "ecr": "ecr",
    "s3control": "s3",
    "stepfunctions": "states",
    "application-autoscaling": "autoscaling",
}


@pytest.mark.parametrize(("service", "source"), SOURCES.items())
def test_a_service_is_known_by_the_name_of_its_events(trail: Any, service: str, source: str) -> None:
    applied = replace(APPLIED, operation=f"{service}:SetQueueAttributes")
    assert verdict_of_trail(trail({**EVENT, "eventSource": f"{source}.amazonaws.com"}), applied) is not None
    assert verdict_of_trail(trail(EVENT), applied) is None
    assert verdict_of_trail(trail(EVENT), replace(APPLIED, operation="unheard-of:SetQueueAttributes")) is None


def test_a_gateway_in_an_assumed_role_is_known_by_it_in_the_account_of_the_role(trail: Any) -> None:
    role = "arn:aws:iam::210987654321:role/sentinel"
    who = {
        "type": "AssumedRole",
        "accountId": "210987654321",
        "sessionContext": {"sessionIssuer": {"type": "Role", "arn": role}},
    }
    events = trail({**EVENT, "userIdentity": who, "recipientAccountId": "210987654321"})
    there = replace(APPLIED, account="210987654321")
    assert verdict_of_trail(events, there) is None
    assert verdict_of_trail(replace(events, assumed=(role,)), there) is not None
    assert verdict_of_trail(replace(events, assumed=(role,)), replace(APPLIED, account="123456789012")) is None
