"""The last place to edit where one instance must differ from the others: a conditional on its key, where the expression stands."""

from collections.abc import Iterator, Mapping

from gateway.model.json import Json
from gateway.terraform.lang import expression as e
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import EvaluationScope, value_of
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.values import Unknown
from reconciler.rewrite.editors.text import CannotEdit, quoted
from reconciler.rewrite.place import Cursor, Place


def condition_of(scope: EvaluationScope) -> str:
    """What is true of this instance only, as HCL; empty if the block has only one instance."""
    if scope.count is not None:
        return f"count.index == {scope.count}"
    return f"each.key == {_quoted(scope.each[0])}" if scope.each is not None else ""


def condition_on(name: str, value: object) -> str:
    """What is true of one round of a `for`, as HCL; empty if its variable is not a plain value."""
    match value:
        case bool() | None:
            return ""
        case str():
            return f"{name} == {_quoted(value)}"
        case int():
            return f"{name} == {value}"
    return ""


def _quoted(text: str) -> str:
    try:
        return quoted(text)
    except CannotEdit:
        return ""


def override(cursor: Cursor, expression: Expression, path: tuple[str, ...], condition: str) -> Iterator[Place]:
    """The innermost expression at a path, to be made a conditional. It must be written in place."""
    if not condition or condition.endswith("== ") or (not path and _names_instance(cursor, expression)):
        return
    found = _innermost(cursor, expression, path)
    if found is None:
        return
    node, rest = found
    line = f"{cursor.document.at(node.start)} only where {condition}"
    if not rest:
        yield cursor.step(line).conditional(node, condition)
    elif len(rest) == 1 and isinstance(e.bare(node), e.Object | e.FunctionCall):
        yield cursor.step(line).conditional(node, condition, key=rest[0])


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
        for part in e.walk(expression)
    )


def _innermost(  # noqa: C901  one case per type of expression
    cursor: Cursor, expression: Expression, path: tuple[str, ...]
) -> tuple[Expression, tuple[str, ...]] | None:
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
    return (expression, ()) if not path else None


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
