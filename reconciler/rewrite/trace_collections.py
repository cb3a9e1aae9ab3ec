"""Traces into lists and objects that are written in place."""

from collections.abc import Iterator
from dataclasses import replace

from gateway.model.json import Json
from gateway.terraform.lang import expression as e
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import value_of
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.values import Unknown
from reconciler.rewrite.follow import Follow
from reconciler.rewrite.inverse import Inverse, then
from reconciler.rewrite.place import Cursor, ObjectEntry, Place, source_of


def in_tuple(cursor: Cursor, expression: e.Tuple, path: tuple[str, ...], follow: Follow) -> Iterator[Place]:
    """The list itself, or places in one of its items: by index, or by value if it becomes a set."""
    if not path:
        yield cursor.list_items(expression)
    elif path[0].isdecimal() and int(path[0]) < len(expression.items):
        yield from follow(replace(cursor, entry=None), expression.items[int(path[0])], path[1:])
    else:
        for item in expression.items:
            if _is(cursor, item, path[0]):
                yield from follow(replace(cursor, entry=None), item, path[1:])
                return
        yield cursor.refuse(f"The list has no item {path[0]}.", expression)


def _is(cursor: Cursor, expression: Expression, text: str) -> bool:
    try:
        return values.text(value_of(expression, cursor.scope)) == text
    except Unknown:
        return False


def in_object(cursor: Cursor, expression: e.Object, path: tuple[str, ...], follow: Follow) -> Iterator[Place]:
    """The object itself, places in one of its entries, or the object as a place for a new entry."""
    if not path:
        yield cursor.literal(expression)
        return
    elements = {values.text(value_of(element.key, cursor.scope)): element for element in expression.elements}
    for length in range(1, len(path) + 1):
        element = elements.get(".".join(path[:length]))
        if element is not None:
            line = f"{cursor.document.at(element.start)} {source_of(cursor.document, element.key)} = " + source_of(
                cursor.document, element.value
            )
            inner = replace(cursor, entry=ObjectEntry(element, expression)).step(line)
            yield from follow(inner, element.value, path[length:])
            return
    line = f"{cursor.document.at(expression.start)} the map has no {'.'.join(path)}"
    if not any(isinstance(e.bare(each.value), e.Object) for each in expression.elements) or len(path) == 1:
        yield replace(cursor.step(line), entry=None).new_entry(expression, ".".join(path))
    if len(path) > 1:
        wrapped = replace(cursor.step(line), entry=None, convert=then(_wrapping(path[1:]), cursor.convert))
        yield wrapped.new_entry(expression, path[0])


def _wrapping(steps: tuple[str, ...]) -> Inverse:
    """From a value to the map that has it at these steps."""

    def wrap(value: Json) -> Json:
        for step in reversed(steps):
            value = {step: value}
        return value

    return wrap
