"""Traces through function calls and arithmetic: which argument holds the value, and the inverse of the calculation.

`reconciler.rewrite.trace.attribute.attribute` calls this module and is called back as `follow`, because an argument can be any expression.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from gateway.core.model.equality import equal
from gateway.core.model.json import Json
from gateway.terraform.lang import expression as e
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import EvaluationScope, value_of
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.values import EvaluationFailed, Unknown, Value
from reconciler.rewrite.trace import lists
from reconciler.rewrite.trace.conversions import set_as_given, set_steps_as_given
from reconciler.rewrite.trace.inverse import Inverse, inverse, then
from reconciler.rewrite.trace.overrides import constant_of_all
from reconciler.rewrite.trace.sites import (
    Alias,
    ArgumentSite,
    Cursor,
    DocumentSite,
    EntrySite,
    Follow,
    ListSite,
    LiteralSite,
    OverrideSite,
    TracedSite,
    YamlSite,
    source_of,
)
from reconciler.rewrite.trace.solution import argument_of_call, part_of_template

_CONVERSIONS = frozenset({"tolist", "tomap", "tonumber", "tostring", "tobool", "sensitive", "nonsensitive"})
_OWN_NAMES = frozenset({"var", "local", "each", "count"})
"""What a calculation may refer to and still be replaced by a number: what another object has, moves by itself."""


_COMPARING = frozenset({"==", "!=", "<", "<=", ">", ">=", "&&", "||"})


def call(cursor: Cursor, expression: e.FunctionCall, path: tuple[str, ...], follow: Follow) -> Iterator[TracedSite]:
    """Sites that define the value at `path` of a function's result. Raises `Unknown` if an argument is not known."""
    arguments = expression.arguments
    if expression.expand:
        yield from _in_expanded(cursor, expression, path, follow)
    elif expression.name == "toset" and len(arguments) == 1:
        yield from _in_set(cursor, arguments[0], path, follow)
    elif expression.name in _CONVERSIONS and len(arguments) == 1:
        yield from follow(cursor, arguments[0], path)
    elif expression.name == "jsonencode" and len(arguments) == 1 and path:
        yield from follow(replace(cursor, entry=None), arguments[0], path)
    elif expression.name == "templatefile" and len(arguments) == 2:  # noqa: PLR2004  file and variables
        yield from in_template_file(cursor, expression, path, follow)
    elif expression.name == "merge" and path:
        yield from _in_merge(cursor, expression, path, follow)
    elif expression.name == "lookup" and len(arguments) > 1:
        yield from _in_lookup(cursor, expression, path, follow)
    elif expression.name in ("try", "coalesce"):
        yield from _in_choice(cursor, expression, path, follow)
    elif (tracer := lists.TRACERS.get(expression.name)) is not None and len(arguments) >= tracer[0]:
        yield from tracer[1](cursor, expression, path, follow)
    else:
        yield from _in_other(cursor, expression, path, follow)


def _in_set(cursor: Cursor, argument: Expression, path: tuple[str, ...], follow: Follow) -> Iterator[TracedSite]:
    """Sites in the list that a set is made of: its items keep their places there."""
    with contextlib.suppress(Unknown):
        now = value_of(argument, cursor.scope)
        path = set_steps_as_given(now, path)
        if not path:
            cursor = replace(cursor, convert=then(set_as_given(now), cursor.convert))
    yield from follow(cursor, argument, path)


def _in_other(
    cursor: Cursor, expression: e.FunctionCall, path: tuple[str, ...], follow: Follow
) -> Iterator[TracedSite]:
    """Sites in a data file, or in the arguments of a function that has an inverse."""
    if path and expression.name == "formatlist" and path[0].isdecimal():
        yield cursor.refuse("formatlist() is edited as a whole.", expression)
    elif path and (filled := _filled_by(expression)) is not None:
        yield from in_template_file(cursor, filled, path, follow, is_yaml=expression.name == "yamldecode")
    elif path and expression.name == "jsondecode" and _opened_by(expression) is None:
        yield from follow(replace(cursor, entry=None), expression.arguments[0], path)
    elif (opened := _opened_by(expression)) is None:
        yield from _inverted(cursor, expression, follow)
    else:
        from reconciler.rewrite.trace.data_files import site  # noqa: PLC0415  few stacks have any

        yield site(cursor, expression, opened, path)


def _opened_by(call: e.FunctionCall) -> e.FunctionCall | None:
    """The call of `file` whose document a call is the value of: itself, or the argument of a decoder; None for every other call."""
    if call.name in ("csvdecode", "jsondecode", "yamldecode") and len(call.arguments) == 1:
        inner = e.bare(call.arguments[0])
        call = inner if isinstance(inner, e.FunctionCall) else call
    return call if call.name in ("file", "filebase64") and len(call.arguments) == 1 else None


