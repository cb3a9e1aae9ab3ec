"""Finds the attribute that explains a parameter: by markers, by codes of finite values, or because only that attribute was changed.

Everything less certain is no explanation.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from tests.tools.effects_tracing.columns import Columns, leaf
from tests.tools.effects_tracing.comparison import Way, is_unique, way
from tests.tools.effects_tracing.evidence import Observation
from tests.tools.effects_tracing.traces import Phase

_MOST_VALUES: Final = 16
_ENOUGH_RUNS: Final = 3
"""Runs over which the codes of finite values are told apart."""
SELF: Final = frozenset({"id", "arn"})
"""Attributes that name the resource itself; another attribute with the same value says more."""


class Sureness(StrEnum):
    """Why an explanation is certain."""

    MARKER = "marker"
    """The value is a marker, and was the attribute's in every run."""
    CODE = "code"
    """The value is finite and followed the attribute's code over the runs, and the names are alike."""
    CAUSE = "cause"
    """The parameter came or changed only when this attribute alone was changed."""
    NAME = "name"
    """The whole name of the parameter is the attribute's, and so was its value in every run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The attribute that a parameter carries."""

    attribute: str
    way: Way
    sureness: Sureness


Source = Callable[[Observation], Columns]
"""What a parameter is explained by: the configuration or the state of a run."""


def config_of(observation: Observation) -> Columns:
    """The configuration as a source."""
    return observation.config


def state_of(observation: Observation) -> Columns:
    """The state as a source."""
    return observation.state


def candidates(path: str, observations: Iterable[Observation], source: Source) -> Mapping[str, Way]:
    """The attributes whose values explain all values of the parameter in every one of these runs that has it."""
    found: dict[str, Way] | None = None
    for observation in observations:
        if path not in observation.parameters:
            continue
        values = observation.parameters[path][:_MOST_VALUES]
        known = source(observation)
        names = known.keys() if found is None else found.keys() & known.keys()
        here = {name: each for name in names if (each := _way_of_all(known[name][:_MOST_VALUES], values)) is not None}
        if found is None:
            found = here
        else:
            # A value and its negation in different runs are no relation.
            found = {
                name: max(each, found[name])
                for name, each in here.items()
                if (each is Way.NEGATED) == (found[name] is Way.NEGATED)
            }
        if not found:
            return {}
    return found or {}


def explain(path: str, observations: Sequence[Observation], source: Source) -> Explanation | None:
    """The one attribute that certainly explains the parameter in these runs, by marker or code."""
    seen = [each for each in observations if path in each.parameters]
    found = candidates(path, seen, source)
    usable = {name: each for name, each in found.items() if each.form is not None}
    sureness = _sureness(path, seen)
    if sureness is None:
        # A switch that is sent only when it is on: the runs without it are the other half of its column.
        usable = {name: each for name, each in usable.items() if _is_silent_when_off(path, name, observations)}
        sureness = Sureness.CODE
    if not usable:
        return None
    if source is state_of:  # what is asked for again stands in many places of an answer
        usable = {name: each for name, each in usable.items() if "." not in name} or usable
    best = min(usable.values())
    names = [name for name, each in usable.items() if each is best or max(each, best) < Way.JSON]
    if source is state_of:
        # What the stub answered in the place of the configured value may stand beside the id by chance.
        names = [name for name in names if not any(name in each.misread for each in seen)] or names
    name = _of_self(names, seen[0].parameters[path]) or _chosen(
        path, [name for name in names if name not in SELF] or names
    )
    if name is None or (sureness is Sureness.CODE and not are_alike(name, path)):
        return None
    return Explanation(attribute=name, way=usable[name], sureness=sureness)


def explain_by_cause(path: str, observations: Sequence[Observation]) -> Explanation | None:
    """The attribute whose change alone made the parameter come or change; this needs no unique value."""
    variants = sorted({each.variant for each in observations})
    found = [_cause(path, [each for each in observations if each.variant == variant]) for variant in variants]
    certain = {each.attribute: each for each in found if each is not None}
    return next(iter(certain.values())) if len(certain) == 1 else None


def are_alike(attribute: str, parameter: str) -> bool:
    """Whether the last steps of two paths share a word, or one is part of the other."""
    first, second = _words(leaf(attribute)), _words(leaf(parameter))
    joined = "".join(first), "".join(second)
    return bool(set(first) & set(second)) or joined[0] in joined[1] or joined[1] in joined[0]


