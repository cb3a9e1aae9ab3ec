"""Solves `[for x in source : … if …]` for its source: what the `if` leaves out keeps its place, and may be switched on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from gateway.core.model.equality import equal
from gateway.core.model.json import Json
from gateway.terraform.lang import expression as e
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import EvaluationScope, value_of
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.values import Unknown
from reconciler.rewrite.trace.solution import variable_of

Steps = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenItems:
    """The items of a source, and what the list makes of each."""

    source: Sequence[Json]
    chosen: Sequence[bool]
    """Whether the condition holds, for each item."""
    made: Sequence[Json]
    """The item of the list that each one gives, or would give if it were chosen; null if that is not known."""
    value: Expression
    name: str
    scope: EvaluationScope
    steps: Steps | None
    """The steps from an item to what the list has of it; None if it is calculated."""
    switch: Steps | None
    """The steps from an item to the bool that chooses it; None if something else does."""

    @classmethod
    def of(cls, source: Sequence[Json], expression: e.For, scope: EvaluationScope) -> Self:
        """Those of a `for` with `if` over a list. Raises `Unknown`."""
        if len(expression.names) > 1 or expression.condition is None:
            raise Unknown("its items are counted")
        name, condition = expression.names[0], expression.condition
        inside = [replace(scope, bound={**scope.bound, name: item}) for item in source]
        chosen = [values.truth(value_of(condition, each)) for each in inside]
        made = [_known(expression.value, each) for each in inside]
        switch = _steps(condition, name)
        return cls(
            source=source,
            chosen=chosen,
            made=made,
            value=expression.value,
            name=name,
            scope=scope,
            steps=_steps(expression.value, name),
            switch=switch or None,
        )

    def source_of(self, wanted: Sequence[Json]) -> Json:
        """The source that gives the wanted list. Raises `Unknown`.

        An item that is not wanted any more gets the value of a new one; else it is switched off, or goes.
        """
        row, new = list(self.source), list(wanted)
        gone = [place for place, yes in enumerate(self.chosen) if yes and not _taken(new, self.made[place])]
        new = [each for each in new if not self._switched_on(row, each)]
        for place, each in zip(gone, new, strict=False):
            row[place] = self._item(self.source[place], each)
        added = [self._item(None, each) for each in new[len(gone) :]]
        rest = gone[len(new) :]
        if self.switch is None:
            return [each for place, each in enumerate(row) if place not in rest] + added
        for place in rest:
            row[place] = _put(row[place], self.switch, value=False)
        return row + added

    def _switched_on(self, row: list[Json], wanted: Json) -> bool:
        """Switch on the item that gives a wanted one, if one does."""
        for place, made in enumerate(self.made):
            if self.switch is not None and not self.chosen[place] and equal(made, wanted):
                row[place] = _put(self.source[place], self.switch, value=True)
                return True
        return False

    def _item(self, old: Json, wanted: Json) -> Json:
        if self.steps is None:
            return variable_of(self.value, self.name, self.scope)(wanted)
        if self.steps and not isinstance(old, Mapping):
            raise Unknown("no item shows what a new one has besides")
        return _put(old, self.steps, value=wanted)


def _known(expression: Expression, scope: EvaluationScope) -> Json:
    try:
        return values.to_json(value_of(expression, scope))
    except Unknown:
        return None


def _taken(wanted: list[Json], item: Json) -> bool:
    """Take an item out of the wanted ones, if it is among them."""
    held = next((place for place, each in enumerate(wanted) if equal(each, item)), None)
    if held is not None:
        del wanted[held]
    return held is not None


def _steps(expression: Expression, name: str) -> Steps | None:
    """The steps from the variable of a `for` to what an expression is; None if it is anything else."""
    bare = e.bare(expression)
    if isinstance(bare, e.Name) and bare.name == name:
        return ()
    found = e.steps_of(bare)
    if found is None or found[0] != name or not all(isinstance(step, str) for step in found[1]):
        return None
    return tuple(str(step) for step in found[1])


def _put(item: Json, steps: Steps, *, value: Json) -> Json:
    if not steps:
        return value
    held = item if isinstance(item, Mapping) else {}
    return {**held, steps[0]: _put(held.get(steps[0]), steps[1:], value=value)}
