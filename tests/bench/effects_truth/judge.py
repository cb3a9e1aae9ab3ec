"""Compares what the gateway foresaw from the calls alone with what the plan says that changes."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from gateway.terraform.forms import PARTS, TWINS, Holding
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


def judge(
    phase: str, planned: Mapping[str, Planned], calls: Sequence[Seen], asked: Mapping[str, str] | None = None
) -> Judged:
    """The judgement of one apply: `planned` by address, and the calls that it made.

    `asked` are the attributes that were changed in the code, by address; None if all that is planned was. What a plan changes besides comes
    from the simulated AWS, which forgets values, and the provider need not send it.
    """
    scores: dict[str, Score] = defaultdict(Score)
    mistakes: list[Mistake] = []
    foreseen: set[tuple[str, str]] = set()
    last = {(effect.address, effect.attribute): effect for call in calls for effect in call.effects}
    for call in calls:
        score = scores[call.operation]
        score.seen += 1
        score.rows.add(call.row)
        score.understood += bool(call.effects)
        wrong: dict[str, Mistake] = {}
        for effect in call.effects:
            target = _target(effect, planned, call)
            if form := _other_form(effect, planned, call):
                foreseen.add((form.address, "*"))
            elif target is None:
                if effect.changes:
                    wrong.setdefault(effect.address, _mistake(phase, "resource", call, effect, "nothing there"))
            elif effect.attribute == "*" or effect.action == "invoke":
                foreseen.add((target.address, "*"))
            elif effect.changes or target.deletes or _restates(effect, target):
                foreseen.add((target.address, effect.name))
                found = last[effect.address, effect.attribute] is effect and _attribute_mistake(
                    phase, call, effect, target
                )
                score.right += not found
                score.invented += bool(found)
                mistakes += [found] if found else []
        mistakes += wrong.values()
        score.resource_right += bool(call.effects) and not wrong
    wanted = _asked(planned, asked)
    for mistake in _missed(phase, planned=planned, asked=wanted, calls=calls, foreseen=foreseen):
        _count(mistake, scores)
        mistakes += [mistake] if mistake.kind == "missed" else []
    return Judged(scores=dict(scores), mistakes=tuple(mistakes))


def _restates(effect: Foreseen, target: Planned) -> bool:
    """Whether the gateway knows the new value already: a call before this one was applied, and Terraform gave up after it."""
    return effect.name in target.changed and _same(_at(target.after, effect.attribute), effect.value)


def _count(mistake: Mistake, scores: Mapping[str, Score]) -> None:
    score = scores[mistake.operation.partition(" ")[0]]
    score.whole += mistake.kind == "whole"
    score.missed += mistake.kind == "missed"


def _asked(planned: Mapping[str, Planned], asked: Mapping[str, str] | None) -> dict[str, frozenset[str]]:
    """What must not be missed, by address: attributes, or `*` for a creation or deletion."""
    found: dict[str, frozenset[str]] = {}
    for address, change in planned.items():
        if change.creates or change.deletes:
            found[address] = frozenset("*")
        else:
            found[address] = change.changed if asked is None else change.changed & {asked.get(address, "")}
    return {address: names for address, names in found.items() if planned[address].done}


def certain(mistakes: Iterable[Mistake]) -> list[Mistake]:
    """The mistakes that no row may make: those of certain rows, and a wrong resource of any row."""
    return [each for each in mistakes if each.row.certain or each.kind == "resource"]


def _target(effect: Foreseen, planned: Mapping[str, Planned], call: Seen) -> Planned | None:
    """The planned change that the effect is part of: by its address, or for what the gateway could not name by type and identity.

    Of several that fit, as where AWS makes the name, the one whose values are most like the call's.
    """
    if found := planned.get(effect.address):
        return found
    if "{" not in effect.address:
        return None
    fitting = [change for change in planned.values() if change.type == effect.type and _fits(effect.identity, change)]
    beside = [each for each in call.effects if each.address == effect.address]
    return max(fitting, key=lambda change: _likeness(beside, change), default=None)


def _other_form(effect: Foreseen, planned: Mapping[str, Planned], call: Seen) -> Planned | None:
    """The new resource that declares what the effect is on in another form, by the table that the gateway itself resolves calls with.

    Only of the type that sent the call, and only if no state records the effect's resource: else the gateway had to name it.
    """
    at = planned.get(effect.address)
    if effect.type == call.sender or (at is None and "{" not in effect.address) or (at and not at.creates):
        return None
    known = {**at.before, **at.after, **at.made, **effect.identity} if at else effect.identity
    for change in planned.values():
        if change.type == call.sender and change.creates:
            for named in _named_as(change.type, effect, known):
                if named and _fits(named, change):
                    return change
    return None


def _named_as(form: str, effect: Foreseen, known: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The identity of what an effect is on, by the attributes of another form of it."""
    for twin in TWINS.get(effect.type, ()):
        if twin.resource_type == form:
            yield {twin.names.get(name, name): value for name, value in known.items()}
    for part in PARTS:
        owners = {part.owner_type, *(twin.resource_type for twin in TWINS.get(part.owner_type, ()))}
        if part.resource_type == effect.type and form in owners:
            yield {own: known[name] for name, own in part.owner.items() if known.get(name) is not None}
        if (part.owner_type, part.resource_type) == (effect.type, form) and effect.name in (part.attribute, "*"):
            entry = effect.attribute.removeprefix(f"{part.attribute}.")
            key = {"key": entry} if part.holding is Holding.ENTRY and entry != effect.attribute else {}
            named = {name: known[own] for name, own in part.owner.items() if known.get(own) is not None}
            yield {**named, **key} if named else {}


