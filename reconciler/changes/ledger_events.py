"""A call of the ledger in the form of an event, so that what it created is found as what events tell of."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.core.event_sources import source_of
from gateway.core.records.decided import DecidedBody
from gateway.core.records.record import Record
from reconciler.changes.cloudtrail import Event
from reconciler.changes.creating_events import creations_in
from reconciler.model import DriftOrigin

_NO_NAMES: Final[frozenset[str]] = frozenset()


def creating_call(record: Record, body: DecidedBody[Any]) -> Event | None:
    """The call of a DECIDED record, if it creates something or may; None for one that only changes or deletes.

    Its parameters are masked as they are recorded, and spelled as CloudTrail spells them.
    """
    call, source = body.call, source_of(body.call.service)
    event = Event(
        origin=DriftOrigin(
            actor=record.actor, event=f"{source}:{call.operation}", at=record.at, event_id=record.mutation_id
        ),
        names=_NO_NAMES,
        call={
            "eventSource": f"{source}.amazonaws.com",
            "eventName": call.operation,
            "awsRegion": call.region,
            "recipientAccountId": call.account,
            "requestParameters": _spelled(call.parameters),
        },
    )
    return event if any(True for _ in creations_in(event)) else None


def answered(event: Event, made: str) -> Event:
    """The event with the id that AWS chose for what was created; the same if it chose none."""
    if not made:
        return event
    return Event(
        origin=event.origin, names=event.names, keys=event.keys, call={**event.call, "responseElements": {"id": made}}
    )


def _spelled(value: Any) -> Any:
    """Names of members begin with a small letter in CloudTrail. The keys of tags are no members, and stay as they are."""
    match value:
        case Mapping():
            return {
                _small(str(name)): each if _are_tags(name, each) else _spelled(each) for name, each in value.items()
            }
        case list() | tuple():
            return [_spelled(each) for each in value]
    return value


def _are_tags(name: Any, value: Any) -> bool:
    return _small(str(name)) == "tags" and isinstance(value, Mapping)


def _small(name: str) -> str:
    return name[:1].lower() + name[1:]