def _filled_by(call: e.FunctionCall) -> e.FunctionCall | None:
    """The call of `templatefile` whose document of JSON or YAML a call is the value of; None for every other call."""
    inner = e.bare(call.arguments[0]) if call.name in ("jsondecode", "yamldecode") and call.arguments else None
    is_filled = isinstance(inner, e.FunctionCall) and inner.name == "templatefile" and len(inner.arguments) == 2  # noqa: PLR2004  file and variables
    return inner if is_filled and isinstance(inner, e.FunctionCall) else None


def _inverted(cursor: Cursor, expression: e.FunctionCall, follow: Follow) -> Iterator[TracedSite]:
    """Sites in each argument for which the function has an inverse."""
    found = False
    # A literal argument mostly says what is done, and the others to what.
    rows = sorted(enumerate(expression.arguments), key=lambda row: isinstance(e.bare(row[1]), e.LiteralValue))
    for position, argument in rows:
        try:
            convert = argument_of_call(expression, position, cursor.scope)
        except Unknown:
            continue
        found = True
        line = f"{cursor.document.at(expression.start)} inverted: {source_of(cursor.document, expression)}"
        yield from follow(replace(cursor.step(line), convert=then(convert, cursor.convert)), argument, ())
    if not found:
        yield cursor.refuse(f"{expression.name}() cannot be inverted.", expression)


def template(cursor: Cursor, expression: e.Template, follow: Follow) -> Iterator[TracedSite]:
    """Sites in each interpolation of a text, solved for it: all other parts stay as they are."""
    if expression.heredoc and all(isinstance(part, str) for part in expression.parts):
        yield cursor.refuse("The text is a heredoc, which is not edited.", expression)
        return
    for position, part in enumerate(expression.parts):
        if isinstance(part, str):
            continue
        try:
            convert = part_of_template(expression, position, cursor.scope)
        except Unknown as error:
            yield cursor.refuse(f"Another part of the text is not known: {error}.", part)
            continue
        line = f"{cursor.document.at(part.start)} in {source_of(cursor.document, expression)}"
        yield from follow(replace(cursor.step(line), convert=then(convert, cursor.convert), entry=None), part, ())
    yield cursor.step(f"{cursor.document.at(expression.start)} the text between its interpolations").text(expression)


def condition(
    cursor: Cursor, expression: e.Conditional, other: Expression, follow: Follow, *, compared: bool = False
) -> Iterator[TracedSite]:
    """Sites of what decides a conditional: with another value it gives the value of the other branch.

    Those of bools; `compared`: those of values that are compared with others, which mostly decide about more.
    """
    try:
        result = values.to_json(value_of(other, cursor.scope))
    except Unknown:
        return

    def switched(value: Json) -> Json:
        if not equal(value, result):
            raise Unknown("the other branch does not have the wanted value")
        return value

    line = f"{cursor.document.at(expression.start)} switched: {source_of(cursor.document, expression.condition)}"
    there = replace(cursor.step(line), convert=then(switched, cursor.convert), entry=None)
    for decided, convert in deciding(expression.condition, cursor.scope, other is expression.then, compared=compared):
        yield from follow(replace(there, convert=then(convert, there.convert)), decided, ())


_GIVE_BOOLS = frozenset({"coalesce", "lookup", "nonsensitive", "tobool", "try"})


def deciding(  # noqa: C901, PLR0912  one case for each form of a condition
    expression: Expression, scope: EvaluationScope, wanted: bool, *, compared: bool
) -> Iterator[tuple[Expression, Inverse]]:
    """What one condition consists of that can make it true or false, as `wanted`, each with the value that does.

    `compared`: what is compared with something or counted; else what is a bool itself.
    """
    switch = e.bare(expression)
    match switch:
        case e.Unary(operator="!", operand=operand):
            yield from deciding(operand, scope, not wanted, compared=compared)
        case e.Binary(operator="&&" | "||", left=left, right=right):
            for side in (left, right):
                with contextlib.suppress(Unknown):
                    if values.truth(value_of(side, scope)) != wanted:
                        yield from deciding(side, scope, wanted, compared=compared)
        case e.Binary(operator=">" | "!=", left=e.FunctionCall(name="length", arguments=(counted,)), right=right) if (
            compared and not wanted
        ):
            with contextlib.suppress(Unknown):
                if equal(values.to_json(value_of(right, scope)), 0):
                    held = values.known(value_of(counted, scope))
                    yield counted, _always({} if isinstance(held, Mapping) else "" if isinstance(held, str) else [])
        case e.Binary(operator="!=", left=side, right=e.LiteralValue(value=None)) if compared and not wanted:
            yield side, _always(None)
        case e.Binary(operator="==" | "!=", left=left, right=right) if compared and (switch.operator == "==") == wanted:
            for side, constant in ((left, right), (right, left)):
                with contextlib.suppress(Unknown):
                    given = values.to_json(value_of(constant, scope))
                    if given is not None and not isinstance(e.bare(side), e.LiteralValue):
                        yield side, _always(given)
        case e.FunctionCall(name="contains", arguments=(listed, item)) if compared:
            with contextlib.suppress(Unknown):
                rows, one = values.to_json(value_of(listed, scope)), values.to_json(value_of(item, scope))
                rest = [each for each in rows if not equal(each, one)] if isinstance(rows, list) else []
                yield listed, _always([*rest, one] if wanted else rest)
        case e.Name() | e.AttributeAccess() | e.IndexAccess() if not compared:
            yield switch, _always(wanted)
        case e.FunctionCall(name=name) if not compared and name in _GIVE_BOOLS:
            yield switch, _always(wanted)


