"""Says in a line of plain words what a mutation changes, from the effects in its DECIDED record: `desired capacity 4 → 6 on kafka_consumer`."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from gateway.core.model.masking import MEMBER
from gateway.core.model.mutation import EffectAction
from gateway.core.model.path import WHOLE, AttributePath
from gateway.core.model.plan import PlannedAction
from gateway.core.records.decided import DecidedBody, RecordedEffect

_LONGEST_VALUE: Final = 40
"""Characters of a value in a headline."""
_LONGEST: Final = 160
"""Characters of a headline without its end: values and names come from callers."""
_MOST_ITEMS: Final = 2
"""Items of a list, or entries of a map, that a headline names."""
_UNIT: Final = re.compile(r"_(?:in_)?(seconds|minutes|hours|days|mb|gb)$")
_DECLARED: Final = re.compile(
    r"(?:[\w-]+:)?((?:module\.[\w-]+(?:\[[^\]]*\])?\.)*)(?:data\.)?[\w-]+\.([\w-]+(?:\[[^\]]*\])?)"
)
_MODULE: Final = re.compile(r"\bmodule\.")
_UNDECLARED: Final = re.compile(r"(?:[\w-]+:)?([\w-]+)\{[\w-]+=([^{}]*)\}")
_PORTS: Final = ("from_port", "to_port")
_SOURCES: Final = ("cidr_blocks", "ipv6_cidr_blocks", "cidr_ipv4", "cidr_ipv6", "security_groups", "prefix_list_ids")
_EVERY_PORT: Final = (-1, 0)

Effect = RecordedEffect[Any]


@dataclass(frozen=True, slots=True)
class _Verb:
    """A verb as it is asked for, and as it was done."""

    asked: str
    done: str

    def said(self, *, done: bool) -> str:
        return self.done if done else self.asked


_CREATE: Final = _Verb("create", "created")
_DELETE: Final = _Verb("delete", "deleted")
_OPEN: Final = _Verb("open", "opened")
_CLOSE: Final = _Verb("close", "closed")
_ADD: Final = _Verb("add", "added")
_REMOVE: Final = _Verb("remove", "removed")
_SET: Final = _Verb("set", "set")
_TURN: Final = _Verb("turn", "turned")
_CHANGE: Final = _Verb("change", "changed")
_RUN: Final = _Verb("run", "ran")


def headline(body: DecidedBody[Any], *, done: bool) -> str:
    """What the mutation changes, on one line; with `done` in the past. A secret value is never in it.

    A call whose effects are not known is told by its name, and a plan by the number of its changes.
    """
    if body.plan is not None:
        return _plan([change.action for change in body.plan.changes], done=done)
    cut = " (the record was cut)" if body.cut is not None else ""
    return effects_headline(body.effects, body.call.name, body.call.parameters, done=done) + cut


def effects_headline(effects: Sequence[Effect], call: str, parameters: Mapping[str, Any], *, done: bool) -> str:
    """The same of these effects of a call, `service:Operation`; without effects its first parameters tell it from others."""
    asked = [effect for effect in effects if not effect.implied] or list(effects)
    if not asked:
        return _short(f"{_RUN.said(done=done)} {call}{_given(parameters)}", _LONGEST)
    changing = [effect for effect in asked if effect.changes]
    if not changing:
        return _unchanged(asked)
    by_address: dict[str, list[Effect]] = {}
    for effect in changing:
        by_address.setdefault(effect.address, []).append(effect)
    first, *others = by_address.values()
    said = list(_said(first, call, done=done))
    left_out = len(said) - 1 + len(others)
    more = f" and {left_out} more" if left_out else ""
    return f"{_short(said[0], _LONGEST)}{more}"


def resource_name(address: str) -> str:
    """The name by which people tell a resource: `kafka_consumer`, `retry.this`, or the id of an undeclared one."""
    if found := _UNDECLARED.fullmatch(address):
        return f"{found[1]} {found[2]}"
    if found := _DECLARED.fullmatch(address):
        return f"{_MODULE.sub('', found[1])}{found[2]}"
    return address


def attribute_words(attribute: str) -> str:
    """An attribute's path as words: `desired capacity`, `tag owner`."""
    path = AttributePath(attribute)
    if path.top in ("tags", "tags_all") and path.key:
        return f"tag {path.key}"
    steps = [step for step in path.steps if not step.isdecimal()]
    return " ".join(steps).replace("_", " ")


