"""Evaluates expressions in the context of their module: the value, or `Unknown`, never a guess. Counts the steps, so that no expression takes too long.

The rules are those of hashicorp/hcl `hclsyntax` and Terraform. The only assumption is that Terraform accepts the code.
"""

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Protocol

from gateway.core.model.json import Json
from gateway.core.quick_init import quick_init
from gateway.terraform.lang import expression as e
from gateway.terraform.lang import functions, values
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.functions_encoding import OF_FILE
from gateway.terraform.lang.unify import unified
from gateway.terraform.lang.values import LONGEST_TEXT, EvaluationFailed, Opaque, SetOf, Unknown, Value

MOST_STEPS = 1_000_000
"""Steps for one expression of a stack's code, and items in one of its values."""
_CHARACTERS_OF_A_STEP = 100
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
            steps.take(len(value) // _CHARACTERS_OF_A_STEP if len(value) <= LONGEST_TEXT else MOST_STEPS)
        elif isinstance(value, Mapping):
            steps.take(len(value))
            todo += value.values()
        elif isinstance(value, Sequence):
            steps.take(len(value))
            todo += value


Visiting = frozenset[tuple[int, str]]


class Names(Protocol):
    """Looks up the names of a module. Each method raises `Unknown`; `visiting` stops cycles."""

    def variable(self, name: str, visiting: Visiting) -> Value:
        """The value of `var.name`."""

    def local(self, name: str, visiting: Visiting) -> Value:
        """The value of `local.name`."""

    def outputs(self, name: str, visiting: Visiting) -> Value:
        """The value of `module.name`: its outputs, by key if it has `count` or `for_each`."""

    def resource(self, name: str, visiting: Visiting) -> Value:
        """The instances of the resource `type.name`, each `Opaque`, by key if it has `count` or `for_each`."""

    def recorded(self, name: str, key: Value) -> Value:
        """The attributes of one instance of the resource `type.name`, if they are known from elsewhere than the code; else None."""

    def data(self, name: str, visiting: Visiting) -> Value:
        """The value of the data source `type.name`, by key if it has `count` or `for_each`."""

    def path(self, name: str) -> Value:
        """The value of `path.name`."""

    def terraform(self, name: str) -> Value:
        """The value of `terraform.name`."""

    def template(self, path: str) -> Expression:
        """The text of a template file of the module."""

    def file(self, path: str) -> bytes:
        """The content of a data file of the module."""

    def file_names(self, folder: str, pattern: str) -> Sequence[str]:
        """The files below a folder that match a pattern of `fileset`."""


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationScope:
    """The context of an expression: what its names refer to."""

    module: Names | None = None
    each: tuple[str, Value] | None = None
    """Key and value of the instance, if its block has `for_each`."""
    count: int | None = None
    """Index of the instance, if its block has `count`."""
    iterators: Mapping[str, tuple[Value, Value]] = field(default_factory=dict)
    """Key and value of each enclosing dynamic block, by the iterator's name."""
    names: Mapping[str, Json] = field(default_factory=dict)
    """Further roots such as `self` and `before`. They take precedence over all but `bound`."""
    bound: Mapping[str, Value] = field(default_factory=dict)
    """Variables of the enclosing `for` expressions."""
    visiting: Visiting = frozenset()
    """Definitions that are being evaluated, to detect cycles."""
    steps: Steps | None = field(default=None, compare=False)
    """How much more may be evaluated; None where an evaluation begins."""


__all__ = ["EvaluationScope", "Unknown", "Visiting", "evaluate", "find", "value_of"]


def evaluate(expression: Expression, scope: EvaluationScope) -> Json:
    """The value of an expression. Numbers are int where whole, sets sorted lists. Raises `Unknown`."""
    return values.to_json(value_of(expression, scope))


def find(value: Value, path: Sequence[str]) -> Value:
    """The value at the steps of a path inside a value. A key that contains dots is found too. Raises `EvaluationFailed`."""
    if not path:
        return value
    values.known(value)
    if isinstance(value, Mapping):
        written = ".".join(path)
        keys = [key for key in value if written == key or written.startswith(f"{key}.")]
        if keys:
            key = min(keys, key=len)
            return find(value[key], path[key.count(".") + 1 :])
    elif values.is_list(value) and path[0].isdecimal():
        each = values.items(value, "an index")
        if int(path[0]) < len(each):
            return find(each[int(path[0])], path[1:])
    raise EvaluationFailed(f"there is no {'.'.join(path)}")


def value_of(expression: Expression, scope: EvaluationScope) -> Value:
    """The value of an expression. Unknown items of a collection are `Opaque` in it. Raises `Unknown`."""
    if scope.steps is None:
        return value_of(expression, replace(scope, steps=Steps(MOST_STEPS)))
    scope.steps.take(1)
    try:
        return _value_of(expression, scope)
    except RecursionError:
        raise Unknown("the expression is nested too deeply") from None


def _value_of(expression: Expression, scope: EvaluationScope) -> Value:  # noqa: C901, PLR0912  one case for each type of expression
    match expression:
        case e.LiteralValue(value=value):
            return value
        case e.Template(parts=parts):
            texts = (part if isinstance(part, str) else values.text(value_of(part, scope)) for part in parts)
            return unicodedata.normalize("NFC", "".join(values.within(texts)))
        case e.Group(inner=inner):
            return value_of(inner, scope)
        case e.Tuple(items=items):
            return [_opaque(item, scope) for item in items]
        case e.Object(elements=elements):
            return _object(elements, scope)
        case e.Name(name=name):
            return _root(name, scope)
        case e.AttributeAccess() | e.IndexAccess():
            return _traversal(expression, scope)
        case e.Splat():
            return _splat(expression, scope)
        case e.FunctionCall():
            return _call(expression, scope)
        case e.Unary(operator=operator, operand=operand):
            inside = value_of(operand, scope)
            return not values.truth(inside) if operator == "!" else values.number(-values.decimal(inside))
        case e.Binary():
            return _binary(expression, scope)
        case e.Conditional():
            return _conditional(expression, scope)
        case e.For():
            return _for(expression, scope)
        case e.Unsupported(reason=reason):
            raise Unknown(reason)


def _opaque(expression: Expression, scope: EvaluationScope) -> Value:
    """The value as an item of a collection: `Opaque` if unknown. Raises `EvaluationFailed`."""
    try:
        return value_of(expression, scope)
    except EvaluationFailed:
        raise
    except Unknown as error:
        return _unknown(str(error), expression, scope)


def _unknown(reason: str, expression: Expression, scope: EvaluationScope) -> Opaque:
    """Stands for an expression that is not known. Evaluating it again is another evaluation, with steps of its own."""
    return Opaque(reason, (expression, replace(scope, steps=None)))


def _object(elements: Sequence[e.Element], scope: EvaluationScope) -> Value:
    result: dict[str, Value] = {}
    for element in elements:
        result[values.text(value_of(element.key, scope))] = _opaque(element.value, scope)
    return result


# ------------------------------------------------------------------------------------------------ traversals


def _root(name: str, scope: EvaluationScope) -> Value:
    for roots in (scope.bound, scope.names):
        if name in roots:
            return roots[name]
    if name in scope.iterators:
        key, value = scope.iterators[name]
        return {"key": key, "value": value}
    if name == "each" and scope.each is not None:
        return {"key": scope.each[0], "value": scope.each[1]}
    if name == "count" and scope.count is not None:
        return {"index": scope.count}
    raise Unknown(f"{name} is not known here")


def _traversal(expression: e.AttributeAccess | e.IndexAccess, scope: EvaluationScope) -> Value:
    source = expression.source
    in_scope = isinstance(source, e.Name) and (source.name in scope.bound or source.name in scope.names)
    if (
        isinstance(source, e.Name)
        and not in_scope
        and isinstance(expression, e.AttributeAccess)
        and scope.module is not None
    ):
        match source.name:
            case "var":
                return scope.module.variable(expression.name, scope.visiting)
            case "local":
                return scope.module.local(expression.name, scope.visiting)
            case "module":
                return scope.module.outputs(expression.name, scope.visiting)
            case "path":
                return scope.module.path(expression.name)
            case "terraform":
                return scope.module.terraform(expression.name)
            case root if root not in scope.iterators and root not in _OTHER_ROOTS:
                return _known_keys(expression, scope, f"{root}.{expression.name}")
    if isinstance(expression, e.AttributeAccess) and (kind := _data_type(source, scope)) and scope.module is not None:
        return scope.module.data(f"{kind}.{expression.name}", scope.visiting)
    value = value_of(source, scope)
    if isinstance(expression, e.AttributeAccess):
        return _member(value, expression.name)
    return _member(value, value_of(expression.key, scope))


_OTHER_ROOTS = frozenset({"count", "data", "each", "ephemeral", "self"})
"""Roots of names that are not the types of resources."""


def _known_keys(expression: Expression, scope: EvaluationScope, name: str) -> Value:
    """A resource as a value: its keys are known from the code, its instances are not."""
    if scope.module is None:
        raise Unknown(f"{name.partition('.')[0]} is not known here")
    module = scope.module
    found = module.resource(name, scope.visiting)

    def instance(key: Value) -> Value:
        known = module.recorded(name, key)
        return (
            _unknown(f"{name.partition('.')[0]} is not known here", _keyed(expression, key), scope)
            if known is None
            else known
        )

    if found is None:
        return instance(None)
    if isinstance(found, Mapping):
        return {key: instance(key) for key in found}
    return [instance(index) for index, _ in enumerate(values.items(found, name))]


def _keyed(expression: Expression, key: Value) -> Expression:
    """One instance of what an expression names."""
    if not isinstance(key, str | int):
        return expression
    start, end = expression.start, expression.end
    return e.IndexAccess(start, end, expression, e.LiteralValue(start, end, key))


def _data_type(expression: Expression, scope: EvaluationScope) -> str:
    """The type in `data.type`; empty for any other expression."""
    match expression:
        case e.AttributeAccess(source=e.Name(name="data"), name=kind):
            return "" if "data" in scope.bound or "data" in scope.names or "data" in scope.iterators else kind
    return ""


def _member(value: Value, key: Value) -> Value:
    values.known(key)
    if isinstance(value, Mapping):
        name = values.text(key)
        if name in value:
            return value[name]
        raise EvaluationFailed(f"there is no {name}")
    if values.is_list(values.known(value)):
        row, position = values.items(value, "an index"), values.decimal(key)
        if position == position.to_integral_value() and 0 <= position < len(row):
            return row[int(position)]
        raise EvaluationFailed(f"there is no item {position}")
    raise EvaluationFailed(f"a {values.kind(value)} has no {key}")


def _splat(expression: e.Splat, scope: EvaluationScope) -> Value:
    source = values.known(value_of(expression.source, scope))
    if source is None:
        return []
    row = values.items(source, "a splat") if values.is_list(source) else [source]
    take_for((row,), scope.steps)
    result: list[Value] = []
    for item in row:
        value: Value = item
        if isinstance(item, Opaque):
            value = _unknown(item.reason, expression, scope)
        else:
            for step in expression.steps:
                value = _member(value, step if isinstance(step, str) else value_of(step, scope))
        result.append(value)
    return result


# ------------------------------------------------------------------------- calls, operators, conditionals, for


def _call(expression: e.FunctionCall, scope: EvaluationScope) -> Value:
    if expression.name in ("try", "can") and not expression.expand:
        return _attempt(expression, scope)
    if expression.name == "templatefile" and len(expression.arguments) == 2 and scope.module is not None:  # noqa: PLR2004  file and variables
        return _template_file(expression, scope.module, scope)
    arguments = [value_of(argument, scope) for argument in expression.arguments]
    if (of_file := OF_FILE.get(expression.name)) is not None and len(arguments) == 1 and scope.module is not None:
        return of_file(scope.module.file(values.text(arguments[0])))
    if expression.name == "fileset" and len(arguments) == 2 and scope.module is not None:  # noqa: PLR2004  folder and pattern
        folder, pattern = map(values.text, arguments)
        return functions.call("toset", [list(scope.module.file_names(folder, pattern))])
    if expression.expand:
        arguments = arguments[:-1] + list(values.items(arguments[-1], "..."))
    take_for(arguments, scope.steps)
    result = functions.call(expression.name, arguments)
    take_for((result,), scope.steps)
    return result


def _template_file(expression: e.FunctionCall, module: Names, scope: EvaluationScope) -> Value:
    """The text of a template with its variables put in; it knows no other names."""
    path, variables = (value_of(argument, scope) for argument in expression.arguments)
    written = module.template(values.text(path))
    bound = values.mapping(variables, "templatefile()")
    return value_of(written, EvaluationScope(bound=bound, steps=scope.steps))


def _attempt(expression: e.FunctionCall, scope: EvaluationScope) -> Value:
    for argument in expression.arguments:
        try:
            value = value_of(argument, scope)
        except EvaluationFailed:
            if expression.name == "can":
                return False
            continue
        return True if expression.name == "can" else value
    raise EvaluationFailed("every argument of try() fails")


_ARITHMETIC: Mapping[str, Callable[[Decimal, Decimal], Decimal | bool]] = {
    "+": values.EXACT.add,
    "-": values.EXACT.subtract,
    "*": values.EXACT.multiply,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
}


def _binary(expression: e.Binary, scope: EvaluationScope) -> Value:
    operator = expression.operator
    if operator in ("&&", "||"):
        return _logical(expression, scope)
    left, right = value_of(expression.left, scope), value_of(expression.right, scope)
    take_for((left, right), scope.steps)
    if operator in ("==", "!="):
        return values.hcl_equal(left, right) == (operator == "==")
    one, other = values.decimal(left), values.decimal(right)
    if operator in "/%":
        if not other:
            raise EvaluationFailed("a division by zero")
        return values.number(_quotient(one, other) if operator == "/" else values.EXACT.remainder(one, other))
    compared = _ARITHMETIC[operator](one, other)
    return compared if isinstance(compared, bool) else values.number(compared)


def _quotient(one: Decimal, other: Decimal) -> Decimal:
    result = values.EXACT.divide(one, other)
    if values.EXACT.multiply(result, other) != one:
        raise Unknown("the digits of a fraction are not certain")
    return result


def _logical(expression: e.Binary, scope: EvaluationScope) -> Value:
    """`&&` and `||`: one side may decide the result even if the other is unknown."""
    deciding = expression.operator == "||"
    reasons: list[Unknown] = []
    for side in (expression.left, expression.right):
        try:
            if values.truth(value_of(side, scope)) is deciding:
                return deciding
        except EvaluationFailed:
            raise
        except Unknown as error:
            reasons.append(error)
    if reasons:
        raise reasons[0]
    return not deciding


def _conditional(expression: e.Conditional, scope: EvaluationScope) -> Value:
    """The chosen branch, converted to the type that holds both branches."""
    chosen, other = expression.then, expression.otherwise
    if not values.truth(value_of(expression.condition, scope)):
        chosen, other = other, chosen
    value = value_of(chosen, scope)
    if value is None or isinstance(value, str):
        return value
    try:
        beside = value_of(other, scope)
    except EvaluationFailed as error:
        # `text != "" ? tonumber(text) : 30`: what the branch would have given is known although the text is no number.
        beside = _converted_kind(other, Opaque(str(error)))
    except Unknown as error:
        beside = Opaque(str(error))
    return unified([value, beside])[0]


def _converted_kind(expression: Expression, otherwise: Value) -> Value:
    """A value of the type that a call of a conversion has, whatever it converts."""
    call = e.bare(expression)
    name = call.name if isinstance(call, e.FunctionCall) else ""
    return {"tonumber": 0, "tobool": False}.get(name, otherwise)


def _for(expression: e.For, scope: EvaluationScope) -> Value:
    rows: list[tuple[Value, Value]] = []
    for key, item in _pairs(values.known(value_of(expression.source, scope)), len(expression.names)):
        names = dict(zip(expression.names, (key, item) if len(expression.names) > 1 else (item,), strict=True))
        inner = replace(scope, bound={**scope.bound, **names})
        if expression.condition is None or values.truth(value_of(expression.condition, inner)):
            row_key = None if expression.key is None else values.text(value_of(expression.key, inner))
            rows.append((row_key, _opaque(expression.value, inner)))
    if expression.key is None:
        return [value for _, value in rows]
    result: dict[str, Value] = {}
    groups: dict[str, list[Value]] = {}
    for key, value in rows:
        name = values.text(key)
        if expression.grouped:
            groups.setdefault(name, []).append(value)
        elif name in result:
            raise EvaluationFailed(f"two items have the key {name}")
        else:
            result[name] = value
    return {**groups} if expression.grouped else result


def _pairs(source: Value, names: int) -> list[tuple[Value, Value]]:
    if isinstance(source, Mapping):
        return [(key, source[key]) for key in sorted(source)]
    if not values.is_list(source):
        raise EvaluationFailed("for needs a collection")
    row = values.items(source, "for")
    if isinstance(source, SetOf):
        return [(item, item) for item in row]
    return list(enumerate(row)) if names > 1 else [(None, item) for item in row]
