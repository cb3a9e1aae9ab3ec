"""An implicit conflict: what a claim was for is undone, although nothing that contested the claim was allowed."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gateway.model.json import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoneBy:
    """Who probably undid it."""

    actor: str
    """An actor of Sentinel, or the ARN or AWS service that CloudTrail names."""
    mutation_id: str = ""
    """A later mutation of the same resource; empty if it was done past Sentinel."""
    event: str = ""
    """The event that CloudTrail names; empty for a mutation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """Since when the live value is no longer the claimed one."""

    at: datetime
    """When the reconciler found it."""
    live: Json
    """The live value; None if it is or may be a secret, or the resource is gone."""
    by: UndoneBy | None
    """None if nothing tells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenValue:
    """What the reconciler saw of a claimed attribute."""

    claim: str
    stands: bool
    """Whether the live value is the claimed one."""
    live: Json = None
    by: UndoneBy | None = None


def undone_by_to_json(by: UndoneBy | None) -> Json:
    """The form that records and rows hold."""
    return None if by is None else {"actor": by.actor, "mutation": by.mutation_id, "event": by.event}


def undone_from_json(form: Mapping[str, Any], at: datetime) -> Undone:
    """The inverse, with the live value beside it."""
    by = form["by"]
    who = None if by is None else UndoneBy(actor=by["actor"], mutation_id=by["mutation"], event=by["event"])
    return Undone(at=at, live=form["live"], by=who)