def _fits(identity: Mapping[str, Any], change: Planned) -> bool:
    known = {**change.before, **change.after, **change.made}
    return all(
        known.get(name) is None or _same(known[name], value) or _names(str(known[name]), str(value))
        for name, value in identity.items()
    )


def _names(arn: str, name: str) -> bool:
    """Whether an ARN or URL ends with the name; that of a secret has a random suffix."""
    return arn.endswith((f"/{name}", f":{name}")) or arn[:-7].endswith(f":secret:{name}")


def _likeness(effects: Sequence[Foreseen], change: Planned) -> tuple[int, int]:
    """How many values contradict the plan, below zero, and how many are those of the plan."""
    values = [(_at(change.after, each.attribute), each.value) for each in effects if each.attribute != "*"]
    same = [_same(expected, value) for expected, value in values if expected is not _UNKNOWN]
    return same.count(False) * -1, same.count(True)


def _attribute_mistake(phase: str, call: Seen, effect: Foreseen, target: Planned) -> Mistake | None:
    if target.deletes or effect.name in ALSO or effect.hidden:
        return None  # what prepares a deletion goes with it
    expected = _at(target.after, effect.attribute) if effect.name in target.after else _UNKNOWN
    if expected is _UNKNOWN:
        stays = not target.creates and effect.name not in target.changed and effect.name in target.after
        return _mistake(phase, "invented", call, effect, "no change") if stays else None
    if _same(expected, effect.value):
        return None
    stays = not target.creates and effect.name not in target.changed
    return _mistake(phase, "invented" if stays else "value", call, effect, _short(expected))


def _missed(
    phase: str,
    *,
    planned: Mapping[str, Planned],
    asked: Mapping[str, frozenset[str]],
    calls: Sequence[Seen],
    foreseen: set[tuple[str, str]],
) -> Iterator[Mistake]:
    """What changes and no call of its resource type showed: `missed`, or `whole` where a row foresaw the resource as a whole.

    If one of these calls has no certain row, it may be the one.
    """
    by_type: Mapping[str, list[Seen]] = defaultdict(list)
    for call in calls:
        by_type[call.sender].append(call)
    touched = {address for address, _ in foreseen}
    for address, names in asked.items():
        change = planned[address]
        sent = by_type.get(change.type, [])
        for name in sorted(names):
            if not sent or (address, name) in foreseen or (name == "*" and address in touched):
                continue
            unsure = [call for call in sent if not call.row.certain]
            yield Mistake(
                phase=phase,
                kind="whole" if (address, "*") in foreseen else "missed",
                operation=" ".join(dict.fromkeys(each.operation for each in unsure or sent)),
                row=Row.NONE if unsure else sent[0].row,
                parameters=tuple(dict.fromkeys(each for call in sent for each in call.parameters)),
                address=address,
                attribute=name,
                expected=_expected(change, name),
                foreseen="nothing",
            )


def _expected(change: Planned, name: str) -> str:
    if name != "*":
        return _short(change.after.get(name))
    return "created" if change.creates else "deleted"


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
