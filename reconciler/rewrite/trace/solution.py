"""Solves for a part of an expression: which value must it have for the whole to have the wanted one?

Each inverse raises `Unknown` if no value gives the wanted one. What it finds is a proposal: the edit is kept only if the whole,
evaluated again, has the wanted value.
"""

import base64
import contextlib
import ipaddress
import re
from collections.abc import Callable, Mapping, Sequence

from gateway.core.model.json import Json
from gateway.terraform.lang import expression as e
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import EvaluationScope, value_of
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.functions import call
from gateway.terraform.lang.values import Unknown, Value
from reconciler.rewrite.trace.inverse import Inverse, inverse, negated, unchanged
from reconciler.rewrite.trace.sites import shorten

_MARK = "\ue000"
"""Stands for the sought part in a text. Private to its user by Unicode's definition, so no name holds it."""
_PRESERVING = frozenset(
    {
        *("abs", "ceil", "chomp", "floor", "lower", "max", "min", "nonsensitive", "sensitive", "title", "tobool"),
        *("tonumber", "tostring", "trim", "trimspace", "upper"),
    }
)
"""Functions that return a value as it is if it is in their form already."""


def part_of_template(template: e.Template, position: int, scope: EvaluationScope) -> Inverse:
    """The inverse for the interpolation at a position among the parts. The texts before and after it must be known."""
    before, after = (
        "".join(part if isinstance(part, str) else values.text(value_of(part, scope)) for part in parts)
        for parts in (template.parts[:position], template.parts[position + 1 :])
    )
    return _between(before, after)


def _between(before: str, after: str) -> Inverse:
    def invert(value: Json) -> Json:
        wanted = values.text(value)
        if not wanted.startswith(before) or not wanted.endswith(after) or len(wanted) < len(before) + len(after):
            raise Unknown(
                f"{shorten(wanted)!r} does not begin with {shorten(before)!r} and end with {shorten(after)!r}"
            )
        return wanted[len(before) : len(wanted) - len(after)]

    return invert


def argument_of_call(expression: e.FunctionCall, position: int, scope: EvaluationScope) -> Inverse:
    """The inverse for one argument of a function. Raises `Unknown` if the function has none for it."""
    name, arguments = expression.name, expression.arguments
    others = [None if index == position else value_of(each, scope) for index, each in enumerate(arguments)]
    if name in _PRESERVING and (position == 0 or name in ("max", "min")):
        return unchanged
    if name in ("format", "formatlist") and position:
        now: Value = None
        with contextlib.suppress(Unknown):  # the variable of a `for` has no value here
            now = value_of(arguments[position], scope)
        return _format(name, others, position, now)
    first = _FIRST.get(name)
    if first is not None and position == 0:
        return first(others)
    if name == "cidrsubnet" and position == 2:  # noqa: PLR2004  the number of the subnet
        return _cidrsubnet(others)
    if name == "cidrhost" and position == 1:
        return _cidrhost(others)
    if name == "join" and position == 1 and len(arguments) == 2:  # noqa: PLR2004  one list
        return lambda value: list(_texts(call("split", [others[0], value])))
    if name == "split" and position == 1:
        return lambda value: values.to_json(call("join", [others[0], value]))
    raise Unknown(f"{name}() cannot be inverted")


def _texts(value: Value) -> list[str]:
    return [values.text(item) for item in values.items(value, "a list")]


def from_base64(value: Json) -> Json:
    """The text that a text in base64 stands for. Raises `Unknown` if it stands for none."""
    return values.to_json(call("base64decode", [value]))


_FIRST: Mapping[str, Callable[[Sequence[Value]], Inverse]] = {
    "base64decode": lambda _: lambda value: base64.b64encode(values.text(value).encode()).decode(),
    "base64encode": lambda _: from_base64,
    "jsonencode": lambda _: (
        lambda value: values.to_json(call("jsondecode", [value])) if isinstance(value, str) else value
    ),
    "jsondecode": lambda _: lambda value: values.to_json(call("jsonencode", [value])),
    "parseint": lambda others: lambda value: _digits(int(values.decimal(value)), int(values.decimal(others[1]))),
    "replace": lambda others: lambda value: values.text(value).replace(values.text(others[2]), values.text(others[1])),
    "strrev": lambda _: lambda value: values.text(value)[::-1],
    "trimprefix": lambda others: lambda value: values.text(others[1]) + values.text(value),
    "trimsuffix": lambda others: lambda value: values.text(value) + values.text(others[1]),
}