def _given(parameters: Mapping[str, Any]) -> str:
    """The first parameters that are plain values, e.g. ` (ReplayName orders)`; empty if there are none."""
    plain = ((name, value) for name, value in parameters.items() if isinstance(value, str | int | float) and value)
    said = [f"{_short(name, _LONGEST_VALUE)} {_value(_first(value))}" for name, value in islice(plain, _MOST_ITEMS)]
    return f" ({', '.join(said)})" if said else ""


def _first(value: Any) -> Any:
    """The value, or the beginning of a text: what nobody is shown is not read."""
    return value[: 2 * _LONGEST_VALUE] if isinstance(value, str) else value


def _plan(actions: Sequence[PlannedAction], *, done: bool) -> str:
    counts = {action: actions.count(action) for action in dict.fromkeys(actions)}
    parts = ", ".join(f"{count} to {action.value}" for action, count in counts.items())
    verb = "applied" if done else "apply"
    noun = "change" if len(actions) == 1 else "changes"
    return f"terraform {verb}: {len(actions)} {noun}" + (f" ({parts})" if parts else "")


def _unchanged(effects: Sequence[Effect]) -> str:
    first = effects[0]
    name = resource_name(first.address)
    if first.attribute == WHOLE or first.sensitive:
        return f"nothing changes on {name}"
    return f"{attribute_words(first.attribute)} stays {_value(first.value)} on {name}"


def _said(effects: Sequence[Effect], call: str, *, done: bool) -> Iterator[str]:
    """A phrase for each change of one resource. One that is created or goes is one change, whatever its attributes."""
    whole = next((effect for effect in effects if effect.attribute == WHOLE), None)
    kind = f"{effects[0].resource_type} " if effects[0].resource_type else ""
    name = resource_name(effects[0].address)
    if whole is not None and whole.action in (EffectAction.CREATE, EffectAction.DELETE):
        verb = _CREATE if whole.action is EffectAction.CREATE else _DELETE
        named = name if name.startswith(kind) else f"{kind}{name}"
        yield f"{verb.said(done=done)} {named}{_of_rule(effects)}"
        return
    for effect in effects:
        if effect.action is EffectAction.INVOKE:
            yield f"{_RUN.said(done=done)} {call} on {name}"
        else:
            yield _phrase(effect, name, done=done)


def _of_rule(effects: Sequence[Effect]) -> str:
    """Of a rule that is a resource of its own: which ports it opens to whom; empty for anything else."""
    values = {effect.attribute: effect.value for effect in effects if not effect.sensitive}
    network = _network({**values, **_lists_of(values)})
    return f": {network}" if network else ""


