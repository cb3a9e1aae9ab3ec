"""The parameters of a call that force, restart, cascade, overwrite, or lift a safeguard: reviewed by name, and judged by policy as classes.

They give no attribute a value, or one that AWS does not keep, so no bound sees them. `reviewed_controls.json` has every boolean parameter of
AWS's mutations and every parameter that a row accounts for without an attribute. What it does not name is unreviewed: a derived row with
such a parameter is not followed (`gateway.effects.derived_effects`), and tests fail for a hand-made one.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files
from typing import Final

from gateway.core.model.json import SCALARS
from gateway.core.model.mutation import Call

FILE: Final = "reviewed_controls.json"


class Control(StrEnum):
    """What a parameter makes a call do beside what its name says."""

    APPLIES_PENDING = "applies_pending"
    """AWS also applies what others asked for and left to the maintenance window."""
    FORCES = "forces"
    """AWS does not wait for, or does not mind, what still uses the resource."""
    SKIPS_BACKUP = "skips_backup"
    """The last snapshot is not taken, or backups go too."""
    CASCADES = "cascades"
    """What belongs to the resource, or was made by it, goes too."""
    RESTARTS = "restarts"
    """What runs is stopped or replaced, though the change needs no such thing."""
    OVERWRITES = "overwrites"
    """What somebody else put there is replaced, or taken from another resource."""
    LIFTS_SAFEGUARD = "lifts_safeguard"
    """A check that AWS would make is left out."""
    IRREVOCABLE = "irrevocable"
    """Data, or the way back to it, may be lost for good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A parameter of this kind that a call gives."""

    parameter: str
    """Its name, without the structures around it."""
    value: bool | str
    control: Control


def controls_of(call: Call) -> tuple[Given, ...]:
    """The parameters of the call, at any depth, by which it does more than its name says; each name once, in the order of the call."""
    table = _table()
    found = (
        Given(parameter=name, value=value if isinstance(value, bool) else str(value), control=control)
        for name, value in _members(call.parameters)
        if (control := table.control(name, value)) is not None
        and f"{call.service}:{call.operation}.{name}" not in table.excepted
    )
    return tuple(dict.fromkeys(found))


def is_reviewed(parameter: str) -> bool:
    """Whether somebody said what the parameter makes calls do. Only the last step of its path counts."""
    return parameter.rpartition(".")[2] in _table().reviewed


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    when_true: Mapping[str, Control]
    when_false: Mapping[str, Control]
    by_value: Mapping[str, Mapping[str, Control]]
    excepted: frozenset[str]
    """`service:operation.Parameter` of those that are plain there."""
    reviewed: frozenset[str]

    def control(self, name: str, value: object) -> Control | None:
        if value is True:
            return self.when_true.get(name)
        if value is False:
            return self.when_false.get(name)
        return self.by_value[name].get(str(value)) if name in self.by_value else None


@lru_cache(maxsize=1)
def _table() -> _Table:
    entries = json.loads((files(__package__) / FILE).read_bytes())
    when_true, when_false = _by_name(entries["when_true"]), _by_name(entries["when_false"])
    by_value = {
        name: {value: Control(control) for value, control in values.items()}
        for name, values in entries["by_value"].items()
    }
    return _Table(
        when_true=when_true,
        when_false=when_false,
        by_value=by_value,
        excepted=frozenset(entries["plain_in"]),
        reviewed=frozenset({*when_true, *when_false, *by_value, *_words(entries["plain"])}),
    )


def _by_name(classes: Mapping[str, Sequence[str]]) -> dict[str, Control]:
    return {name: Control(control) for control, lines in classes.items() for name in _words(lines)}


def _words(lines: Sequence[str]) -> Iterator[str]:
    return (word for line in lines for word in line.split())


def _members(value: object) -> Iterator[tuple[str, object]]:
    """Every member of the structures in a value, at any depth."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield str(name), inner
            if type(inner) not in SCALARS:
                yield from _members(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            if not isinstance(inner, str):
                yield from _members(inner)
