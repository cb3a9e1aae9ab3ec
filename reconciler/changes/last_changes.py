"""Keeps the applied mutation that changed each attribute last: its value is live, and it superseded the earlier changes."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from gateway.core.model.mutation import Effect, EffectAction
from gateway.core.model.path import WHOLE, AttributePath, overlaps
from reconciler.changes.applied_mutation import AppliedMutation


@dataclass(frozen=True, slots=True, kw_only=True)
class LastChange:
    """The last change of one attribute."""

    mutation: str
    seq: int
    """Number of its DECIDED record."""
    asked: bool
    """Whether the call set, created or deleted it; else it is a consequence of the call, or a value that only AWS knows."""


@dataclass(slots=True)
class LastChanges:
    """The last change of each attribute that a mutation changed. Its size depends on the number of attributes, not of mutations."""

    _by_address: dict[str, dict[tuple[str, bool], LastChange]] = field(default_factory=dict)
    """By address, then by attribute and whether it was asked for, for good."""

    def add(self, applied: AppliedMutation) -> None:
        """Take in an applied mutation."""
        asked = {(effect.address, effect.attribute) for effect in applied.effects if _sets(effect)}
        for effect in applied.changed:
            attributes = self._by_address.setdefault(effect.address, {})
            change = LastChange(mutation=applied.id, seq=applied.seq, asked=(effect.address, effect.attribute) in asked)
            # A change for a time supersedes nothing: what the code should say is what was set for good before.
            place = effect.attribute, change.asked and not applied.passing
            known = attributes.get(place)
            if known is None or known.seq <= applied.seq:
                attributes[place] = change

    def superseding(self, address: str, attribute: str, after: int) -> LastChange | None:
        """The last change, made after record number `after`, that set the whole of this attribute for good; None if there is none."""
        found = [
            change
            for covering in _covering(attribute)
            if (change := self._by_address.get(address, {}).get((covering, True))) and change.seq > after
        ]
        return max(found, key=lambda change: change.seq, default=None)

    def since(self, address: str, attribute: str, after: int) -> LastChange | None:
        """The last change, made after record number `after`, of this attribute, a part of it, or what is around it; None if there is none."""
        found = [
            change
            for (other, _), change in list(self._by_address.get(address, {}).items())
            if change.seq > after and overlaps(attribute, other)
        ]
        return max(found, key=lambda change: change.seq, default=None)


def _sets(effect: Effect) -> bool:
    return effect.action in (EffectAction.SET, EffectAction.DELETE, EffectAction.CREATE)


def _covering(attribute: str) -> Iterator[str]:
    yield WHOLE
    if attribute != WHOLE:
        yield from AttributePath(attribute).enclosing