def _lists_of(values: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The lists that effects name item by item, as `cidr_blocks.0`."""
    found: dict[str, list[Any]] = {}
    for name, value in values.items():
        top, _, index = name.partition(".")
        if index.isdecimal():
            found.setdefault(top, []).append(value)
    return found


def _phrase(effect: Effect, name: str, *, done: bool) -> str:
    words = attribute_words(effect.attribute)
    if effect.sensitive or _is_digest(effect.value) or _is_digest(effect.before):
        return f"{_CHANGE.said(done=done)} the secret {words} on {name}"
    if effect.action is EffectAction.DELETE or (effect.value is None and effect.before is not None):
        return f"{_REMOVE.said(done=done)} {words} on {name}"
    if isinstance(effect.value, bool) and effect.before in (None, not effect.value):
        return f"{_TURN.said(done=done)} {words} {'on' if effect.value else 'off'} on {name}"
    if isinstance(effect.value, list):
        return f"{_list_words(effect, words, done=done)} on {name}"
    if isinstance(effect.value, Mapping):
        return f"{_map_words(effect, words, done=done)} on {name}"
    unit = _UNIT.search(effect.attribute)
    words = attribute_words(_UNIT.sub("", effect.attribute)) if unit else words
    after = f"{_value(effect.value)} {unit[1]}" if unit else _value(effect.value)
    if effect.before is None:
        return f"{_SET.said(done=done)} {words} to {after} on {name}"
    return f"{words} {_value(effect.before)} → {after} on {name}"


def _list_words(effect: Effect, words: str, *, done: bool) -> str:
    before = effect.before if isinstance(effect.before, list) else []
    added, removed = _less(effect.value, before), _less(before, effect.value)
    for items, network_verb, verb in ((added, _OPEN, _ADD), (removed, _CLOSE, _REMOVE)):
        if not items:
            continue
        networks = [_network(item) if isinstance(item, Mapping) else "" for item in items]
        if all(networks):
            direction = " outwards" if words.startswith("egress") else ""
            return f"{network_verb.said(done=done)}{direction} {_some(networks, str)}"
        if not any(isinstance(item, Mapping | list) for item in items):
            return f"{verb.said(done=done)} {_some(items, _value)} {'to' if verb is _ADD else 'from'} {words}"
    changed = len(added) + len(removed)
    return f"{_CHANGE.said(done=done)} {words}" + (f" ({changed} items)" if changed > 1 else "")


def _map_words(effect: Effect, words: str, *, done: bool) -> str:
    before = effect.before if isinstance(effect.before, Mapping) else {}
    keys = [key for key in {**before, **effect.value} if before.get(key) != effect.value.get(key)]
    scalars = all(not isinstance(value, Mapping | list) for value in (*before.values(), *effect.value.values()))
    if not scalars or not keys or not before:
        return f"{_CHANGE.said(done=done)} {words}"
    said = [f"{key} {_value(before.get(key))} → {_value(effect.value.get(key))}" for key in keys]
    return f"{words}: {_some(said, str)}"


def _less(items: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    """The items that the others lack, in time that grows with their number alone."""
    known = {_key(item) for item in others}
    return [item for item in items if _key(item) not in known]


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _network(rule: Mapping[str, Any]) -> str:
    """The ports of a rule of a network and who may reach them, e.g. `port 22 to 0.0.0.0/0`; empty if it is no such rule."""
    if not all(name in rule for name in _PORTS):
        return ""
    sources = [str(each) for name in _SOURCES for each in _as_list(rule.get(name))]
    sources += ["itself"] if rule.get("self") is True else []
    if not sources:
        return ""
    first, last = (rule[name] for name in _PORTS)
    every = str(rule.get("protocol", rule.get("ip_protocol", ""))) in ("-1", "all") or (
        first in _EVERY_PORT and last in (-1, 65535)
    )
    ports = "all ports" if every else f"port {first}" if first == last else f"ports {first}–{last}"
    return f"{ports} to {_some(sources, str)}"


def _as_list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else [] if value in (None, "") else [value]


def _some(items: Sequence[Any], text: Callable[[Any], str]) -> str:
    more = len(items) - _MOST_ITEMS
    return ", ".join(_short(text(item), _LONGEST_VALUE) for item in items[:_MOST_ITEMS]) + (
        f" and {more} more" if more > 0 else ""
    )


def _value(value: Any) -> str:
    """A value as a person writes it: a text without quotes, if it reads as one word or sentence."""
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return _short(value, _LONGEST_VALUE) if value and value == value.strip() else json.dumps(value)
    return _short(json.dumps(value, ensure_ascii=False, default=str), _LONGEST_VALUE)


def _is_digest(value: Any) -> bool:
    """Whether the value stands for a secret, as records keep it."""
    return isinstance(value, Mapping) and len(value) == 1 and MEMBER in value


def _short(text: str, most: int) -> str:
    line = " ".join(text.split()) if "\n" in text else text
    return line if len(line) <= most else f"{line[: most - 1]}…"
