"""Compares what the gateway foresaw from the calls alone with what the plan says that changes."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from tests.bench.effects_truth.truth import ALSO, Planned


class Row(StrEnum):
    """By what a call was understood."""

    HAND = "hand"
    ATTRIBUTES = "attributes"
    RESOURCE = "resource"
    NONE = "none"

    @property
    def certain(self) -> bool:
        """Whether it must miss and invent nothing."""
        return self in (Row.HAND, Row.ATTRIBUTES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """An effect that the gateway foresaw."""

    address: str
    type: str
    attribute: str
    """A path, or `*`."""
    action: str
    value: Any = None
    changes: bool = True
    hidden: bool = False
    """Whether the value is masked, so that it cannot be compared."""
    identity: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The top-level attribute."""
        return self.attribute.partition(".")[0].partition("[")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A call that arrived and was applied."""

    operation: str
    """`service:Operation`."""
    parameters: tuple[str, ...]
    row: Row
    sender: str
    """The resource type that sent it, by the provider's log; empty if the log does not say."""
    effects: tuple[Foreseen, ...] = ()


@dataclass(slots=True, kw_only=True)
class Score:
    """How one operation did."""

    seen: int = 0
    understood: int = 0
    rows: set[Row] = field(default_factory=set)
    resource_right: int = 0
    """Calls all of whose effects are on resources that the plan changes."""
    right: int = 0
    whole: int = 0
    """Attributes of resources that were foreseen as a whole."""
    missed: int = 0
    invented: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """A difference between what was foreseen and the truth."""

    phase: str
    kind: str
    """`missed`, `invented`, `value` or `resource`."""
    operation: str
    row: Row
    parameters: tuple[str, ...]
    address: str
    attribute: str
    expected: str
    foreseen: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The judgement of one phase."""

    scores: Mapping[str, Score]
    mistakes: tuple[Mistake, ...]


def judge(phase: str, planned: Mapping[str, Planned], calls: Sequence[Seen]) -> Judged:
    """The judgement of one apply: `planned` by address, and the calls that it made."""
    scores: dict[str, Score] = defaultdict(Score)
    mistakes: list[Mistake] = []
    foreseen: set[tuple[str, str]] = set()
    for call in calls:
        score = scores[call.operation]
        score.seen += 1
        score.rows.add(call.row)
        score.understood += bool(call.effects)
        wrong: list[Mistake] = []
        for effect in call.effects:
            target = _target(effect, planned)
            if target is None:
                if effect.changes:
                    wrong.append(_mistake(phase, "resource", call, effect, "a resource that the plan changes"))
                continue
            if effect.attribute == "*" or effect.action == "invoke":
                foreseen.add((target.address, "*"))
            elif effect.changes or _restates(effect, target):
                found = _attribute_mistake(phase, call, effect, target)
                wrong += found
                score.right += not found
                score.invented += bool(found)
                foreseen.add((target.address, effect.name))
        mistakes += wrong
        score.resource_right += bool(call.effects) and not any(each.kind == "resource" for each in wrong)
    mistakes += _missed(phase, planned, calls, foreseen, scores)
    return Judged(scores=dict(scores), mistakes=tuple(mistakes))


def _restates(effect: Foreseen, target: Planned) -> bool:
    """Whether the gateway knows the new value already: a call before this one was applied, and Terraform gave up after it."""
    return effect.name in target.changed and _same(_at(target.after, effect.attribute), effect.value)


def certain(mistakes: Iterable[Mistake]) -> list[Mistake]:
    """The mistakes that no row may make: those of certain rows, and a wrong resource of any row."""
    return [each for each in mistakes if each.row.certain or each.kind == "resource"]


def _target(effect: Foreseen, planned: Mapping[str, Planned]) -> Planned | None:
    """The planned change that the effect is part of: by its address, or for what the gateway could not name by type and identity."""
    if found := planned.get(effect.address):
        return found
    if "{" not in effect.address:
        return None
    for change in planned.values():
        if change.type == effect.type and _fits(effect.identity, change):
            return change
    return None


def _fits(identity: Mapping[str, Any], change: Planned) -> bool:
    known = {**change.before, **change.after}
    return all(
        name not in known or known[name] is None or _same(known[name], value) for name, value in identity.items()
    )


def _attribute_mistake(phase: str, call: Seen, effect: Foreseen, target: Planned) -> list[Mistake]:
    if target.deletes:
        return []  # what prepares a deletion goes with it
    if effect.name in ALSO:
        return []
    if not target.creates and effect.name not in target.changed and not effect.hidden:
        if _same(_at(target.after, effect.attribute), effect.value):
            return []
        said = f"{effect.name} stays {_short(target.after.get(effect.name))}"
        return [_mistake(phase, "invented", call, effect, said)]
    if effect.name not in target.after or effect.hidden:
        return []
    expected = _at(target.after, effect.attribute)
    if expected is _UNKNOWN or _same(expected, effect.value):
        return []
    return [_mistake(phase, "value", call, effect, _short(expected))]


def _missed(
    phase: str,
    planned: Mapping[str, Planned],
    calls: Sequence[Seen],
    foreseen: set[tuple[str, str]],
    scores: Mapping[str, Score],
) -> Iterator[Mistake]:
    """What changes and no call of its resource type showed. If one of these calls has no certain row, it may be the one."""
    by_type: Mapping[str, list[Seen]] = defaultdict(list)
    for call in calls:
        by_type[call.sender].append(call)
    for change in (each for each in planned.values() if each.done):
        sent = by_type.get(change.type, [])
        names = change.changed or {"*"}
        for name in sorted(names):
            if not sent or (change.address, name) in foreseen:
                continue
            if name == "*" and any(address == change.address for address, _ in foreseen):
                continue
            if (change.address, "*") in foreseen:
                for call in sent:
                    scores[call.operation].whole += 1
                continue
            unsure = [call for call in sent if not call.row.certain or not call.effects]
            for call in (unsure or sent)[:1]:
                scores[call.operation].missed += 1
                after = change.after.get(name) if name != "*" else ("created" if change.creates else "deleted")
                yield Mistake(
                    phase=phase,
                    kind="missed",
                    operation=" ".join(dict.fromkeys(each.operation for each in unsure or sent)),
                    row=Row.NONE if unsure else call.row,
                    parameters=tuple(dict.fromkeys(name for each in sent for name in each.parameters)),
                    address=change.address,
                    attribute=name,
                    expected=_short(after),
                    foreseen="nothing",
                )


def _mistake(phase: str, kind: str, call: Seen, effect: Foreseen, expected: str) -> Mistake:
    return Mistake(
        phase=phase,
        kind=kind,
        operation=call.operation,
        row=call.row,
        parameters=call.parameters,
        address=effect.address,
        attribute=effect.attribute,
        expected=expected,
        foreseen=f"{effect.action} {_short(effect.value)}",
    )


_UNKNOWN = object()


def _at(values: Mapping[str, Any], path: str) -> Any:
    """The value at a dotted path, through blocks that occur once; `_UNKNOWN` if the path leads elsewhere."""
    found: Any = values
    rest = path
    while rest:
        if isinstance(found, list) and len(found) == 1:
            found = found[0]
        if not isinstance(found, dict):
            return _UNKNOWN
        if rest in found:
            return found[rest]
        step, _, rest = rest.partition(".")
        if step not in found:
            return _UNKNOWN
        found = found[step]
    return found


def _same(one: Any, other: Any) -> bool:
    return bool(_plain(one) == _plain(other))


def _plain(value: Any) -> Any:
    """A form in which equal values of Terraform are equal: numbers as text, documents parsed, lists without order, nothing for what is empty."""
    if isinstance(value, str) and value.startswith(("[", "{")):
        try:
            value = json.loads(value)
        except ValueError:
            return value
    if isinstance(value, bool):
        return str(value).lower() if value else None
    if isinstance(value, int | float):
        return (f"{value:g}" if value != int(value) else str(int(value))) if value else None
    if isinstance(value, dict):
        found = {name: _plain(each) for name, each in value.items()}
        return {name: each for name, each in found.items() if each is not None} or None
    if isinstance(value, list | tuple):
        plain = [_plain(each) for each in value]
        if len(plain) == 1:
            return plain[0]
        return sorted(json.dumps(each, sort_keys=True) for each in plain) or None
    return None if value in ("", "false", "0") else value


def _short(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return text if len(text) <= 120 else text[:117] + "..."