def _digits(number: int, base: int) -> str:
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    if not 2 <= base <= len(digits):  # noqa: PLR2004  binary
        raise Unknown(f"numbers to the base {base} are not written")
    left, written = abs(number), ""
    while left or not written:
        left, digit = divmod(left, base)
        written = digits[digit] + written
    return "-" * (number < 0) + written


_NUMBERS = re.compile(r"%[-+ 0]*\d*(?:\.\d+)?[dfg]")
"""How a number is put into a text."""


def _format(name: str, others: Sequence[Value], position: int, now: Value) -> Inverse:
    """The inverse of `format`, or of each item of `formatlist`, for an argument that stands in the text once, as it is."""
    pattern = values.text(others[0])

    def invert(value: Json) -> Json:
        marked = [_MARK if index == position else each for index, each in enumerate(others)]
        if name == "format":
            found = _unmarked(call(name, [_NUMBERS.sub("%s", pattern), *marked[1:]]), value)
            is_number = isinstance(now, int | float) and not isinstance(now, bool)
            return values.number(values.decimal(found)) if is_number else found
        wanted = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        if any(values.is_list(each) for each in marked):
            raise Unknown("formatlist() of several lists cannot be inverted")
        shape = call("format", [_NUMBERS.sub("%s", pattern), *marked[1:]])
        return [_unmarked(shape, item) for item in wanted]

    return invert


def _unmarked(shape: Value, value: Json) -> Json:
    before, mark, after = values.text(shape).partition(_MARK)
    if not mark or _MARK in after:
        raise Unknown("the value does not stand in the text once")
    return _between(before, after)(value)


def _cidrsubnet(others: Sequence[Value]) -> Inverse:
    network = ipaddress.ip_network(values.text(others[0]), strict=False)
    bits = int(values.decimal(others[1]))

    def invert(value: Json) -> Json:
        try:
            wanted = ipaddress.ip_network(values.text(value))
        except ValueError:
            raise Unknown(f"{value} is not a network") from None
        if wanted.version != network.version or wanted.prefixlen != network.prefixlen + bits:
            raise Unknown(f"{value} is not one of the subnets")
        return (int(wanted.network_address) - int(network.network_address)) >> (
            network.max_prefixlen - wanted.prefixlen
        )

    return invert


def _cidrhost(others: Sequence[Value]) -> Inverse:
    network = ipaddress.ip_network(values.text(others[0]), strict=False)

    def invert(value: Json) -> Json:
        try:
            return int(ipaddress.ip_address(values.text(value))) - int(network.network_address)
        except ValueError:
            raise Unknown(f"{value} is not an address") from None

    return invert


def variable_of(expression: Expression, name: str, scope: EvaluationScope) -> Inverse:
    """The inverse of an expression for a variable of a `for` that stands in it once. Raises `Unknown` if there is none."""
    match expression:
        case e.Name():
            if expression.name == name:
                return unchanged
        case e.Group(inner=inner):
            return variable_of(inner, name, scope)
        case e.Unary(operator="-", operand=operand):
            return _then(variable_of(operand, name, scope), negated)
        case e.Template(parts=parts):
            position = _only([not isinstance(part, str) and _mentions(part, name) for part in parts])
            part = parts[position]
            if not isinstance(part, str):
                return _then(variable_of(part, name, scope), part_of_template(expression, position, scope))
        case e.FunctionCall(arguments=arguments):
            position = _only([_mentions(each, name) for each in arguments])
            return _then(variable_of(arguments[position], name, scope), argument_of_call(expression, position, scope))
        case e.Binary(left=left, right=right):
            position = _only([_mentions(left, name), _mentions(right, name)])
            constant = value_of(right if position == 0 else left, scope)
            inverted = inverse(expression.operator, constant, left=position == 0)
            return _then(variable_of((left, right)[position], name, scope), inverted)
    raise Unknown(f"the expression cannot be solved for {name}")


def _then(inner: Inverse, outer: Inverse) -> Inverse:
    return lambda value: inner(outer(value))


def _mentions(expression: Expression, name: str) -> bool:
    return any(isinstance(part, e.Name) and part.name == name for part in e.walk(expression))


def _only(found: Sequence[bool]) -> int:
    """The position of the only True. Raises `Unknown` if there is none, or several."""
    if sum(found) != 1:
        raise Unknown("what is sought does not stand there once")
    return list(found).index(True)
