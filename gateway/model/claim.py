"""A granted mutation's standing right over one attribute of one thing."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gateway.model.caller import ActorKind
from gateway.model.json import Json
from gateway.model.motive import Motive


class ClaimEnd(StrEnum):
    """How a claim ended."""

    EXPIRED = "expired"
    SUPERSEDED = "superseded"
    RELEASED = "released"
    MERGED = "merged"
    FAILED = "failed"
    """AWS refused the mutation that took it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Who holds an attribute, why, at which value and until when. Open while `ended_at` is None and `until` is not past."""

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
    """None: until superseded, released or merged."""
    ended_at: datetime | None = None
    end: ClaimEnd | None = None


class Relation(StrEnum):
    """How a standing claim relates to what is asked."""

    SAME = "same"
    """On the same attribute of the same thing (or on the whole of it)."""
    RESOURCE = "resource"
    """On another attribute of the same thing."""
    DEPENDANT = "dependant"
    """On a thing that depends on it, directly or not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingClaim:
    """An open claim as one mutation meets it."""

    claim: Claim
    relation: Relation