def _always(given: Json) -> Inverse:
    return lambda _: given


def _in_merge(
    cursor: Cursor, expression: e.FunctionCall, path: tuple[str, ...], follow: Follow
) -> Iterator[TracedSite]:
    """Sites in the last map that holds the key, then in the object literals after it, which could hold it."""
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
    # Maps written in place come first; what a name stands for is often shared.
    for argument in sorted(later, key=lambda each: not isinstance(e.bare(each), e.Object)):
        yield from follow(cursor, argument, path)


def _in_expanded(
    cursor: Cursor, expression: e.FunctionCall, path: tuple[str, ...], follow: Follow
) -> Iterator[TracedSite]:
    """Sites in the last map of a list that holds the key: `merge([for …]...)`, with further maps before the list."""
    if expression.name != "merge" or not path:
        yield cursor.refuse(f"{expression.name}() with `...` is not followed.", expression)
        return
    *before, listed = expression.arguments
    maps = values.items(value_of(listed, cursor.scope), "merge()")
    for position in reversed(range(len(maps))):
        if _holds(maps[position], path):
            line = (
                f"{cursor.document.at(listed.start)} item {position} of merge(): {source_of(cursor.document, listed)}"
            )
            yield from follow(cursor.step(line), listed, (str(position), *path))
            return
    if before:
        yield from _in_merge(cursor, replace(expression, arguments=tuple(before), expand=False), path, follow)
    else:
        yield cursor.refuse("No map of merge() holds the value.", expression)


def _holds(value: Value, path: tuple[str, ...]) -> bool:
    if values.known(value) is None:
        return False
    table = values.mapping(value, "merge()")
    return any(".".join(path[:length]) in table for length in range(1, len(path) + 1))


def _in_lookup(
    cursor: Cursor, expression: e.FunctionCall, path: tuple[str, ...], follow: Follow
) -> Iterator[TracedSite]:
    source, key, *default = expression.arguments
    name = values.text(value_of(key, cursor.scope))
    yield from follow(cursor, source, (name, *path))
    if name not in values.mapping(value_of(source, cursor.scope), "lookup()") and default:
        yield from follow(cursor, default[0], path)


def _in_choice(
    cursor: Cursor, expression: e.FunctionCall, path: tuple[str, ...], follow: Follow
) -> Iterator[TracedSite]:
    """Sites in the first argument with a value; before them, sites where an earlier argument could be given a value."""
    for argument in expression.arguments:
        try:
            value = value_of(argument, cursor.scope)
        except EvaluationFailed:
            value = None
        except Unknown as error:
            yield cursor.refuse(f"Which argument of {expression.name}() holds is not known: {error}.", argument)
            return
        skipped = value is None or (value == "" and expression.name == "coalesce")
        for site in follow(cursor, argument, path):
            if not skipped or _is_or_makes_entry(site) or _is_null_elsewhere(site, argument):
                yield site
        if not skipped:
            return
    yield cursor.refuse(f"No argument of {expression.name}() holds.", expression)


def _is_or_makes_entry(site: TracedSite) -> bool:
    match site:
        case EntrySite() | ArgumentSite() | OverrideSite() | YamlSite() | DocumentSite():
            return True
        case LiteralSite(entry=entry) | ListSite(entry=entry):
            return entry is not None
        case _:
            return False


def _is_null_elsewhere(site: TracedSite, argument: Expression) -> bool:
    """Whether the site is a null to which the argument leads, such as that of an argument which a module is given."""
    return (
        isinstance(site, LiteralSite)
        and isinstance(site.node, e.LiteralValue)
        and site.node.value is None
        and site.node is not e.bare(argument)
    )


