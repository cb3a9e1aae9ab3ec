"""Makes the changes of a scenario with boto3, reads back what they did, and writes the CloudTrail events they leave."""

import json
from collections.abc import Callable, Mapping, Sequence
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

_ACCOUNT = "123456789012"
_BEGAN = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
ACTORS: Mapping[str, Mapping[str, Any]] = {
    "runbook": {
        "type": "AssumedRole",
        "arn": "arn:aws:sts::123456789012:assumed-role/remediation/Automation",
        "sessionContext": {"sessionIssuer": {"arn": "arn:aws:iam::123456789012:role/remediation"}},
    },
    "agent": {"type": "IAMUser", "arn": "arn:aws:iam::123456789012:user/agent-ops", "userName": "agent-ops"},
    "human": {"type": "IAMUser", "arn": "arn:aws:iam::123456789012:user/ada", "userName": "ada"},
    "controller": {"type": "AWSService", "invokedBy": "autoscaling.amazonaws.com"},
}
"""Who makes changes, as CloudTrail names them."""
_SOURCES = {"elbv2": "elasticloadbalancing", "cloudwatch": "monitoring"}

_OF_ZONES = "/hostedzone/"
"""What Route 53 answers before the id of a zone; neither the import id of Terraform nor an ARN has the sign in front."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """The changes of a scenario as they were made."""

    replies: Mapping[int, Sequence[Any]]
    """The replies to the calls of each change, by its index."""
    observed: Sequence[Any]
    """What the reads of all changes showed afterwards."""
    created: Sequence["Created"]
    """Each resource that was created."""
    deleted: Sequence[str]
    """Addresses of the resources that were deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Created:
    """A resource that a change created."""

    type: str
    where: Mapping[str, Any]
    """Attributes that find it in a state."""
    import_id: str
    names: Sequence[str]
    """Every form of its identity, the import id among them."""
    events: Sequence[str]
    """The names of the calls that made it."""
    left: bool
    form: str


@cache
def client(service: str, endpoint: str, *, region: str = "eu-west-1", account: str = _ACCOUNT) -> Any:
    """A boto3 client of the simulated AWS."""
    make: Any = boto3.client
    key, secret, token = "test", "test", None
    if account != _ACCOUNT:
        role = f"arn:aws:iam::{account}:role/visitor"
        given = client("sts", endpoint).assume_role(RoleArn=role, RoleSessionName="visitor")["Credentials"]
        key, secret, token = given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"]
    return make(
        service, endpoint_url=endpoint, region_name=region,
        aws_access_key_id=key, aws_secret_access_key=secret, aws_session_token=token,
        config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 2}),
    )  # fmt: skip


def words_of(scenario: Scenario) -> list[str]:
    """What names the maker of a scenario's changes: its role or user, or the session's name."""
    actor = _actor(scenario)
    return str(actor["arn"]).partition("/")[2].split("/") if "arn" in actor else [str(actor["invokedBy"])]


def make(scenario: Scenario, state: Mapping[str, Mapping[str, Any]], endpoint: str, events: Path) -> Made:
    """Make the changes; raises RuntimeError if one of them changes nothing that its reads show, or leaves nothing to read."""
    records: list[dict[str, Any]] = []
    replies: dict[int, Sequence[Any]] = {}
    for index, change in enumerate(scenario.changes):
        quiet = change.kind.creates or change.kind.sees == "nothing"
        before = None if quiet else _read(change, state, endpoint, ())
        replies[index] = _call(change, state, endpoint, actor=_actor(scenario), records=records)
        after = _read(change, state, endpoint, replies[index])
        if after == before or (change.kind.creates and None in after):
            raise RuntimeError(f"{scenario.id}: {change.kind.name} changed nothing: {after}")
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


def _actor(scenario: Scenario) -> Mapping[str, Any]:
    return ACTORS.get(scenario.maker or scenario.origin, ACTORS["human"])


def _call(
    change: Change,
    state: Mapping[str, Mapping[str, Any]],
    endpoint: str,
    *,
    actor: Mapping[str, Any],
    records: list[dict[str, Any]],
) -> Sequence[Any]:
    replies: list[Any] = []
    for service, method, template, *where in change.kind.calls:
        parameters = fill(template, _values(change, state, replies))
        place = where[0] if where else {}
        caller = client(service, endpoint, **{key: place[key] for key in ("account", "region") if key in place})
        name = event_name(service, method)
        reply, error = _ask(getattr(caller, method), parameters)
        if bool(error) != bool(place.get("fails")):
            raise RuntimeError(f"{name} {'failed: ' + str(error) if error else 'was not refused'}")
        replies.append(reply)
        event = _event(len(records), actor, service, name, parameters=parameters, reply=reply)
        records.append(event | _elsewhere(place) | ({"errorCode": error.response["Error"]["Code"]} if error else {}))
    return replies


def _ask(
    method: Callable[..., Mapping[str, Any]], parameters: Mapping[str, Any]
) -> tuple[Mapping[str, Any], ClientError | None]:
    """The reply, or the error that refused the call."""
    try:
        reply = method(**parameters)
    except ClientError as error:
        return {}, error
    return {key: value for key, value in reply.items() if key != "ResponseMetadata"}, None


def event_name(service: str, method: str) -> str:
    """The name that CloudTrail writes of a call of boto3: the operation's. (Lambda adds a date to some, which is left out here.)"""
    return str(client(service, "http://127.0.0.1").meta.method_to_api_mapping[method])


def _elsewhere(place: Mapping[str, Any]) -> dict[str, Any]:
    """What an event says otherwise if its call was made in another region or account."""
    said = {"awsRegion": place["region"]} if "region" in place else {}
    if account := place.get("account"):
        role = f"arn:aws:sts::{account}:assumed-role/visitor/visitor"
        said |= {
            "recipientAccountId": account,
            "userIdentity": {"type": "AssumedRole", "arn": role, "accountId": account},
        }
    return said


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


def _created(change: Change, state: Mapping[str, Mapping[str, Any]], replies: Sequence[Any]) -> Created:
    assert change.kind.creates is not None
    values = _values(change, state, replies)
    import_id = fill(change.kind.creates.import_id, values)
    names = [import_id, *fill(list(change.kind.creates.names), values)]
    return Created(
        type=change.kind.creates.type,
        where=fill(change.kind.creates.where, values),
        import_id=import_id,
        names=[*names, *(name.removeprefix(_OF_ZONES) for name in names if name.startswith(_OF_ZONES))],
        events=[event_name(service, method) for service, method, *_ in change.kind.calls],
        left=change.left,
        form=change.form,
    )


def _event(
    number: int, actor: Mapping[str, Any], service: str, name: str, *, parameters: Mapping[str, Any], reply: Any
) -> dict[str, Any]:
    """The record that CloudTrail writes of a call ("CloudTrail record contents")."""
    return {
        "eventVersion": "1.11",
        "eventTime": (_BEGAN + timedelta(seconds=number)).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "eventSource": f"{_SOURCES.get(service, service)}.amazonaws.com",
        "eventName": name,
        "eventID": f"00000000-0000-4000-8000-{number:012d}",
        "awsRegion": "eu-west-1",
        "recipientAccountId": _ACCOUNT,
        "userIdentity": actor,
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
