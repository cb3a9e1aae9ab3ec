"""Finds the call that sets attributes back to earlier values, beginning with the call that changed them.

A candidate counts only if its own effects, found as for any call, set exactly the wanted values. So a wrong guess costs a refusal, never a
wrong change.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from gateway.core.errors import CallTooLarge
from gateway.core.model.json import Json
from gateway.core.model.mutation import Call, Effect, EffectAction
from gateway.core.model.path import AttributePath
from gateway.effects.resolver import EffectResolver

Key: TypeAlias = tuple[str, str]
"""Address and attribute."""
_Path: TypeAlias = tuple[str | int, ...]
"""The steps to a member of the parameters."""

MOST_WORK: Final = 3_000
"""Limit on the work for one change, over all calls that are tried: effects, and the text of the calls."""
_TEXT_PER_WORK: Final = 1_024
"""Characters of a call that count as one effect."""
MOST_ATTRIBUTES: Final = 50
"""Attributes that one call sets back."""
_ABSENT: Final = object()
_OPPOSITES: Final = (
    ("Add", "Remove"), ("Associate", "Disassociate"), ("Attach", "Detach"), ("Authorize", "Revoke"), ("CreateOrUpdateTags", "DeleteTags"),
    ("CreateTags", "DeleteTags"), ("Enable", "Disable"), ("Register", "Deregister"), ("Suspend", "Resume"), ("Tag", "Untag"), ("Put", "Delete"),
)  # fmt: skip
"""Beginnings of operations that may undo each other. The effects of a call decide whether it does."""
_CONSEQUENCES: Final = {("autoscaling", "UpdateAutoScalingGroup", "desired_capacity"): "DesiredCapacity"}
"""Service, operation and attribute that a call changes without asking → the parameter that asks for it."""
_TAG_LISTS: Final = ("TagKeys", "tagKeys", "TagKeyList", "Keys")
"""Parameters with the keys of tags to remove."""


class _Exhausted(Exception):
    """Too many calls were tried."""


@dataclass(slots=True, kw_only=True)
class _Search:
    """The search for one call."""

    resolver: EffectResolver
    wanted: Mapping[Key, Json]
    current: Mapping[str, Mapping[str, Json]]
    """The attributes of the resources after the change."""
    avoid: frozenset[Key] = frozenset()
    """Attributes that the call must not set, not even to their present values: others hold them."""
    work: int = 0
    seen: dict[str, tuple[Effect, ...]] = field(default_factory=dict)

    def effects(self, call: Call) -> tuple[Effect, ...]:
        """The effects of the call. Raises `_Exhausted` once too many were tried."""
        text = repr((call.operation, call.parameters))
        self.work += len(text) // _TEXT_PER_WORK
        if self.work >= MOST_WORK:
            raise _Exhausted
        if text not in self.seen:
            self.seen[text] = self._resolved(call)
            self.work += 1 + len(self.seen[text])
        return self.seen[text]

    def _resolved(self, call: Call) -> tuple[Effect, ...]:
        try:
            return self.resolver.effects(call, self.current, quiet=True)
        except CallTooLarge:
            return ()

    def missing(self, call: Call) -> list[Key]:
        """The attributes that the call does not set to the wanted value."""
        done = {(each.address, each.attribute): each.value for each in self.effects(call) if _sets(each)}
        return [key for key, value in self.wanted.items() if key not in done or done[key] != value]

    def sets_others(self, call: Call) -> bool:
        """Whether the call sets an attribute that others hold."""
        return any((effect.address, effect.attribute) in self.avoid for effect in self.effects(call))

    def does_only_this(self, call: Call) -> bool:
        """Whether the call sets the wanted values, and changes nothing else."""
        effects = self.effects(call)
        return bool(effects) and not self.missing(call) and all(self._is_harmless(effect) for effect in effects)

    def _is_harmless(self, effect: Effect) -> bool:
        key = effect.address, effect.attribute
        if effect.by:
            return False
        if effect.implied and not _sets(effect):
            return True  # AWS may move such a value at any time
        if not _sets(effect) or effect.sensitive or key in self.avoid:
            return False
        if key in self.wanted:
            return bool(effect.value == self.wanted[key])
        known = AttributePath(effect.attribute).value_at(self.current.get(effect.address, {}))
        return bool(effect.value == known)


def put_back_call(
    resolver: EffectResolver,
    call: Call,
    wanted: Mapping[Key, Json],
    current: Mapping[str, Mapping[str, Json]],
    avoid: frozenset[Key] = frozenset(),
) -> Call | None:
    """The call that gives the attributes the wanted values and changes nothing else; None if none is found.

    `call` is the one that changed them, or one that puts more of them back; `current` are the attributes now, by address. The attributes that
    others hold now, `avoid`, are not set at all.
    """
    if len(wanted) > MOST_ATTRIBUTES:
        return None
    search = _Search(resolver=resolver, wanted=wanted, current=current, avoid=avoid)
    blank = replace(call, protocol="")
    try:
        return _of_same_operation(search, blank) or _of_opposite(search, blank)
    except _Exhausted:
        return None


def _of_same_operation(search: _Search, call: Call) -> Call | None:
    candidate = call
    for key in search.missing(call):
        candidate = _with_value(search, candidate, key) or candidate
    return _without_taken(search, candidate) if not search.missing(candidate) else None


def _with_value(search: _Search, call: Call, key: Key) -> Call | None:
    """The call with one parameter changed or added so that it sets this attribute to the wanted value."""
    before = len(search.missing(call))
    for other in _variants(call, key[1], search.wanted[key]):
        missing = search.missing(other)
        if key not in missing and len(missing) < before:
            return other
    return None


def _variants(call: Call, attribute: str, value: Json) -> Iterator[Call]:
    """The call with each parameter in turn in the place of the value, those first that are named like the attribute."""
    places = sorted(_places(call.parameters), key=lambda each: not _alike(each[0], attribute))
    for path, given in places:
        for form in _forms(value, given):
            yield replace(call, parameters=_put(call.parameters, path, form))
    name = _CONSEQUENCES.get((call.service, call.operation, attribute), "")
    if name and name not in call.parameters and value is not None:
        yield replace(call, parameters={**call.parameters, name: value})


def _without_taken(search: _Search, call: Call) -> Call | None:
    """The call without the parameters that set attributes of others; None if it still changes something else."""
    for path, _ in _places(call.parameters):
        if not search.sets_others(call):
            break
        other = replace(call, parameters=_put(call.parameters, path, _ABSENT))
        if not search.missing(other) and len(search.effects(other)) < len(search.effects(call)):
            call = other
    return call if search.does_only_this(call) else None


def _of_opposite(search: _Search, call: Call) -> Call | None:
    for operation in _opposites(call.operation):
        opposite = replace(call, operation=operation)
        for parameters in (call.parameters, *_by_tag_keys(call.parameters), *_leaving_out(call.parameters)):
            candidate = replace(opposite, parameters=parameters)
            if search.does_only_this(candidate):
                return candidate
    return None


def _opposites(operation: str) -> Iterator[str]:
    for one, other in _OPPOSITES:
        for begins, becomes in ((one, other), (other, one)):
            if operation.startswith(begins):
                yield becomes + operation.removeprefix(begins)


def _by_tag_keys(parameters: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The parameters with the keys of the tags in place of the tags."""
    for name, tags in parameters.items():
        keys = _tag_keys(tags) if name.lower() in ("tags", "taglist") else []
        others = {each: value for each, value in parameters.items() if each != name}
        if keys:
            yield from ({**others, member: keys} for member in _TAG_LISTS)