def folded(name: str) -> str:
    """A name without its style and plurals."""
    return "".join(_words(name))


def _words(name: str) -> list[str]:
    text = re.sub(r"(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().replace("-", "_")
    return [word[:-1] if len(word) > 3 and word.endswith("s") else word for word in text.split("_") if word]


def _way_of_all(attribute: Sequence[Any], parameter: Sequence[Any]) -> Way | None:
    """How every value of the parameter follows from one of the attribute's; the least certain way of all."""
    worst = Way.SAME
    for value in parameter:
        ways = [each for item in attribute if (each := way(item, value)) is not None]
        if not ways:
            return None
        worst = max(worst, min(ways))
    return worst


def _sureness(path: str, seen: Sequence[Observation]) -> Sureness | None:
    if all(any(is_unique(value) for value in each.parameters[path]) for each in seen):
        return Sureness.MARKER
    different = {json.dumps(each.parameters[path], default=str) for each in seen}
    return Sureness.CODE if len(different) > 1 and len(seen) >= _ENOUGH_RUNS else None


def _is_silent_when_off(path: str, attribute: str, observations: Sequence[Observation]) -> bool:
    """Whether the parameter was left out in runs that had to send it, and the attribute was off or absent in each of these."""
    had_to = [each for each in observations if each.phase is Phase.CREATE or attribute in each.changed]
    without = [each for each in had_to if path not in each.parameters]
    is_off = all(not any(each.config.get(attribute, ())) for each in without)
    return bool(without) and is_off and len(had_to) >= _ENOUGH_RUNS


def _of_self(names: Sequence[str], values: Sequence[Any]) -> str | None:
    """The id or ARN, if one of them has the value and no other attribute but other forms of the ARN."""
    own = [name for name in names if name in SELF]
    if not own or any(name not in SELF and not name.startswith("arn_") for name in names):
        return None
    is_arn = any(str(value).startswith("arn:") for value in values)
    return next((name for name in own if (name == "arn") == is_arn), own[0])


def _chosen(path: str, names: Sequence[str]) -> str | None:
    """The one of several attributes with the same values whose name fits the parameter's; None if none or several do."""
    if len(names) == 1:
        return names[0]
    steps = [folded(step) for step in path.split(".")]
    fitting = [name for name in names if folded(leaf(name)) == steps[-1]]
    fitting = fitting or [name for name in names if folded(leaf(name)) in steps]
    if not fitting:
        last = [(name, folded(leaf(name))) for name in names]
        fitting = [name for name, each in last if each.endswith(steps[-1]) or steps[-1].endswith(each)]
    return fitting[0] if len(fitting) == 1 else None


def _cause(path: str, observations: Sequence[Observation]) -> Explanation | None:
    runs = {each.run: each for each in observations if each.phase is Phase.EACH}
    # A block that was changed member by member says more than its change as a whole.
    runs = {name: run for name, run in runs.items() if not any(other.startswith(f"{name}.") for other in runs)}
    present = {
        name: json.dumps(each.parameters[path], default=str) for name, each in runs.items() if path in each.parameters
    }
    name = _changer(path, runs, present)
    if name is None:
        return None
    run = runs[name]
    below = {each for each in run.changed if f"{each}.".startswith(f"{name}.") and each in run.config}
    ways = {each: _way_of_all(run.config[each][:_MOST_VALUES], run.parameters[path]) for each in sorted(below)}
    fits = {each: found for each, found in ways.items() if found is not None and found.form is not None}
    alike = [each for each in fits if folded(leaf(each)) in [folded(step) for step in path.split(".")]]
    certain = alike or [*fits]
    if len(certain) != 1:
        return None
    return Explanation(attribute=certain[0], way=fits[certain[0]], sureness=Sureness.CAUSE)


def _changer(path: str, runs: Mapping[str, Observation], present: Mapping[str, str]) -> str | None:
    """The attribute of the only run that has the parameter, or has it with another value than all the others."""
    if not present:
        return None
    steps = [folded(step) for step in path.split(".")]
    if len(present) == 1:
        name = next(iter(present))
        return name if len(runs) > 1 or folded(name) in steps else None
    values = [*present.values()]
    usual = max(sorted(set(values)), key=values.count)
    odd = [name for name, value in present.items() if value != usual]
    if len(odd) != 1 or (values.count(usual) < 2 and folded(odd[0]) not in steps):
        return None
    return odd[0]
