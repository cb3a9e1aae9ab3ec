"""Tracing through functions and arithmetic: which argument holds the value, and what it must become."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

from gateway.terraform.lang import expression as e
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import value_of
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.values import EvaluationFailed, Unknown, Value
from reconciler.rewrite.inverse import inverse, then
from reconciler.rewrite.place import Cursor, Trace, source_of

Follow: TypeAlias = Callable[[Cursor, Expression, tuple[str, ...]], Iterator[Trace]]
"""Traces one expression further."""

_SAME = frozenset({"tolist", "toset", "tomap", "tonumber", "tostring", "tobool", "sensitive", "nonsensitive"})


def call(spot: Cursor, expression: e.FunctionCall, path: tuple[str, ...], follow: Follow) -> Iterator[Trace]:
    """Places that define the value at `path` of a function's result. Raises `Unknown` where arguments are not known."""
    arguments = expression.arguments
    if expression.expand:
        yield spot.refuse(f"{expression.name}() with `...` is not followed.", expression)
    elif expression.name in _SAME and len(arguments) == 1:
        yield from follow(spot, arguments[0], path)
    elif expression.name == "merge" and path:
        yield from _in_merge(spot, expression, path, follow)
    elif expression.name == "lookup" and len(arguments) > 1:
        yield from _in_lookup(spot, expression, path, follow)
    elif expression.name in ("try", "coalesce"):
        yield from _in_choice(spot, expression, path, follow)
    else:
        yield spot.refuse(f"{expression.name}() is not turned round.", expression)


def _in_merge(spot: Cursor, expression: e.FunctionCall, path: tuple[str, ...], follow: Follow) -> Iterator[Trace]:
    """The last map that holds the key; then maps after it that are written right there and could hold it."""
    later: list[Expression] = []
    for argument in reversed(expression.arguments):
        try:
            holds = _holds(value_of(argument, spot.scope), path)
        except Unknown as error:
            yield spot.refuse(f"Which map of merge() holds the value is not known: {error}.", argument)
            break
        if holds:
            line = f"{spot.document.at(argument.start)} of merge(): {source_of(spot.document, argument)}"
            yield from follow(spot.step(line), argument, path)
            break
        later.append(argument)
    written = [argument for argument in later if isinstance(e.bare(argument), e.Object)]
    for argument in written or later[:1]:
        yield from follow(spot, argument, path)


def _holds(value: Value, path: tuple[str, ...]) -> bool:
    if values.known(value) is None:
        return False
    table = values.mapping(value, "merge()")
    return any(".".join(path[:length]) in table for length in range(1, len(path) + 1))


def _in_lookup(spot: Cursor, expression: e.FunctionCall, path: tuple[str, ...], follow: Follow) -> Iterator[Trace]:
    source, key, *default = expression.arguments
    name = values.text(value_of(key, spot.scope))
    yield from follow(spot, source, (name, *path))
    if name not in values.mapping(value_of(source, spot.scope), "lookup()") and default:
        yield from follow(spot, default[0], path)


def _in_choice(spot: Cursor, expression: e.FunctionCall, path: tuple[str, ...], follow: Follow) -> Iterator[Trace]:
    """What was passed over could be given a value of its own; then the argument that holds."""
    for argument in expression.arguments:
        try:
            value = value_of(argument, spot.scope)
        except EvaluationFailed:
            value = None
        except Unknown as error:
            yield spot.refuse(f"Which argument of {expression.name}() holds is not known: {error}.", argument)
            return
        passed = value is None or (value == "" and expression.name == "coalesce")
        for place in follow(spot, argument, path):
            if not passed or place.kind == "entry" or place.element is not None:
                yield place
        if not passed:
            return
    yield spot.refuse(f"No argument of {expression.name}() holds.", expression)


def arithmetic(spot: Cursor, expression: e.Binary, follow: Follow) -> Iterator[Trace]:
    """The side that is named, turned round by the side that is known."""
    sides = ((expression.left, expression.right, True), (expression.right, expression.left, False))
    for side, other, left in sides:
        if isinstance(e.bare(side), e.LiteralValue) or expression.operator not in "+-*/":
            continue
        try:
            constant = value_of(other, spot.scope)
            inverted = inverse(expression.operator, constant, left=left)
        except Unknown as error:
            yield spot.refuse(f"The calculation cannot be turned round: {error}.", expression)
            continue
        line = f"{spot.document.at(expression.start)} turned round: {source_of(spot.document, expression)}"
        yield from follow(replace(spot.step(line), convert=then(inverted, spot.convert)), side, ())
    if all(isinstance(e.bare(side), e.LiteralValue) for side, _, _ in sides) or expression.operator not in "+-*/":
        yield spot.refuse("The value is calculated from numbers in place.", expression)
