"""Attributes that belong together, as the policies' data names them: to change one may undo what another was set for."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from gateway.model.path import AttributePath


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
        return tuple(there for here, there in named if _overlap(here, attribute)) if named else ()


def _overlap(one: str, other: str) -> bool:
    return AttributePath(one).covers(other) or AttributePath(other).covers(one)
