"""A deletion and a creation that are one story: what took the place of a resource that a mutation deleted."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gateway.model.json import Json
from gateway.model.mutation import WHOLE, Effect, EffectAction
from reconciler.drift.applied import AppliedMutation
from reconciler.drift.made import created_by
from reconciler.drift.replaced import takes_the_place

Recorded = Mapping[str, Mapping[str, Json]]
"""The attributes of the stack's resources by address, as its state has them."""


def deleted_by(applied: AppliedMutation) -> tuple[str, ...]:
    """The addresses of the declared resources that a mutation deleted for good."""
    return tuple(each.address for each in applied.effects if _deletes(each) and _for_good(applied))


def creates(applied: AppliedMutation) -> bool:
    """Whether a mutation created a whole resource for good."""
    whole = (each for each in applied.effects if each.action is EffectAction.CREATE and each.attribute == WHOLE)
    return any(whole) and _for_good(applied)


def in_place(applied: AppliedMutation, deleted: Mapping[str, str], recorded: Recorded) -> AppliedMutation:
    """The mutation with what it created at the address of the deleted resource whose place that takes, as far as this is certain.

    `deleted` has the mutation that deleted it by address; both are `together` then.
    """
    moved = dict(_moved(applied, [address for address in deleted if address in recorded], recorded))
    effects = tuple(
        replace(each, address=moved[each.address], declared=True) if each.address in moved else each
        for each in applied.effects
    )
    there = [each.address for each in effects if each.action is EffectAction.CREATE and each.attribute == WHOLE]
    together = dict.fromkeys(deleted[address] for address in there if address in deleted)
    return replace(applied, effects=effects, together=tuple(together))


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeBefore:
    """A creation that took the place of what a later mutation deleted."""

    creation: AppliedMutation
    address: str


def made_before(
    applied: AppliedMutation, creations: Iterable[AppliedMutation], recorded: Recorded
) -> MadeBefore | None:
    """The creation, by another mutation, of what takes the place of the one resource that this one deleted; None if there is none."""
    gone = deleted_by(applied)
    if len(gone) != 1 or len(applied.effects) != 1 or gone[0] not in recorded:
        return None
    found = [each for each in creations if each.id != applied.id and dict(_moved(each, gone, recorded))]
    return MadeBefore(creation=found[0], address=gone[0]) if len(found) == 1 else None


def as_replacement(applied: AppliedMutation, before: MadeBefore, recorded: Recorded) -> AppliedMutation:
    """The deletion with the creation before it as one replacement of the address."""
    other = in_place(before.creation, {before.address: applied.id}, recorded)
    return replace(applied, effects=other.effects, made=other.made, together=(other.id,))


def _moved(applied: AppliedMutation, gone: Sequence[str], recorded: Recorded) -> Iterator[tuple[str, str]]:
    for address, created in created_by(applied):
        own = [each for each in gone if takes_the_place(created, each, recorded[each])]
        if len(own) == 1:
            yield address, own[0]


def _for_good(applied: AppliedMutation) -> bool:
    """Whether a mutation is meant to last, and was not made by Terraform, whose code says already what it creates and deletes."""
    return not applied.passing and applied.kind != "pipeline"


def _deletes(effect: Effect) -> bool:
    return effect.action is EffectAction.DELETE and effect.attribute == WHOLE and effect.declared
