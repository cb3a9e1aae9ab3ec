"""Converts values to the type constraints of variables (`type = …`).

Source: developer.hashicorp.com/terraform/language/expressions/type-constraints. Anything not certain raises `Unknown`.
"""

from collections.abc import Mapping

from gateway.terraform.lang import expression as e
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import EvaluationScope, value_of
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.sets import as_set
from gateway.terraform.lang.unify import unified
from gateway.terraform.lang.values import EvaluationFailed, Opaque, Unknown, Value


def convert(value: Value, constraint: Expression | None) -> Value:
    """The value converted to a type constraint (None: any). Raises `Unknown`, or `EvaluationFailed` if Terraform would refuse it."""
    constraint = None if constraint is None else e.bare(constraint)
    match constraint:
        case None | e.Name(name="any"):
            return value
        case _ if value is None:
            return None
        case e.Name(name="string") | e.LiteralValue(value="string"):
            return value if isinstance(value, Opaque) else values.text(value)
        case e.Name(name="number"):
            return value if isinstance(value, Opaque) else values.number(values.decimal(value))
        case e.Name(name="bool"):
            return value if isinstance(value, Opaque) else values.truth(value)
        case _ if isinstance(value, Opaque):
            return value
        case e.FunctionCall(name=name, arguments=(inner,)):
            return _collection(name, value, inner)
    raise Unknown("the type constraint of a variable is not supported")


def _collection(name: str, value: Value, inner: Expression) -> Value:
    element = e.bare(inner)
    match name:
        case "list":
            return values.ListOf(_each(values.items(value, "a list"), element))
        case "set":
            return as_set(_each(values.items(value, "a set"), element))
        case "map":
            table = values.mapping(value, "a map")
            converted = dict(zip(table, _each(list(table.values()), element), strict=True))
            return values.MapOf.of(_scalar(element), converted)
        case "tuple" if isinstance(element, e.Tuple):
            row = values.items(value, "a tuple")
            if len(row) != len(element.items):
                raise EvaluationFailed("a tuple has another length")
            return [convert(item, kind) for item, kind in zip(row, element.items, strict=True)]
        case "object" if isinstance(element, e.Object):
            return _object(values.mapping(value, "an object"), element)
    raise Unknown("the type constraint of a variable is not supported")


def _scalar(element: Expression) -> str:
    """The kind that a type constraint gives to a scalar; empty for any other constraint."""
    return element.name if isinstance(element, e.Name) and element.name in ("string", "number", "bool") else ""


def _each(row: "list[Value] | object", element: Expression) -> list[Value]:
    if not isinstance(row, list | tuple):
        raise EvaluationFailed("a collection is missing")
    converted = [convert(item, element) for item in row]
    return unified(converted) if any(_is_any(part) for part in e.walk(element)) else converted


def _is_any(part: Expression) -> bool:
    return isinstance(part, e.Name) and part.name == "any"


def _object(table: Mapping[str, Value], kind: e.Object) -> Value:
    """The table with the attributes of the type only; `optional(T, default)` replaces absent and null ones."""
    result: dict[str, Value] = {}
    for element in kind.elements:
        if not isinstance(element.key, e.LiteralValue):
            raise Unknown("the type constraint of a variable is not supported")
        name, constraint = str(element.key.value), e.bare(element.value)
        optional = constraint if isinstance(constraint, e.FunctionCall) and constraint.name == "optional" else None
        inner = constraint if optional is None else optional.arguments[0]
        value = table.get(name)
        if name not in table and optional is None:
            raise EvaluationFailed(f"the attribute {name} is missing")
        if value is None and optional is not None and len(optional.arguments) > 1:
            value = value_of(optional.arguments[1], EvaluationScope())
        result[name] = convert(value, inner)
    return result
