"""The claim of an allowed mutation on one attribute of one resource."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from gateway.model.caller import ActorKind
from gateway.model.json import Json
from gateway.model.motive import Motive
from gateway.model.undone import Undone


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
