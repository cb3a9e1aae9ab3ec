"""Makes the changes of a scenario with boto3, reads back what they did, and writes the CloudTrail events they leave."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import boto3
import jmespath
from botocore.config import Config
from botocore.exceptions import ClientError

from tests.bench.drift.fill import Values, fill
from tests.bench.drift.scenario import Change, Scenario

_BEGAN = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
_ACTORS = {
    "runbook": {
        "type": "AssumedRole",
        "arn": "arn:aws:sts::123456789012:assumed-role/remediation/Automation",
        "sessionContext": {"sessionIssuer": {"arn": "arn:aws:iam::123456789012:role/remediation"}},
    },
    "agent": {"type": "IAMUser", "arn": "arn:aws:iam::123456789012:user/agent-ops", "userName": "agent-ops"},
}
_HUMAN = {"type": "IAMUser", "arn": "arn:aws:iam::123456789012:user/ada", "userName": "ada"}
_SOURCES = {"elbv2": "elasticloadbalancing", "cloudwatch": "monitoring"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """The changes of a scenario as they were made."""

    replies: Mapping[int, Sequence[Any]]
    """The replies to the calls of each change, by its index."""
    observed: Sequence[Any]
    """What the reads of all changes showed afterwards."""
    created: Sequence[tuple[str, Mapping[str, Any], str]]
    """Type, identifying attributes and import id of each resource that was created."""
    deleted: Sequence[str]
    """Addresses of the resources that were deleted."""


@cache
def client(service: str, endpoint: str) -> Any:
    """A boto3 client of the simulated AWS."""
    make: Any = boto3.client
    return make(
        service, endpoint_url=endpoint, region_name="eu-west-1", aws_access_key_id="test", aws_secret_access_key="test",
        config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 2}),
    )  # fmt: skip


def make(scenario: Scenario, state: Mapping[str, Mapping[str, Any]], endpoint: str, events: Path) -> Made:
    """Make the changes; raises RuntimeError if one of them changes nothing that its reads show."""
    records: list[dict[str, Any]] = []
    replies: dict[int, Sequence[Any]] = {}
    for index, change in enumerate(scenario.changes):
        before = None if change.kind.creates else _read(change, state, endpoint, ())
        replies[index] = _call(change, state, endpoint, origin=scenario.origin, records=records)
        if before is not None and _read(change, state, endpoint, replies[index]) == before:
            raise RuntimeError(f"{scenario.id}: {change.kind.name} changed nothing: {before}")
    events.write_text(json.dumps({"Records": records}, default=str))
    return Made(
        replies=replies,
        observed=observe(scenario, state, endpoint, replies),
        created=[_created(change, state, replies[index]) for index, change in _creations(scenario)],
        deleted=[change.on for change in scenario.changes if change.kind.sees == "gone"],
    )


def observe(
    scenario: Scenario,
    state: Mapping[str, Mapping[str, Any]],
    endpoint: str,
    replies: Mapping[int, Sequence[Any]],
) -> Sequence[Any]:
    """What the reads of all changes show now."""
    return [_read(change, state, endpoint, replies[index]) for index, change in enumerate(scenario.changes)]


def _call(
    change: Change,
    state: Mapping[str, Mapping[str, Any]],
    endpoint: str,
    *,
    origin: str,
    records: list[dict[str, Any]],
) -> Sequence[Any]:
    replies: list[Any] = []
    for service, method, template in change.kind.calls:
        parameters = fill(template, _values(change, state, replies))
        reply = getattr(client(service, endpoint), method)(**parameters)
        replies.append({key: value for key, value in reply.items() if key != "ResponseMetadata"})
        records.append(_event(len(records), origin, service, method, parameters=parameters, reply=replies[-1]))
    return replies


def _read(
    change: Change, state: Mapping[str, Mapping[str, Any]], endpoint: str, replies: Sequence[Any]
) -> Sequence[Any]:
    values = _values(change, state, replies)
    return [_read_one(*read, values=values, endpoint=endpoint) for read in change.kind.reads]


def _read_one(service: str, method: str, template: Any, path: str, *, values: Values, endpoint: str) -> Any:
    """One value; the code of the error if there is nothing to read any more."""
    try:
        reply = getattr(client(service, endpoint), method)(**fill(template, values))
    except ClientError as error:
        return {"error": error.response["Error"]["Code"]}
    return jmespath.search(path, reply)


def _values(change: Change, state: Mapping[str, Mapping[str, Any]], replies: Sequence[Any]) -> Values:
    return Values(state=state, on=change.on, own={**change.more, "value": change.value}, replies=replies)


def _creations(scenario: Scenario) -> list[tuple[int, Change]]:
    return [(index, change) for index, change in enumerate(scenario.changes) if change.kind.creates]


def _created(
    change: Change, state: Mapping[str, Mapping[str, Any]], replies: Sequence[Any]
) -> tuple[str, Mapping[str, Any], str]:
    assert change.kind.creates is not None
    values = _values(change, state, replies)
    return (
        change.kind.creates.type,
        fill(change.kind.creates.where, values),
        fill(change.kind.creates.import_id, values),
    )


def _event(
    number: int, origin: str, service: str, method: str, *, parameters: Mapping[str, Any], reply: Any
) -> dict[str, Any]:
    """The record that CloudTrail writes of a call ("CloudTrail record contents")."""
    return {
        "eventVersion": "1.11",
        "eventTime": (_BEGAN + timedelta(seconds=number)).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "eventSource": f"{_SOURCES.get(service, service)}.amazonaws.com",
        "eventName": "".join(part.capitalize() for part in method.split("_")),
        "eventID": f"00000000-0000-4000-8000-{number:012d}",
        "awsRegion": "eu-west-1",
        "recipientAccountId": "123456789012",
        "userIdentity": _ACTORS.get(origin, _HUMAN),
        "requestParameters": _lower(parameters),
        "responseElements": _lower(reply) or None,
        "readOnly": False,
    }


def _lower(value: Any) -> Any:
    """Keys with a small first letter, as CloudTrail writes parameters."""
    match value:
        case Mapping():
            return {key[:1].lower() + key[1:]: _lower(item) for key, item in value.items()}
        case list():
            return [_lower(item) for item in value]
    return value
