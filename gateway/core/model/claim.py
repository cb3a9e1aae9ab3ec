"""Claims on attributes, the attributes that belong together, and the conflicts between them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from gateway.core.model.caller import ActorKind
from gateway.core.model.json import Json
from gateway.core.model.motive import Motive
from gateway.core.model.path import AttributePath
from gateway.core.quick_init import quick_init


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


class ClaimEnd(StrEnum):
    """How a claim ended."""

    EXPIRED = "expired"
    SUPERSEDED = "superseded"
    RELEASED = "released"
    MERGED = "merged"
    FAILED = "failed"
    """AWS refused the mutation that took the claim."""
    UNNEEDED = "unneeded"
    """The code came to declare its value, so that nothing is left to hold."""
    RESTATED = "restated"
    """Its mutation set the value that the attribute had already, so the claim ended with the mutation's outcome."""


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Who holds an attribute, why, at which value and until when. Open while `ended_at` is None and `until` has not passed."""

    id: str
    """`clm_…`"""
    mutation_id: str
    address: str
    attribute: str
    value: Json
    actor: str
    kind: ActorKind
    motive: Motive | None
    since: datetime
    until: datetime | None = None
    """None for a claim without a time limit: it stands until superseded, released or merged."""
    ended_at: datetime | None = None
    end: ClaimEnd | None = None
    unsettled: bool = field(default=False, compare=False)
    """Whether its mutation is in flight or in doubt. Nobody else sets the attribute meanwhile."""
    proof: tuple[str, ...] = field(default=(), compare=False)
    """Ids of the signals that prove its motive; empty if nothing does, or not any more."""
    branch: str = field(default="", compare=False)
    """Branch and commit that propose its value for the code; empty before that, and where nobody asked."""
    commit: str = field(default="", compare=False)
    undone: Undone | None = field(default=None, compare=False)
    """Since when the live value is another one; None while it is the claimed one, as far as the reconciler looked."""


class Relation(StrEnum):
    """How a standing claim relates to the effects of a mutation."""

    SAME = "same"
    """On the same attribute of the same resource, or one of the two is on the whole resource."""
    RESOURCE = "resource"
    """On another attribute of the same resource."""
    DEPENDANT = "dependant"
    """On a resource that depends on it, directly or indirectly."""
    DEPENDENCY = "dependency"
    """On a resource that it depends on, and whose type the policies' data names in a pair with what is set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingClaim:
    """An open claim and its relation to one mutation."""

    claim: Claim
    relation: Relation


class ConflictClass(StrEnum):
    """How a change gets in the way of a claim."""

    DIRECT = "direct"
    """It sets the claimed attribute, a part of it, or what holds it."""
    INDIRECT = "indirect"
    """It sets another attribute of the resource, or of one that depends on it, and the policies' data names the two as a pair."""
    IMPLICIT = "implicit"
    """It contested nothing when it was made, and the live value is no longer the claimed one: the reconciler found out afterwards."""


@dataclass(frozen=True, slots=True)
class CoupledAttribute:
    """One end of a pair."""

    resource_type: str
    attribute: str


@dataclass(frozen=True, slots=True)
class Couplings:
    """All pairs, found by either end."""

    _partners: Mapping[str, Sequence[tuple[str, CoupledAttribute]]] = field(default_factory=dict)
    """By resource type: an attribute of it, and the other end."""

    @classmethod
    def of(cls, pairs: Iterable[Mapping[str, Any]]) -> "Couplings":
        """The pairs of `data/couplings.json`, each with `one` and `other`."""
        partners: dict[str, list[tuple[str, CoupledAttribute]]] = {}
        for pair in pairs:
            ends = [CoupledAttribute(pair[end]["type"], pair[end]["attribute"]) for end in ("one", "other")]
            for here, there in (ends, reversed(ends)):
                partners.setdefault(here.resource_type, []).append((here.attribute, there))
        return cls(partners)

    def with_attribute(self, resource_type: str, attribute: str) -> Sequence[CoupledAttribute]:
        """The other end of each pair that has this attribute, a part of it, or what holds it."""
        named = self._partners.get(resource_type, ())
        return tuple(there for here, there in named if AttributePath(here).touches(attribute)) if named else ()
