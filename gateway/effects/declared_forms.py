"""Moves effects to the form in which code declares the resource: from a part to the resource that holds it, or from an attribute to the part.

A row names one form. If the code has the other one, an effect on the row's form would pass by the contract, the claims and the dependants of
what is declared.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from gateway.core.model.json import Json
from gateway.core.model.mutation import Effect, EffectAction
from gateway.core.model.path import WHOLE
from gateway.effects.call_context import CallContext, Target
from gateway.effects.translators import joined, recorded_list, without
from gateway.terraform.forms import PARTS_OF_OWNER, PARTS_OF_TYPE, TWINS, Holding, Part
from gateway.terraform.resource_index import as_text

_CANONICAL = {twin.resource_type: name for name, twins in TWINS.items() for twin in twins}
"""Each twin → the type that rows name."""
_HELD_BY_VALUE = (Holding.VALUE, Holding.ENTRY)
_PARTS_BY_VALUE = {
    owner_type: held
    for owner_type, parts in PARTS_OF_OWNER.items()
    if (held := tuple(part for part in parts if part.members and part.holding in _HELD_BY_VALUE))
}
"""Type of an owner → its parts that an attribute, or an entry of it, may be declared as."""


def in_declared_form(context: CallContext, effects: Sequence[Effect]) -> tuple[Effect, ...]:
    """The effects of a hand-made row, each in the form that is declared. Raises `NotUnderstood`, `errors.Ambiguous`."""
    groups: dict[str, list[Effect]] = {}
    for effect in effects:
        groups.setdefault(effect.address, []).append(effect)
    return tuple(moved for group in groups.values() for moved in _moved(context, group))


def _moved(context: CallContext, group: Sequence[Effect]) -> Iterator[Effect]:
    first = group[0]
    on_owners = () if first.declared else tuple(_on_owners(context, group))
    if on_owners:
        yield from on_owners
        # What the part contains is still judged: the rights in a policy, the target of a route.
        yield from (replace(effect, implied=True) for effect in group)
        return
    owner_type = _CANONICAL.get(first.resource_type, first.resource_type)
    parts = _PARTS_BY_VALUE.get(owner_type)
    if parts is None:
        yield from group
        return
    for effect in group:
        yield from _on_part(context, effect, parts) or (effect,)


# From a part to its owner ---------------------------------------------------------------------------------------------


def _on_owners(context: CallContext, group: Sequence[Effect]) -> Iterator[Effect]:
    """The effects on each recorded resource that holds the part in one of its attributes."""
    identity = group[0].identity
    for part in PARTS_OF_TYPE.get(group[0].resource_type, ()):
        if part.holding in _HELD_BY_VALUE or not part.members:
            continue
        if not all(identity.get(name) for name in part.owner):
            continue
        owner = context.target(part.owner_type, {own: identity[name] for name, own in part.owner.items()})
        if owner.recorded and _holds(context, part, owner):
            yield owner.put(part.attribute, _with_part(part, owner, group))


def _holds(context: CallContext, part: Part, owner: Target) -> bool:
    if part.always:
        return True
    separate = any(
        context.inventory.find(part.resource_type, name, as_text(owner.recorded.get(own)))
        for name, own in part.owner.items()
    )
    return bool(recorded_list(owner, part.attribute)) and not separate


def _with_part(part: Part, owner: Target, group: Sequence[Effect]) -> list[Json]:
    """The owner's list after the call."""
    held = recorded_list(owner, part.attribute)
    deletes = any(effect.action is EffectAction.DELETE for effect in group)
    identity = group[0].identity
    if part.holding is Holding.ITEM:
        items = [identity[name] for name in part.members]
        return without(held, items) if deletes else joined(held, items)
    named = {member: identity[name] for name, member in part.members.items() if identity.get(name)}
    others = [block for block in held if not _is_named(block, named)]
    if deletes:
        return others
    given = {effect.attribute: effect.value for effect in group if effect.attribute in part.members}
    empty = {path.partition(".")[2]: "" for path in owner.schema.kinds if path.startswith(f"{part.attribute}.")}
    return [*others, {**empty, **named, **{part.members[name]: value for name, value in given.items()}}]


def _is_named(block: Json, named: Mapping[str, str]) -> bool:
    return isinstance(block, Mapping) and all(as_text(block.get(member)) == value for member, value in named.items())


# From an attribute to the part ----------------------------------------------------------------------------------------


def _on_part(context: CallContext, effect: Effect, parts: Sequence[Part]) -> tuple[Effect, ...]:
    """The effects on the resource that declares the attribute, or the entry of it; none if none does."""
    for part in parts if effect.attribute != WHOLE else ():
        entry = effect.attribute.removeprefix(f"{part.attribute}.")
        if part.holding is Holding.ENTRY and entry == effect.attribute:
            continue  # a map as a whole, with entries of several owners
        if part.holding is Holding.VALUE and effect.attribute != part.attribute:
            continue
        named = {part.members["key"]: entry} if part.holding is Holding.ENTRY else {}
        if target := _separate(context, part, effect, named):
            return _as_part(part, target, effect)
    return ()


def _separate(context: CallContext, part: Part, effect: Effect, named: Mapping[str, str]) -> Target | None:
    """The declared resource of its own for a part of the effect's resource."""
    recorded = context.inventory.recorded(effect.address) or {} if effect.declared else {}
    name, own = next(iter(part.owner.items()))
    texts = (effect.identity.get(own, ""), *(as_text(recorded.get(each)) for each in (own, "arn", "id", "key_id")))
    for text in dict.fromkeys(each for each in texts if each):
        target = context.target(part.resource_type, {name: text, **named})
        if target.declared:
            return target
    return None


def _as_part(part: Part, target: Target, effect: Effect) -> tuple[Effect, ...]:
    attribute = part.members["value"] if part.holding is Holding.ENTRY else part.attribute
    if effect.value is None:
        return (target.whole(EffectAction.DELETE),)
    if target.recorded:
        return (replace(target.put(attribute, effect.value), obliged=effect.obliged),)
    created = target.put(attribute, effect.value, action=EffectAction.CREATE)
    return (replace(target.whole(EffectAction.CREATE), upserted=True), replace(created, upserted=True))
