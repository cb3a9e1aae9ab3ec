"""Traces through function calls and arithmetic: which argument holds the value, and the inverse of the calculation.

`reconciler.rewrite.trace` calls this module and is called back as `follow`, because an argument can be any expression.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

from gateway.terraform.lang import expression as e
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import value_of
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.values import EvaluationFailed, Unknown, Value
from reconciler.rewrite.inverse import inverse, then
from reconciler.rewrite.place import Cursor, EntryPlace, ListPlace, LiteralPlace, Place, source_of

Follow: TypeAlias = Callable[[Cursor, Expression, tuple[str, ...]], Iterator[Place]]
"""Yields the places that define the value at a path inside an expression."""

_CONVERSIONS = frozenset({"tolist", "toset", "tomap", "tonumber", "tostring", "tobool", "sensitive", "nonsensitive"})


def call(cursor: Cursor, expression: e.FunctionCall, path: tuple[str, ...], follow: Follow) -> Iterator[Place]:
    """Places that define the value at `path` of a function's result. Raises `Unknown` if an argument is not known."""
    arguments = expression.arguments
    if expression.expand:
        yield cursor.refuse(f"{expression.name}() with `...` is not followed.", expression)
    elif expression.name in _CONVERSIONS and len(arguments) == 1:
        yield from follow(cursor, arguments[0], path)
    elif expression.name == "merge" and path:
        yield from _in_merge(cursor, expression, path, follow)
    elif expression.name == "lookup" and len(arguments) > 1:
        yield from _in_lookup(cursor, expression, path, follow)
    elif expression.name in ("try", "coalesce"):
        yield from _in_choice(cursor, expression, path, follow)
    else:
        yield cursor.refuse(f"{expression.name}() cannot be inverted.", expression)


def _in_merge(cursor: Cursor, expression: e.FunctionCall, path: tuple[str, ...], follow: Follow) -> Iterator[Place]:
    """Places in the last map that holds the key, then in the object literals after it, which could hold it."""
    later: list[Expression] = []
    for argument in reversed(expression.arguments):
        try:
            holds = _holds(value_of(argument, cursor.scope), path)
        except Unknown as error:
            yield cursor.refuse(f"Which map of merge() holds the value is not known: {error}.", argument)
            break
        if holds:
            line = f"{cursor.document.at(argument.start)} of merge(): {source_of(cursor.document, argument)}"
            yield from follow(cursor.step(line), argument, path)
            break
        later.append(argument)
    written = [argument for argument in later if isinstance(e.bare(argument), e.Object)]
    for argument in written or later[:1]:
        yield from follow(cursor, argument, path)


def _holds(value: Value, path: tuple[str, ...]) -> bool:
    if values.known(value) is None:
        return False
    table = values.mapping(value, "merge()")
    return any(".".join(path[:length]) in table for length in range(1, len(path) + 1))


def _in_lookup(cursor: Cursor, expression: e.FunctionCall, path: tuple[str, ...], follow: Follow) -> Iterator[Place]:
    source, key, *default = expression.arguments
    name = values.text(value_of(key, cursor.scope))
    yield from follow(cursor, source, (name, *path))
    if name not in values.mapping(value_of(source, cursor.scope), "lookup()") and default:
        yield from follow(cursor, default[0], path)


def _in_choice(cursor: Cursor, expression: e.FunctionCall, path: tuple[str, ...], follow: Follow) -> Iterator[Place]:
    """Places in the first argument with a value; before them, places where an earlier argument could be given a value."""
    for argument in expression.arguments:
        try:
            value = value_of(argument, cursor.scope)
        except EvaluationFailed:
            value = None
        except Unknown as error:
            yield cursor.refuse(f"Which argument of {expression.name}() holds is not known: {error}.", argument)
            return
        skipped = value is None or (value == "" and expression.name == "coalesce")
        for place in follow(cursor, argument, path):
            if not skipped or _is_or_makes_entry(place):
                yield place
        if not skipped:
            return
    yield cursor.refuse(f"No argument of {expression.name}() holds.", expression)


def _is_or_makes_entry(place: Place) -> bool:
    match place:
        case EntryPlace():
            return True
        case LiteralPlace(entry=entry) | ListPlace(entry=entry):
            return entry is not None
        case _:
            return False


def arithmetic(cursor: Cursor, expression: e.Binary, follow: Follow) -> Iterator[Place]:
    """Places in each operand that is not a literal, with the inverse by the other operand."""
    sides = ((expression.left, expression.right, True), (expression.right, expression.left, False))
    for side, other, left in sides:
        if isinstance(e.bare(side), e.LiteralValue) or expression.operator not in "+-*/":
            continue
        try:
            constant = value_of(other, cursor.scope)
            inverted = inverse(expression.operator, constant, left=left)
        except Unknown as error:
            yield cursor.refuse(f"The calculation cannot be inverted: {error}.", expression)
            continue
        line = f"{cursor.document.at(expression.start)} inverted: {source_of(cursor.document, expression)}"
        yield from follow(replace(cursor.step(line), convert=then(inverted, cursor.convert)), side, ())
    if all(isinstance(e.bare(side), e.LiteralValue) for side, _, _ in sides) or expression.operator not in "+-*/":
        yield cursor.refuse("The value is calculated from numbers in place.", expression)
