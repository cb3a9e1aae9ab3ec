"""Reads CloudTrail events and tells who made a change that did not come through Sentinel."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gateway.model.json import Json
from reconciler.errors import EventsInvalid
from reconciler.model import DriftOrigin
from reconciler.terraform.plan import TerraformPlan

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
"""Attributes of a state by which AWS calls name a thing; also every attribute that ends in `_name`, `_id` or `_arn` of its own type."""
_SHORTEST = 3
"""Names shorter than this match too much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One CloudTrail record, as much as attribution needs."""

    origin: DriftOrigin
    names: frozenset[str]
    """Every text in its request parameters and resources."""
    keys: frozenset[str] = frozenset()
    """Every parameter's name, lower case, letters and digits only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """The events of a file, and the records in it that could not be read."""

    events: tuple[Event, ...]
    bad: tuple[str, ...]
    """A sentence each, with the record's index."""


def read_events(path: Path) -> Events:
    """Events in any of CloudTrail's file forms: `{"Records": […]}`, a list, or one JSON object a line.

    Lookup results, whose record is text in `CloudTrailEvent`, are taken too. Records that cannot be read are told, not fatal.
    Raises `errors.EventsInvalid` where the file as a whole cannot be read.
    Source: "CloudTrail record contents" in the AWS CloudTrail user guide.
    """
    events, bad = [], []
    for index, record in enumerate(_records(path)):
        try:
            event = _event(record)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            bad.append(
                f"Record {index} of {path} is not a CloudTrail event ({type(error).__name__}: {error}); it was passed over."
            )
            continue
        if event is not None:
            events.append(event)
    return Events(events=tuple(events), bad=tuple(bad))


def attribute(events: Sequence[Event], plan: TerraformPlan) -> dict[tuple[str, str], DriftOrigin]:
    """Who made each change that the plan shows, by (address, attribute); those that no event tells are absent.

    An event belongs to a resource whose service it calls and whose name, id or ARN it carries; among those, one that names
    the attribute goes before others, and a later one before an earlier.
    """
    made: dict[tuple[str, str], DriftOrigin] = {}
    for change in plan.changes:
        found = [event for event in events if _concerns(event, change.address, plan.objects.get(change.address, {}))]
        if found:
            name = _letters(change.top)
            made[change.address, change.attribute] = max(found, key=lambda e: (name in e.keys, e.origin.at)).origin
    return made


def _concerns(event: Event, address: str, attributes: Mapping[str, Json]) -> bool:
    kind = address.rpartition(".")[0].rpartition(".")[2]
    return bool(event.names & _names(attributes)) and _of_service(event.origin.event, kind, attributes)


def _letters(name: str) -> str:
    """A name as both Terraform and AWS write it: `desired_capacity` and `desiredCapacity` are one."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _names(attributes: Mapping[str, Json]) -> frozenset[str]:
    """What AWS calls may name the thing by: its ARN, id and names."""
    own = _own(attributes)
    return frozenset(
        value
        for key, value in attributes.items()
        if isinstance(value, str)
        and len(value) >= _SHORTEST
        and (key in _IDENTITY or (key.endswith("_name") and key in own))
    )


def _own(attributes: Mapping[str, Json]) -> set[str]:
    """Attributes whose value is also the id or a part of the ARN: the thing's own name, not that of another it refers to."""
    whole = {str(attributes.get("id") or ""), str(attributes.get("arn") or "")}
    return {key for key, value in attributes.items() if isinstance(value, str) and any(value in text for text in whole)}


def _of_service(event: str, kind: str, attributes: Mapping[str, Json]) -> bool:
    """Whether the event's service owns the thing: by its ARN, else by what the provider calls the type."""
    service = event.partition(":")[0]
    arn = str(attributes.get("arn") or "").split(":")
    if len(arn) > 2 and arn[2]:  # noqa: PLR2004  arn:partition:service
        return service in {arn[2], _SOURCES.get(arn[2], arn[2])}
    return service in kind or service in {"ec2", "s3"}


_SOURCES = {"cloudwatch": "monitoring"}
"""ARN services whose events come from a source of another name."""


def _records(path: Path) -> list[Any]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        message = f"The events in {path} cannot be read: {error}. Nothing was changed."
        raise EventsInvalid(message) from error
    try:
        document = json.loads(text)
    except ValueError:
        return _lines(path, text)
    match document:
        case {"Records": list(records)} | {"Events": list(records)}:
            return records
        case list():
            return document
        case {"eventName": _}:
            return [document]
    message = (
        f'The events in {path} are no CloudTrail file: expected {{"Records": […]}}, a list, or one JSON object a line.'
    )
    raise EventsInvalid(message)


def _lines(path: Path, text: str) -> list[Any]:
    """JSON lines; a line that is no JSON is a record that cannot be read, unless none is."""
    lines = [line for line in text.splitlines() if line.strip()]
    records: list[Any] = []
    good = 0
    for line in lines:
        try:
            records.append(json.loads(line))
            good += 1
        except ValueError:
            records.append(None)
    if not good:
        message = f"The events in {path} are no JSON at all. Nothing was changed."
        raise EventsInvalid(message)
    return records


def _event(record: Mapping[str, Any]) -> Event | None:
    """The event, None for one that failed or only read."""
    if isinstance(record.get("CloudTrailEvent"), str):
        record = json.loads(record["CloudTrailEvent"])
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
        keys=frozenset(_letters(key) for key in _keys(record.get("requestParameters"))),
    )


def _actor(identity: Mapping[str, Any]) -> str:
    """The most telling name of an identity ("CloudTrail userIdentity element")."""
    if invoked_by := identity.get("invokedBy"):
        return str(invoked_by)
    issuer = (identity.get("sessionContext") or {}).get("sessionIssuer") or {}
    known = identity.get("arn") or identity.get("userName") or issuer.get("arn") or identity.get("principalId")
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
