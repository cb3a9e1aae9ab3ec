"""Reads CloudTrail events and finds who made a change that did not pass through Sentinel."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from gateway.core.json_reader import read_json
from gateway.core.model.json import Json
from reconciler.model import DriftOrigin
from reconciler.terraform.plan import ResourceChange, TerraformPlan

_IDENTITY = (
    "arn",
    "id",
    "name",
    "identifier",
    "url",
    "bucket",
    "function_name",
    "key_id",
    "alarm_name",
    "cluster_name",
)
"""Attributes by which AWS calls name a resource; see `_names` for the others that count."""
_SERVICE_ROLE = ":role/aws-service-role/"
"""In the ARN of a role that only an AWS service can take: nobody else can make a role under this path."""
_SHORTEST = 3
"""Shorter names, in characters, would match events of other resources."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """The parts of one CloudTrail record that attribution needs."""

    origin: DriftOrigin
    names: frozenset[str]
    """Every string in its request parameters and resources."""
    keys: frozenset[str] = frozenset()
    """The name of every parameter, in lower case, letters and digits only."""
    call: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """The record itself, which may hold secrets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """The events of a file, and the records in it that could not be read."""

    events: tuple[Event, ...]
    bad: tuple[str, ...]
    """One sentence per record, with the record's index."""


def events_of(records: Iterable[Any], path: str) -> Events:
    """The events of raw records; `path` names them in sentences about bad ones."""
    events, bad = [], []
    for index, record in enumerate(records):
        try:
            event = _event(record)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            bad.append(
                f"Record {index} of {path} is not a CloudTrail event ({type(error).__name__}: {error}); it was skipped."
            )
            continue
        if event is not None:
            events.append(event)
    return Events(events=tuple(events), bad=tuple(bad))


def origins(events: Sequence[Event], plan: TerraformPlan) -> dict[tuple[str, str], DriftOrigin]:
    """Who made each change in the plan, by (address, attribute); changes without a matching event are absent.

    An event matches a resource if it calls the resource's service and contains its name, id or ARN. Events that name the
    attribute come first, then later ones before earlier ones.
    """
    found: dict[tuple[str, str], DriftOrigin] = {}
    for change in plan.changes:
        matching = [event for event in events if matches(event, change, plan.objects.get(change.address, {}))]
        if matching:
            name = letters(change.top)
            latest = max(matching, key=lambda event: (name in event.keys, event.origin.at))
            found[change.address, change.attribute] = latest.origin
    return found


def matches(event: Event, change: ResourceChange, attributes: Mapping[str, Json]) -> bool:
    """Whether an event names the resource of a change, which has these attributes, calls its service, and is of its account and region."""
    return (
        bool(event.names & _names(attributes))
        and _of_service(event.origin.event, change.resource_type, attributes)
        and _of_place(event.call, attributes)
    )


def letters(name: str) -> str:
    """A name in the form that Terraform and AWS share: `desired_capacity` and `desiredCapacity` give the same."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _names(attributes: Mapping[str, Json]) -> frozenset[str]:
    """The names by which AWS calls may refer to the resource: its ARN, id and names."""
    own = _own_names(attributes)
    return frozenset(
        value
        for key, value in attributes.items()
        if isinstance(value, str)
        and len(value) >= _SHORTEST
        and (key in _IDENTITY or (key.endswith("_name") and key in own))
    )


def _own_names(attributes: Mapping[str, Json]) -> set[str]:
    """Attributes whose value occurs in the id or ARN, so that they name the resource itself and not one it refers to."""
    identity = {str(attributes.get("id") or ""), str(attributes.get("arn") or "")}
    return {
        key for key, value in attributes.items() if isinstance(value, str) and any(value in text for text in identity)
    }


def _of_service(event: str, resource_type: str, attributes: Mapping[str, Json]) -> bool:
    """Whether the event's service owns the resource: by the ARN, else by the name of the resource type."""
    service = event.partition(":")[0]
    arn = str(attributes.get("arn") or "").split(":")
    if len(arn) > 2 and arn[2]:  # noqa: PLR2004  arn:partition:service
        return service in {arn[2], _EVENT_SOURCES.get(arn[2], arn[2])}
    return service in resource_type or service in {"ec2", "s3"}


def _of_place(call: Mapping[str, Any], attributes: Mapping[str, Json]) -> bool:
    """Whether the call was made in the account and region of the resource, as far as both say: a trail may tell of many accounts, and each
    may have a resource of the same name.
    """
    _, _, _, region, account, *_ = [*str(attributes.get("arn") or "").split(":"), *[""] * 5]
    where = ((account, call.get("recipientAccountId")), (region, call.get("awsRegion")))
    return all(not own or not said or str(said) == own for own, said in where)


_EVENT_SOURCES = {"cloudwatch": "monitoring"}
"""By the service in an ARN: the event source, if it has another name."""


def _event(record: Mapping[str, Any]) -> Event | None:
    """The event; None if the call failed or only read."""
    if isinstance(record.get("CloudTrailEvent"), str):
        record = read_json(record["CloudTrailEvent"])
    service, operation = str(record["eventSource"]).removesuffix(".amazonaws.com"), str(record["eventName"])
    at = datetime.fromisoformat(str(record["eventTime"]))
    if record.get("errorCode") or record.get("readOnly") in {True, "true"}:
        return None
    parts = [record.get("requestParameters"), record.get("resources")]
    return Event(
        origin=DriftOrigin(
            actor=_actor(record.get("userIdentity") or {}),
            event=f"{service}:{operation}",
            at=at if at.tzinfo else at.replace(tzinfo=UTC),
            event_id=str(record.get("eventID") or ""),
        ),
        names=frozenset(_texts(parts)),
        keys=frozenset(letters(key) for key in _keys(record.get("requestParameters"))),
        call=record,
    )


def _actor(identity: Mapping[str, Any]) -> str:
    """The most specific name in a `userIdentity` ("CloudTrail userIdentity element").

    It is that of a service only if the service acted by itself: `invokedBy` also stands where somebody had a service, such as
    CloudFormation, make the call with their own rights.
    """
    issuer = (identity.get("sessionContext") or {}).get("sessionIssuer") or {}
    known = identity.get("arn") or identity.get("userName") or issuer.get("arn") or identity.get("principalId")
    invoked_by = identity.get("invokedBy")
    if invoked_by and (not known or identity.get("type") == "AWSService" or _SERVICE_ROLE in str(issuer.get("arn"))):
        return str(invoked_by)
    return str(known or identity.get("type") or "unknown")


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping():
            yield from _each(value.values())
        case list():
            yield from _each(value)


def _each(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        yield from _texts(value)


def _keys(value: Any) -> Iterator[str]:
    match value:
        case Mapping():
            yield from value
            for item in value.values():
                yield from _keys(item)
        case list():
            for item in value:
                yield from _keys(item)


def principal_of(who: Mapping[str, Any]) -> str:
    """The ARN of the role or user in a `userIdentity`; empty for any other kind ("CloudTrail userIdentity element")."""
    match who:
        case {"type": "AssumedRole", "sessionContext": {"sessionIssuer": {"type": "Role", "arn": str(arn)}}}:
            return arn
        case {"type": "IAMUser", "arn": str(arn)}:
            return arn
    return ""
