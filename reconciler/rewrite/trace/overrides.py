"""Sites where one instance or one call of a module must differ from the others: a conditional on its key, or an argument of the call.

What a module says by itself, its other callers share; so the value of one caller belongs into its call.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from gateway.core.model.json import Json
from gateway.terraform.config.module import Module
from gateway.terraform.lang import expression as e
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import EvaluationScope, find, value_of
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.values import Unknown
from reconciler.rewrite.editors.hcl_text import CannotEdit, quoted, to_hcl
from reconciler.rewrite.trace.inverse import Inverse, then
from reconciler.rewrite.trace.sites import Cursor, Only, OverrideSite, TracedSite


def condition_of(scope: EvaluationScope) -> str:
    """HCL that is true of this instance of a block or call only; empty if it has one instance, or a key that HCL cannot hold."""
    if scope.count is not None:
        return f"count.index == {scope.count}"
    return _equals("each.key", scope.each[0]) if scope.each is not None else ""


def condition_on(name: str, value: object) -> str:
    """What is true of one round of a `for`, as HCL; empty if its variable is not a plain value."""
    match value:
        case bool() | None:
            return ""
        case str():
            return _equals(name, value)
        case int():
            return f"{name} == {value}"
    return ""


def all_but(cursor: Cursor, key: Expression, name: str) -> str:
    """HCL that is false in the round of a `for` that makes one key, for this instance of the block or call around it only; empty if no HCL holds the key."""
    written = cursor.document.source[key.start : key.end].decode()
    if "\n" in written:
        return ""
    condition = condition_of(cursor.scope)
    equal = _equals(written, name)
    if not equal or not condition:
        return equal.replace(f"{written} == ", f"{written} != ", 1)
    return f"!({condition} && {equal})"


def _equals(name: str, text: str) -> str:
    """The comparison as HCL; empty if no HCL string holds the text."""
    try:
        return f"{name} == {quoted(text)}"
    except CannotEdit:
        return ""


def override(
    cursor: Cursor, expression: Expression, path: tuple[str, ...], condition: str, *, said: bool = False
) -> Iterator[TracedSite]:
    """The innermost expression at a path, to be made a conditional. It must be written in place. `said`: a text that names nothing."""
    if not condition or (not path and not said and _names_instance(cursor, expression)):
        return
    node, rest = _innermost(cursor, expression, path)
    if rest and not (isinstance(e.bare(node), e.Object) or is_merge(node) or _is_map(node, cursor.scope)):
        return
    line = f"{cursor.document.at(node.start)} only where {condition}"
    yield cursor.step(line).conditional(node, condition, key=rest[0] if rest else "")


def own_value(cursor: Cursor, expression: Expression, path: tuple[str, ...]) -> Iterator[TracedSite]:
    """The innermost expression at a path, which others share: it becomes the value that only this block has, or is merged with its entry."""
    node, rest = _innermost(cursor, expression, path)
    if isinstance(e.bare(node), e.LiteralValue | e.Object | e.Tuple) or (rest and not _is_map(node, cursor.scope)):
        return
    if b"\n" in cursor.document.source[node.start : node.end] and not (rest and is_merge(node)):
        yield cursor.refuse("The expression is written on several lines, so nothing is set beside it.", node)
        return
    line = f"{cursor.document.at(node.start)} only here"
    yield replace(cursor.step(line).beside(node, None), key=rest[0] if rest else "")


def _names_instance(cursor: Cursor, expression: Expression) -> bool:
    """Whether the value is made from the key of the instance, so that it is what tells the instances apart."""
    if cursor.scope.bound:
        return False
    each = cursor.scope.each
    keys = {("each", "key"), ("count", "index")} | ({("each", "value")} if each and each[0] == each[1] else set())
    return any(
        isinstance(part, e.AttributeAccess)
        and isinstance(part.source, e.Name)
        and (part.source.name, part.name) in keys
        for part in _giving(expression)
    )


def _giving(expression: Expression) -> Iterator[Expression]:
    """The parts of an expression that its value is made of: what only decides between values is none."""
    written = e.bare(expression)
    match written:
        case e.Conditional():
            yield from _giving(written.then)
            yield from _giving(written.otherwise)
        case e.IndexAccess(source=source):
            yield from _giving(source)
        case e.FunctionCall(name="lookup", arguments=(source, _, *default)):
            for each in (source, *default):
                yield from _giving(each)
        case _:
            yield from e.walk(written)


def _innermost(  # noqa: C901  one case per type of expression
    cursor: Cursor, expression: Expression, path: tuple[str, ...]
) -> tuple[Expression, tuple[str, ...]]:
    """The expression at the longest beginning of a path that is written in place, and the steps that are left."""
    match expression:
        case e.Group(inner=inner) if path:
            return _innermost(cursor, inner, path)
        case e.FunctionCall(name="jsonencode", arguments=(argument,)) if path:
            return _innermost(cursor, argument, path)
        case e.Tuple(items=items) if path and path[0].isdecimal() and int(path[0]) < len(items):
            return _innermost(cursor, items[int(path[0])], path[1:])
        case e.Object(elements=elements) if path:
            for length in range(1, len(path) + 1):
                for element in elements:
                    if _key(cursor, element.key) == ".".join(path[:length]):
                        return _innermost(cursor, element.value, path[length:])
            return expression, (".".join(path),)
        case e.FunctionCall(name="merge", arguments=arguments) if path:
            for argument in reversed(arguments):
                found = _innermost(cursor, argument, path) if isinstance(e.bare(argument), e.Object) else None
                if found is not None and not found[1]:
                    return found
            return expression, (".".join(path),)
    return expression, (".".join(path),) if path else ()


def _key(cursor: Cursor, key: Expression) -> str | None:
    try:
        return values.text(value_of(key, cursor.scope))
    except Unknown:
        return None


def constant_of_all(cursor: Cursor, expression: e.Binary) -> Iterator[tuple[Expression, Expression, bool]]:
    """The literal operand of a calculation whose other operand differs from instance to instance: (literal, other, is left)."""
    for side, other, left in (
        (expression.left, expression.right, True),
        (expression.right, expression.left, False),
    ):
        varies = any(isinstance(part, e.Name) and part.name in _varying(cursor) for part in e.walk(other))
        if isinstance(e.bare(side), e.LiteralValue) and varies:
            yield side, other, left


def _varying(cursor: Cursor) -> Mapping[str, Json]:
    names = dict.fromkeys(cursor.scope.bound, None)
    return {**names, "each": None, "count": None}


def new_arguments(cursor: Cursor, name: str, default: Expression, rest: tuple[str, ...]) -> Iterator[TracedSite]:
    """The missing argument in the call: for all instances of the call, then for this instance alone."""
    module = cursor.module
    if module.call is None or module.call_document is None or module.parent is None:
        yield cursor.refuse(f"There is no call that could set {name}.")
        return
    try:
        before = values.to_json(value_of(default, EvaluationScope()))
        convert = then(within(before, rest), cursor.convert) if rest else cursor.convert
        otherwise = to_hcl(before)
    except (Unknown, CannotEdit) as error:
        yield cursor.refuse(
            f"A part of the default of {name} in a shared module cannot be set by its callers: {error}."
        )
        return
    there = replace(cursor, document=module.call_document, module=module.parent, entry=None, convert=convert)
    line = f"{module.call_document.at(module.call)} {module.address} gives no {name}"
    site = there.step(line).new_argument(module.call, name, otherwise)
    yield site
    if condition := condition_of(module.call_scope):
        yield replace(site, only=Only(condition, otherwise))


def argument_overrides(
    cursor: Cursor, module: Module, given: Expression, rest: tuple[str, ...]
) -> Iterator[TracedSite]:
    """The argument that the call gives, set beside its expression: a key of a map merged in, or the value in place of it.

    `cursor` is at the argument, in the module that calls `module`.
    """
    document, written = cursor.document, e.bare(given)
    if isinstance(written, e.Tuple) or (rest and isinstance(written, e.Object)):
        yield from override(cursor, given, rest, condition_of(module.call_scope))
    if isinstance(written, e.LiteralValue | e.Object | e.Tuple) and not condition_of(module.call_scope):
        return
    source = document.source[given.start : given.end].decode()
    if "\n" in source and not (len(rest) == 1 and is_merge(given)):
        yield cursor.refuse("The argument is written on several lines, so nothing is set beside it.", given)
        return
    only = Only(condition, source) if (condition := condition_of(module.call_scope)) else None
    yield from _set(cursor.beside(given, only), cursor, given, rest)


def beside(cursor: Cursor, given: Expression, rest: tuple[str, ...]) -> Iterator[TracedSite]:
    """A name that stands for what cannot be edited: a key is merged into its map, or the value is set in place of it."""
    written = e.bare(given)
    is_named = e.steps_of(written) is not None and not isinstance(written, e.Name)
    if is_named or (rest and is_merge(given)):
        yield from _set(cursor.beside(given, None), cursor, given, rest)


def _set(site: OverrideSite, cursor: Cursor, given: Expression, rest: tuple[str, ...]) -> Iterator[TracedSite]:
    if not rest:
        yield site
    elif _is_map(given, cursor.scope) and (inside := _inside(cursor, given, rest)) is not None:
        yield replace(site, key=rest[0], inside=inside)


_DEEPEST = 4
"""How many maps in each other are merged."""


def _inside(cursor: Cursor, given: Expression, path: tuple[str, ...]) -> tuple[tuple[str, str], ...] | None:
    """The keys below the first one of a path into a map, each with HCL of the map that has it now; None if that cannot be said.

    It can if the map is a reference, or a merge() in which one has the key.
    """
    if len(path) == 1:
        return ()
    written = e.bare(given)
    if isinstance(written, e.FunctionCall) and is_merge(written):
        holding = (each for each in reversed(written.arguments) if _at(cursor, each, path[:1]) is not None)
        written = e.bare(next(holding, written.arguments[0]))
    if len(path) > _DEEPEST or e.steps_of(written) is None:
        return None
    source = cursor.document.source[written.start : written.end].decode()
    found = []
    for depth in range(1, len(path)):
        held = _at(cursor, written, path[:depth])
        if held is not None and not isinstance(held, Mapping):
            return None
        source += _step(path[depth - 1])
        found.append((path[depth], "" if held is None else source))
    return tuple(found)


def _at(cursor: Cursor, expression: Expression, path: tuple[str, ...]) -> Json:
    """What an expression has at a path; None if nothing, or if it is not known."""
    try:
        return values.to_json(find(value_of(expression, cursor.scope), path))
    except Unknown:
        return None


def _step(name: str) -> str:
    return f".{name}" if name.isidentifier() else f"[{quoted(name)}]"


def is_merge(expression: Expression) -> bool:
    """Whether an expression is a call of merge() with its maps written one by one, so that it can take one more."""
    written = e.bare(expression)
    return (
        isinstance(written, e.FunctionCall)
        and written.name == "merge"
        and bool(written.arguments)
        and not written.expand
    )


def _is_map(expression: Expression, scope: EvaluationScope) -> bool:
    try:
        return isinstance(values.known(value_of(expression, scope)), Mapping)
    except Unknown:
        return False


def within(whole: Json, path: tuple[str, ...]) -> Inverse:
    """From the wanted part of a value to the whole value. Raises `Unknown` if the value has no such part."""

    def convert(part: Json) -> Json:
        return _replaced(whole, path, part)

    return convert


def _replaced(whole: Json, path: tuple[str, ...], part: Json) -> Json:
    if not path:
        return part
    if isinstance(whole, Mapping) or whole is None:
        table = dict(whole or {})
        key = next((".".join(path[:n]) for n in range(len(path), 0, -1) if ".".join(path[:n]) in table), "")
        if not key and whole and any(isinstance(value, Mapping) for value in table.values()):
            raise Unknown(f"it has no {path[0]}")
        key = key or ".".join(path)
        table[key] = _replaced(table.get(key), path[key.count(".") + 1 :], part)
        return table
    if isinstance(whole, list) and path[0].isdecimal() and int(path[0]) < len(whole):
        return [_replaced(item, path[1:], part) if str(at) == path[0] else item for at, item in enumerate(whole)]
    raise Unknown(f"it has no {path[0]}")