def _tag_keys(tags: object) -> list[str]:
    if isinstance(tags, Mapping):
        return [str(key) for key in tags]
    listed = tags if isinstance(tags, list | tuple) else ()
    names = ("Key", "key", "TagKey")
    return [str(tag[name]) for tag in listed if isinstance(tag, Mapping) for name in names if name in tag]


def _leaving_out(parameters: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The parameters without each of them in turn: the opposite of an operation often takes fewer."""
    for name in parameters:
        yield {each: value for each, value in parameters.items() if each != name}


def _sets(effect: Effect) -> bool:
    return effect.action is EffectAction.SET


def _places(parameters: object, path: _Path = ()) -> Iterator[tuple[_Path, Any]]:
    """Every value in the parameters with the steps to it: texts, numbers, and lists of them."""
    if isinstance(parameters, Mapping):
        for name, value in parameters.items():
            yield from _places(value, (*path, str(name)))
    elif isinstance(parameters, list | tuple) and any(isinstance(item, Mapping) for item in parameters):
        for index, value in enumerate(parameters):
            yield from _places(value, (*path, index))
    elif path:
        yield path, parameters


def _alike(path: _Path, attribute: str) -> bool:
    steps = [_folded(str(step)) for step in path]
    return _folded(attribute.rpartition(".")[2]) in steps or any(_folded(attribute) == step for step in steps)


def _folded(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _forms(value: Json, given: object) -> Iterator[object]:
    """How the provider's value may be written where the call has `given`."""
    if value is None:
        yield _ABSENT
    elif isinstance(given, str):
        yield from _as_text(value)
    elif isinstance(given, list | tuple):
        yield list(value) if isinstance(value, list | tuple) else [value]
    elif isinstance(value, str) and re.fullmatch(r"-?\d{1,18}", value):
        yield int(value)
    elif isinstance(value, str) and value in ("true", "false"):
        yield value == "true"
    else:
        yield value


def _as_text(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, bool):
        yield "true" if value else "false"
    elif isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        yield ",".join(str(item) for item in value)
    else:
        yield json.dumps(value)


def _put(parameters: Mapping[str, Any], path: _Path, value: object) -> Mapping[str, Any]:
    """A copy of the parameters with the value at the path, or without that member."""
    copied: Mapping[str, Any] = _put_in(parameters, path, value)
    return copied


def _put_in(container: Any, path: _Path, value: object) -> Any:
    head, rest = path[0], path[1:]
    if isinstance(container, Mapping):
        new = _put_in(container[head], rest, value) if rest else value
        if new is _ABSENT or new == {}:
            return {name: item for name, item in container.items() if name != head}
        return {**container, head: new}
    return [_put_in(item, rest, value) if index == head else item for index, item in enumerate(container)]