def arithmetic(cursor: Cursor, expression: e.Binary, follow: Follow) -> Iterator[TracedSite]:
    """Sites in each operand that is not a literal, with the inverse by the other operand; then the calculation itself, if no operand can give it."""
    if expression.operator in _COMPARING:
        yield from _comparison(cursor, expression, follow)
        return
    if expression.operator not in "+-*/":
        yield cursor.refuse("The value is not calculated from numbers.", expression)
        return
    inverses: list[Inverse] = []
    certain = True
    line = f"{cursor.document.at(expression.start)} inverted: {source_of(cursor.document, expression)}"
    sides = ((expression.left, expression.right, True), (expression.right, expression.left, False))
    for side, other, left in sides:
        if isinstance(e.bare(side), e.LiteralValue):
            continue
        try:
            inverses.append(inverse(expression.operator, value_of(other, cursor.scope), left=left))
        except Unknown as error:
            certain = False
            yield cursor.refuse(f"The calculation cannot be inverted: {error}.", expression)
            continue
        yield from follow(replace(cursor.step(line), convert=then(inverses[-1], cursor.convert)), side, ())
    for side, other, left in constant_of_all(cursor, expression):
        try:
            inverted = inverse(expression.operator, value_of(other, cursor.scope), left=left)
        except Unknown:
            continue
        yield from follow(replace(cursor.step(line), convert=then(inverted, cursor.convert)), side, ())
    own = _OWN_NAMES | cursor.aliases.keys() | cursor.scope.bound.keys()
    if certain and all(root in own for root, _ in e.root_references(expression)):
        line = f"{cursor.document.at(expression.start)} in place of {source_of(cursor.document, expression)}"
        yield replace(cursor.step(line), convert=then(_not_by(inverses), cursor.convert)).literal(expression)


def _comparison(cursor: Cursor, expression: e.Binary, follow: Follow) -> Iterator[TracedSite]:
    """Sites of what a comparison or a logical calculation decides by, then itself, to be replaced by the wanted bool."""
    line = f"{cursor.document.at(expression.start)} decided by {source_of(cursor.document, expression)}"
    with contextlib.suppress(Unknown):
        wanted = not values.truth(value_of(expression, cursor.scope))

        def is_wanted(value: Json) -> Json:
            if values.truth(value) != wanted:
                raise Unknown("the calculation gives the wanted value")
            return value

        there = replace(cursor.step(line), convert=then(is_wanted, cursor.convert), entry=None)
        for compared in (False, True):
            for decided, convert in deciding(expression, cursor.scope, wanted, compared=compared):
                yield from follow(replace(there, convert=then(convert, there.convert)), decided, ())
    own = _OWN_NAMES | {"terraform"} | cursor.aliases.keys() | cursor.scope.bound.keys()
    if all(root in own for root, _ in e.root_references(expression)):
        yield cursor.step(f"{cursor.document.at(expression.start)} in place of it").literal(expression)
    else:
        yield cursor.refuse("The value is not calculated from numbers.", expression)


def _not_by(inverses: Sequence[Inverse]) -> Inverse:
    """The value itself, if no operand gives it: where one does, that the operand is shared is no reason to lose the calculation."""

    def check(value: Json) -> Json:
        for each in inverses:
            try:
                each(value)
            except Unknown:
                continue
            raise Unknown("an operand can give it")
        return value

    return check


def in_template_file(
    cursor: Cursor, call: e.FunctionCall, path: tuple[str, ...], follow: Follow, *, is_yaml: bool = False
) -> Iterator[TracedSite]:
    """Sites in the template, and behind the names that it is given. Raises `Unknown` if the file cannot be read.

    `is_yaml`: the path leads into the document of YAML that the text is.
    """
    name, given = call.arguments
    document, written = cursor.module.template_file(values.text(value_of(name, cursor.scope)))
    table = values.mapping(value_of(given, cursor.scope), "templatefile()")
    here = replace(cursor, chain=(), entry=None)
    line = f"{cursor.document.at(call.start)} {source_of(cursor.document, name)} is {document.path}"
    there = replace(
        cursor.step(line),
        document=document,
        scope=EvaluationScope(bound=table),
        aliases={each: Alias(cursor.document, given, here, each, whole=True) for each in table},
        entry=None,
    )
    if is_yaml:
        from reconciler.rewrite.trace.data_files import in_yaml_template  # noqa: PLC0415  few stacks have any

        yield from in_yaml_template(there, written, path, follow)
        return
    yield from follow(there, written, path)
