"""Counts what evaluating an expression costs, so that code from others cannot take too long."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gateway.terraform.lang.values import LONGEST_TEXT, Unknown, Value

MOST = 1_000_000
"""Steps for one expression of a stack's code, and items in one of its values."""
_LINE = 100
"""Characters of text that count as one step."""


@dataclass(slots=True)
class Steps:
    """What evaluating an expression may still cost: one step for each part that is evaluated and each item that a function reads."""

    left: int

    def take(self, count: int) -> None:
        """Use up some steps. Raises `Unknown` if no more are left."""
        self.left -= count
        if self.left < 0:
            raise Unknown("evaluating it takes too many steps; simplify the expression or make its lists shorter")


def take_for(arguments: Iterable[Value], steps: Steps | None) -> None:
    """Use up a step for every item in the arguments, at every depth, and one for every line's length of text."""
    if steps is None:
        return
    todo = list(arguments)
    while todo:
        value = todo.pop()
        if isinstance(value, str):
            steps.take(len(value) // _LINE if len(value) <= LONGEST_TEXT else MOST)
        elif isinstance(value, Mapping):
            steps.take(len(value))
            todo += value.values()
        elif isinstance(value, Sequence):
            steps.take(len(value))
            todo += value
