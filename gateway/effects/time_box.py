"""Finds how a time-boxed change would be put back, or why it cannot be, before the change is decided, so that a hopeless one is refused."""

import json
from collections.abc import Mapping, Sequence
from typing import Final

from gateway.core.model.facts import Facts, Subject
from gateway.core.model.json import Json, to_json
from gateway.core.model.masking import holds_mask
from gateway.core.model.mutation import Call, CallClass, EffectAction, Mutation
from gateway.core.model.path import WHOLE, AttributePath
from gateway.core.model.time_box import TimeBox, TimeBoxPart
from gateway.effects.masking import masked_parameters
from gateway.effects.put_back import MOST_ATTRIBUTES, Key, put_back_call
from gateway.effects.resolver import EffectResolver

MOST_CHARACTERS: Final = 64 * 1024
"""Of the parameters of the call that puts a change back, which its record keeps."""
_ADVICE: Final = (
    "Leave the time out (`for`) if it is to stay, or change one attribute that Sentinel can set back. Nothing was sent."
)
_INSTEAD: Final = {
    EffectAction.CREATE: "a resource that is created",
    EffectAction.DELETE: "a resource that is deleted",
    EffectAction.INVOKE: "an action",
}


def is_time_boxed(mutation: Mutation) -> bool:
    """Whether the change is wanted for a time only. Traffic of the data plane changes no attribute, so Sentinel puts nothing of it back."""
    motive = mutation.motive
    return motive is not None and motive.wanted_for is not None and mutation.call_class is not CallClass.DATA


def time_box_of(
    resolver: EffectResolver, mutation: Mutation, facts: Facts, standing: Sequence[TimeBoxPart] = ()
) -> TimeBox:
    """The values that a time-boxed change gets back at its end, and the call that sets them; else a sentence why no call can.

    `standing` are the time-boxed changes whose values the attributes have now: the values before those changes are put back.
    """
    motive = mutation.motive
    if motive is None or motive.wanted_for is None:
        return TimeBox()
    if refusal := _unforeseeable(mutation, facts):
        return _refused(refusal)
    found = {
        (subject.effect.address, subject.effect.attribute): (subject.effect.value, *_base(subject, standing))
        for subject in facts.subjects
        if subject.effect.action is EffectAction.SET
    }
    bases = {key: base for key, (value, base, _) in found.items() if base != value}
    roots = {key: root for key, (_, _, root) in found.items() if key in bases and root}
    if not bases:
        return TimeBox(until=facts.now + motive.wanted_for)
    if len(bases) > MOST_ATTRIBUTES:
        return _refused(f"it changes {len(bases)} attributes, and at most {MOST_ATTRIBUTES} are put back at once")
    call = put_back_call(resolver, mutation.call, bases, _after(facts))
    if call is None:
        return _refused(_without_call(facts, bases))
    if not _is_plain(call):
        return _refused("the call that sets it back would hold a secret, or is too large to be kept")
    return TimeBox(until=facts.now + motive.wanted_for, bases=bases, roots=roots, call=call)


def _refused(why: str) -> TimeBox:
    return TimeBox(
        refusal=f"This change is wanted for a time only, and Sentinel could not set it back at the end: {why}. {_ADVICE}"
    )


def _unforeseeable(mutation: Mutation, facts: Facts) -> str:
    """Why the earlier value is not known, as the rest of a sentence; empty if it is."""
    if not mutation.understood or len(facts.subjects) != len(mutation.effects):
        return "what it changes is not known"
    for subject in facts.subjects:
        effect = subject.effect
        if effect.by:
            return f"{effect.by} is a call that AWS makes on its own, perhaps after that time"
        if effect.action is EffectAction.INVOKE and effect.implied:
            continue  # AWS may move such a value at any time; nobody asked for it
        name = effect.address if effect.attribute == WHOLE else f"{effect.address}.{effect.attribute}"
        if effect.action is not EffectAction.SET:
            return f"{_INSTEAD[effect.action]} ({name}) has no earlier value"
        if effect.sensitive or subject.hidden or holds_mask(subject.before):
            return f"{name} may be a secret, and no secret is recorded"
        if not (subject.exists and effect.declared):
            return f"the value of {name} before it is not recorded, because neither code nor state has the resource"
    return ""


def _base(subject: Subject, standing: Sequence[TimeBoxPart]) -> tuple[Json, str]:
    """The value before the first of the time-boxed changes that the attribute has now, and that change; without any, the value that it has."""
    effect = subject.effect
    path = AttributePath(effect.attribute)
    base, root = subject.before, ""
    for part in standing:
        inner = AttributePath(part.attribute)
        if part.address != effect.address or not inner.touches(path):
            continue
        root = part.root
        if inner == path:
            base = part.base
        elif inner.covers(path):
            base = AttributePath(path.removeprefix(f"{inner}.")).value_at(part.base)
        elif isinstance(base, Mapping):
            base = _within(base, inner.removeprefix(f"{path}."), part.base)
    return base, root


def _within(outer: Mapping[str, Json], name: str, base: Json) -> Json:
    """The outer value as it was before the change inside it."""
    if base is None and name in outer:
        return {key: value for key, value in outer.items() if key != name}
    return AttributePath(name).put(outer, base)


def _after(facts: Facts) -> dict[str, Mapping[str, Json]]:
    return {subject.effect.address: subject.attributes_after for subject in facts.subjects}


def _without_call(facts: Facts, bases: Mapping[Key, Json]) -> str:
    unset = [
        f"{subject.effect.address}.{subject.effect.attribute}"
        for subject in facts.subjects
        if bases.get((subject.effect.address, subject.effect.attribute), "") is None
    ]
    if unset:
        return f"{unset[0]} has no recorded value before it, and no call is known that unsets it"
    named = ", ".join(f"{address}.{attribute}" for address, attribute in list(bases)[:3])
    return f"no single call is known that sets {named} back and nothing else"


def _is_plain(call: Call) -> bool:
    """Whether the call can be kept in a record as it is: as JSON without secrets, and not large."""
    plain = to_json(call.parameters)
    return (
        len(json.dumps(plain, ensure_ascii=False)) <= MOST_CHARACTERS
        and plain == to_json(masked_parameters(call))
        and not _holds_bytes(call.parameters)
    )


def _holds_bytes(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(_holds_bytes(item) for item in value.values())
    if isinstance(value, list | tuple):
        return any(_holds_bytes(item) for item in value)
    return not isinstance(value, str | int | float | bool | None)
