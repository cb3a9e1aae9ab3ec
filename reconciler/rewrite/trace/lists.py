"""Traces into lists, sets and objects: those written in place, and those that functions put together."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from gateway.core.model.equality import equal
from gateway.core.model.json import Json
from gateway.terraform.lang import expression as e
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import value_of
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.values import Unknown, Value
from reconciler.rewrite.trace.chosen_items import ChosenItems
from reconciler.rewrite.trace.inverse import Inverse, then
from reconciler.rewrite.trace.sites import Cursor, Follow, ObjectEntry, TracedSite, source_of
from reconciler.rewrite.trace.solution import variable_of

Tracer = Callable[[Cursor, e.FunctionCall, tuple[str, ...], Follow], Iterator[TracedSite]]


def _row(cursor: Cursor, expression: Expression) -> list[Json]:
    """The items of a list whose every item is known. Raises `Unknown`."""
    return [values.to_json(item) for item in values.items(value_of(expression, cursor.scope), "a list")]


def _asked(value: Json) -> list[Json]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise Unknown("the wanted value is not a list")
    return list(value)


def _holds(row: Sequence[Json], item: Json) -> bool:
    return any(equal(each, item) for each in row)


def _each_argument(
    cursor: Cursor,
    expression: e.FunctionCall,
    arguments: Sequence[Expression],
    make: Callable[[int], Inverse],
    follow: Follow,
) -> Iterator[TracedSite]:
    """Sites in every argument, the last first: what is added is most often added at the end."""
    for position in reversed(range(len(arguments))):
        argument = arguments[position]
        try:
            convert = make(position)
        except Unknown as error:
            yield cursor.refuse(f"{expression.name}() cannot be inverted: {error}.", argument)
            continue
        line = f"{cursor.document.at(argument.start)} of {expression.name}(): {source_of(cursor.document, argument)}"
        yield from follow(replace(cursor.step(line), convert=then(convert, cursor.convert), entry=None), argument, ())


# ---------------------------------------------------------------------------------------------------- lists


def _in_concat(
    cursor: Cursor, expression: e.FunctionCall, path: tuple[str, ...], follow: Follow
) -> Iterator[TracedSite]:
    arguments = expression.arguments
    if path and path[0].isdecimal():
        yield from _in_position(cursor, expression, path, follow)
        return

    def make(position: int) -> Inverse:
        before = [item for each in arguments[:position] for item in _row(cursor, each)]
        after = [item for each in arguments[position + 1 :] for item in _row(cursor, each)]
        return _middle(before, after)

    yield from _each_argument(cursor, expression, arguments, make, follow)


def _in_position(
    cursor: Cursor, expression: e.FunctionCall, path: tuple[str, ...], follow: Follow
) -> Iterator[TracedSite]:
    """Sites of one item, counted from the beginning of the first list."""
    left = int(path[0])
    for argument in expression.arguments:
        length = len(values.items(value_of(argument, cursor.scope), "a list"))
        if left < length:
            yield from follow(cursor, argument, (str(left), *path[1:]))
            return
        left -= length
    yield cursor.refuse(f"{expression.name}() has no item {path[0]}.", expression)


def _middle(before: Sequence[Json], after: Sequence[Json]) -> Inverse:
    def invert(value: Json) -> Json:
        wanted = _asked(value)
        end = len(wanted) - len(after)
        if end < len(before) or not equal(wanted[: len(before)], before) or not equal(wanted[end:], after):
            raise Unknown("the wanted list does not hold the items of the other lists where they are")
        return wanted[len(before) : end]

    return invert


def _in_flatten(
    cursor: Cursor, expression: e.FunctionCall, path: tuple[str, ...], follow: Follow
) -> Iterator[TracedSite]:
    """`flatten([a, b])` is followed like `concat(a, b)`, if each item is a list of plain values."""
    (argument,) = expression.arguments
    written = e.bare(argument)
    if path and path[0].isdecimal() and (steps := _nested_steps(value_of(argument, cursor.scope), int(path[0]))):
        yield from follow(cursor, argument, (*steps, *path[1:]))
        return
    if not isinstance(written, e.Tuple) or not all(_is_flat(cursor, item) for item in written.items):
        yield cursor.refuse("flatten() is followed only if its lists are written in place.", expression)
        return
    yield from _in_concat(cursor, replace(expression, arguments=written.items), path, follow)


def _nested_steps(value: Value, index: int) -> tuple[str, ...]:
    """The steps to the item that `flatten` puts at an index; none if there is no such item. Raises `Unknown`."""
    found = list(_leaves(value, ()))
    return found[index] if index < len(found) else ()


def _leaves(value: Value, steps: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if values.is_list(values.known(value)):
        for position, item in enumerate(values.items(value, "flatten()")):
            yield from _leaves(item, (*steps, str(position)))
    else:
        yield steps


def _is_flat(cursor: Cursor, expression: Expression) -> bool:
    try:
        value = value_of(expression, cursor.scope)
        return values.is_list(value) and not any(values.is_list(item) for item in values.items(value, "a list"))
    except Unknown:
        return False


def _in_picked(
    cursor: Cursor, expression: e.FunctionCall, path: tuple[str, ...], follow: Follow
) -> Iterator[TracedSite]:
    """`element`, `one`, `slice`, `reverse`: the same item at another position of the first argument."""
    length = len(values.items(value_of(expression.arguments[0], cursor.scope), "a list"))
    numbers = [int(values.decimal(value_of(each, cursor.scope))) for each in expression.arguments[1:]]
    match expression.name:
        case "element" if length:
            inner: tuple[str, ...] = (str(numbers[0] % length), *path)
        case "one":
            inner = ("0", *path)
        case "slice" if path and path[0].isdecimal():
            inner = (str(numbers[0] + int(path[0])), *path[1:])
        case "reverse" if path and path[0].isdecimal():
            inner = (str(length - 1 - int(path[0])), *path[1:])
        case "reverse" if not path:
            backwards: Inverse = lambda value: _asked(value)[::-1]  # noqa: E731  shown where it is used
            cursor, inner = replace(cursor, convert=then(backwards, cursor.convert)), ()
        case _:
            yield cursor.refuse(f"{expression.name}() is not edited as a whole.", expression)
            return
    yield from follow(cursor, expression.arguments[0], inner)


def _in_zipmap(
    cursor: Cursor, expression: e.FunctionCall, path: tuple[str, ...], follow: Follow
) -> Iterator[TracedSite]:
    names = [values.text(name) for name in values.items(value_of(expression.arguments[0], cursor.scope), "zipmap()")]
    for length in range(1, len(path) + 1):
        if (key := ".".join(path[:length])) in names:
            yield from follow(cursor, expression.arguments[1], (str(names.index(key)), *path[length:]))
            return
    yield cursor.refuse("zipmap() is not edited as a whole.", expression)


# ----------------------------------------------------------------------------------------------------- sets


def _in_set(cursor: Cursor, expression: e.FunctionCall, path: tuple[str, ...], follow: Follow) -> Iterator[TracedSite]:
    """Each argument as it must be for the result to be the wanted set. Items that stay keep their places."""
    if path:
        yield cursor.refuse("The items of a set have no places of their own.", expression)
        return

    def make(position: int) -> Inverse:
        rows = [_row(cursor, each) for each in expression.arguments]
        own, others = rows[position], rows[:position] + rows[position + 1 :]
        return lambda value: _SETS[expression.name](own, others, _asked(value), position)

    yield from _each_argument(cursor, expression, expression.arguments, make, follow)


def _union(own: list[Json], others: list[list[Json]], wanted: list[Json], _position: int) -> list[Json]:
    elsewhere = [item for row in others for item in row]
    if any(not _holds(wanted, item) for item in elsewhere):
        raise Unknown("another set holds an item that is not wanted")
    new = [item for item in wanted if not _holds(own, item) and not _holds(elsewhere, item)]
    return [item for item in own if _holds(wanted, item)] + new


def _intersection(own: list[Json], others: list[list[Json]], wanted: list[Json], _position: int) -> list[Json]:
    if any(not _holds(row, item) for row in others for item in wanted):
        raise Unknown("another set does not hold an item that is wanted")
    common = [item for item in own if all(_holds(row, item) for row in others)]
    kept = [item for item in own if _holds(wanted, item) or not _holds(common, item)]
    return kept + [item for item in wanted if not _holds(own, item)]


def _difference(own: list[Json], others: list[list[Json]], wanted: list[Json], position: int) -> list[Json]:
    (other,) = others
    if position == 0:
        if any(_holds(other, item) for item in wanted):
            raise Unknown("the set that is subtracted holds an item that is wanted")
        kept = [item for item in own if _holds(wanted, item) or _holds(other, item)]
        return kept + [item for item in wanted if not _holds(own, item)]
    if any(not _holds(other, item) for item in wanted):
        raise Unknown("the first set does not hold an item that is wanted")
    removed = [item for item in other if not _holds(wanted, item) and not _holds(own, item)]
    return [item for item in own if not _holds(wanted, item)] + removed


_SETS: Mapping[str, Callable[[list[Json], list[list[Json]], list[Json], int], list[Json]]] = {
    "setunion": _union,
    "setintersection": _intersection,
    "setsubtract": _difference,
}


def _in_cleaned(
    cursor: Cursor, expression: e.FunctionCall, path: tuple[str, ...], follow: Follow
) -> Iterator[TracedSite]:
    """`compact`, `distinct`, `sort`: the list itself, in which the items that stay keep their order."""
    own = _row(cursor, expression.arguments[0])
    if path:
        yield cursor.refuse(f"{expression.name}() moves the items, so one alone is not edited.", expression)
        return

    def invert(value: Json) -> Json:
        wanted = _asked(value)
        return [item for item in own if _holds(wanted, item)] + [item for item in wanted if not _holds(own, item)]

    yield from follow(replace(cursor, convert=then(invert, cursor.convert)), expression.arguments[0], ())


def in_whole_for(cursor: Cursor, expression: e.For, follow: Follow) -> Iterator[TracedSite]:
    """Sites in the source of `[for x in source : …]`, each wanted item solved for `x`; what an `if` leaves out keeps its place."""
    each: Inverse
    try:
        if expression.condition is not None:
            chosen = ChosenItems.of(_row(cursor, expression.source), expression, cursor.scope)
            each = lambda value: chosen.source_of(_asked(value))  # noqa: E731  shown where it is used
        else:
            item = variable_of(expression.value, expression.names[-1], cursor.scope)
            each = lambda value: [item(wanted) for wanted in _asked(value)]  # noqa: E731  shown where it is used
    except Unknown as error:
        yield cursor.refuse(f"The list made by `for` cannot be inverted: {error}.", expression)
        return
    line = f"{cursor.document.at(expression.start)} inverted: {source_of(cursor.document, expression)}"
    yield from follow(replace(cursor.step(line), convert=then(each, cursor.convert)), expression.source, ())


TRACERS: Mapping[str, tuple[int, Tracer]] = {
    "compact": (1, _in_cleaned),
    "concat": (1, _in_concat),
    "distinct": (1, _in_cleaned),
    "element": (2, _in_picked),
    "flatten": (1, _in_flatten),
    "one": (1, _in_picked),
    "reverse": (1, _in_picked),
    "setintersection": (1, _in_set),
    "setsubtract": (2, _in_set),
    "setunion": (1, _in_set),
    "slice": (3, _in_picked),
    "sort": (1, _in_cleaned),
    "zipmap": (2, _in_zipmap),
}
"""How each function is followed, by name, with the least number of arguments."""


def in_tuple(cursor: Cursor, expression: e.Tuple, path: tuple[str, ...], follow: Follow) -> Iterator[TracedSite]:
    """The list itself, or sites in one of its items: by index, or by value if it becomes a set."""
    if not path:
        yield cursor.list_items(expression)
        yield from _in_calculated_items(cursor, expression, follow)
    elif path[0].isdecimal() and int(path[0]) < len(expression.items):
        yield from follow(replace(cursor, entry=None), expression.items[int(path[0])], path[1:])
    else:
        for item in expression.items:
            if _is(cursor, item, path[0]):
                yield from follow(replace(cursor, entry=None), item, path[1:])
                return
        yield cursor.refuse(f"The list has no item {path[0]}.", expression)


def _in_calculated_items(cursor: Cursor, expression: e.Tuple, follow: Follow) -> Iterator[TracedSite]:
    """Sites in each item that is calculated, if all others stay as they are: `[rule.value.cidr]`."""
    for place, item in enumerate(expression.items):
        if isinstance(e.literal(item), e.NotLiteral):
            with contextlib.suppress(Unknown):
                others = [values.to_json(value_of(each, cursor.scope)) for each in expression.items if each is not item]
                line = f"{cursor.document.at(item.start)} item {place + 1}: {source_of(cursor.document, item)}"
                convert = then(_only_other(others), cursor.convert)
                yield from follow(replace(cursor.step(line), convert=convert, entry=None), item, ())


def _only_other(others: Sequence[Json]) -> Inverse:
    """From a list to its only item besides the others."""

    def invert(value: Json) -> Json:
        rest = _asked(value)
        for each in others:
            held = next((place for place, item in enumerate(rest) if equal(item, each)), None)
            if held is None:
                raise Unknown("another item of the list is not wanted either")
            del rest[held]
        if len(rest) != 1:
            raise Unknown("the wanted list has another number of items")
        return rest[0]

    return invert


def _is(cursor: Cursor, expression: Expression, text: str) -> bool:
    try:
        return values.text(value_of(expression, cursor.scope)) == text
    except Unknown:
        return False


def in_object(cursor: Cursor, expression: e.Object, path: tuple[str, ...], follow: Follow) -> Iterator[TracedSite]:
    """The object itself, sites in one of its entries, or the object as a site for a new entry."""
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
