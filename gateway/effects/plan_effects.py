"""Converts the changes of a plan to effects, as a call's: secrets masked, documents as policies judge them."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from gateway.model.document import is_ambiguous
from gateway.model.json import Json
from gateway.model.masking import Masker, holds_mask
from gateway.model.mutation import WHOLE, Effect, EffectAction
from gateway.model.path import AttributePath
from gateway.model.plan import Plan, PlannedAction, PlannedChange
from gateway.terraform.secrets import is_secret, masked, may_hold_secret, unmasked_documents
from gateway.terraform.stack import Stack


def planned_effects(plan: Plan, stack: Stack, masker: Masker, *, asked: bool) -> tuple[Effect, ...]:
    """The effects of all changes, at most one for each attribute. `asked` says whether values that only AWS knows count as asked for.

    A value that the plan does not tell, because it is a secret, has a mask that no other value has.
    """
    found: dict[tuple[str, str], Effect] = {}
    for change in plan.changes:
        for effect in _effects(change, stack, masker, asked=asked):
            found.setdefault((effect.address, effect.attribute), effect)
    return tuple(found.values())


def _effects(change: PlannedChange, stack: Stack, masker: Masker, *, asked: bool) -> Iterator[Effect]:
    # Until the plan is applied, claims and contracts know a moved resource by its old address.
    moved = bool(change.previous) and stack.knows(change.previous) and not stack.knows(change.address)
    address = stack.named(change.previous if moved else change.address)
    declared = stack.knows(address)
    bare = Effect(
        address=address,
        attribute=WHOLE,
        action=EffectAction.CREATE,
        resource_type=change.resource_type,
        declared=declared,
    )
    if change.action in (PlannedAction.DELETE, PlannedAction.REPLACE):
        yield replace(bare, action=EffectAction.DELETE)
    elif change.action is PlannedAction.CREATE:
        yield bare
    action = EffectAction.SET if change.action is PlannedAction.UPDATE else EffectAction.CREATE
    recorded = stack.recorded(address) or {}
    for path, value in change.values.items():
        yield _put(replace(bare, attribute=path, action=action), value, recorded, masker)
    for path in change.secrets:
        secret = masker.mask(f"not told: {address}.{path}")
        yield replace(bare, attribute=path, action=action, value=secret, sensitive=True)
    for path in change.unknown:
        yield replace(bare, attribute=path, action=EffectAction.INVOKE, implied=not asked)


def _put(effect: Effect, value: Json, recorded: Mapping[str, Json], masker: Masker) -> Effect:
    kind, path = effect.resource_type, effect.attribute
    if isinstance(value, str) and is_ambiguous(value):
        # Nobody knows which of two members of one name AWS takes, so policies must not judge either.
        return replace(effect, value=masker.mask(value), sensitive=True)
    before = AttributePath(path).value_at(recorded)
    shown = masked(value, resource_type=kind, attribute=path, masker=masker, recorded=before)
    judged = shown if may_hold_secret(kind, path) else unmasked_documents(value, shown)
    sensitive = shown != value or holds_mask(shown) or is_secret(kind, path)
    return replace(effect, value=shown, judged=None if judged == shown else judged, sensitive=sensitive)
