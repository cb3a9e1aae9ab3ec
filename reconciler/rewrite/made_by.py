"""Finds the item that makes a wanted block of a `dynamic` block: what its content reads of the item is solved for, one attribute after the other."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gateway.model.json import Json
from gateway.terraform.lang import expression as e
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import EvaluationScope, value_of
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.values import Unknown
from reconciler.rewrite.inverse import Inverse, inverse, negated, then, unchanged
from reconciler.rewrite.parts import holds, is_unset
from reconciler.rewrite.solve import argument_of_call, part_of_template

_Read = tuple[tuple[str, ...], Inverse]
"""Steps to a part of the item (`value.port`), and from the value of an expression that reads it to the part."""


@dataclass(frozen=True, slots=True)
class Content:
    """The arguments of a `content` block, by name, with the name and scope of what they read."""

    iterator: str
    written: Mapping[str, Expression]
    scope: EvaluationScope

    def item_of(self, row: Mapping[str, Json]) -> tuple[Json, Json]:
        """Key and value of the item that makes a block. What defaults give is not in it. Raises `Unknown` if no item makes the block."""
        if extra := [name for name, value in row.items() if name not in self.written and not is_unset(value)]:
            raise Unknown(f"the content does not set {extra[0]}")
        deep = any(len(steps) > 1 for each in self.written.values() for steps, _ in self._reads(each))
        item: dict[str, Json] = {"key": None, "value": {} if deep else None}
        for name in self.written:
            item = self._with(item, name, row.get(name))
        for name in self.written:
            if not self._gives(item, name, row.get(name)):
                raise Unknown("two attributes ask for different items")
        return item["key"], item["value"]

    def _with(self, item: dict[str, Json], name: str, wanted: Json) -> dict[str, Json]:
        """The item with one more part, if the attribute needs it. Raises `Unknown` if none gives the attribute the wanted value."""
        if self._gives(item, name, wanted):
            return item
        found = False
        for steps, convert in self._reads(self.written[name]):
            found = True
            try:
                more = _put(item, steps, convert(wanted))
            except Unknown:
                continue
            if self._gives(more, name, wanted):
                return more
        raise Unknown(f"no item gives {name} the wanted value" if found else f"{name} is the same for all items")

    def _gives(self, item: Mapping[str, Json], name: str, wanted: Json) -> bool:
        key, value = item["key"], item["value"]
        pair = (value if key is None else key, key if value is None else value)  # of a set, both are the item
        scope = replace(self.scope, iterators={**self.scope.iterators, self.iterator: pair})
        try:
            return holds(values.to_json(value_of(self.written[name], scope)), wanted)
        except Unknown:
            return False

    # ---- what an expression reads

    def _reads(self, expression: Expression) -> Iterator[_Read]:  # noqa: C901, PLR0912  one case for each type of expression
        """The parts of the item that an expression reads and could be solved for, the outermost first."""
        if not self._mentions(expression):
            return
        match expression:
            case e.AttributeAccess() | e.IndexAccess() | e.Name():
                yield from self._steps(expression)
            case e.Group(inner=inner):
                yield from self._reads(inner)
            case e.Tuple(items=(inner,)):
                yield from self._inside(inner, _only)
            case e.Conditional(then=one, otherwise=other):
                yield from self._reads(one)
                yield from self._reads(other)
            case e.Unary(operator="-", operand=operand):
                yield from self._inside(operand, negated)
            case e.Binary(operator=operator, left=left, right=right) if operator in "+-*/":
                for side, other, is_left in ((left, right, True), (right, left, False)):
                    if not self._mentions(other):
                        yield from self._inside(side, self._arithmetic(operator, other, is_left=is_left))
            case e.FunctionCall(name="lookup", arguments=(source, key, *_)) if not self._mentions(key):
                name = values.text(value_of(key, self.scope))
                yield from (((*steps, name), unchanged) for steps, _ in self._reads(source))
            case e.FunctionCall(name=("try" | "coalesce"), arguments=arguments):
                for argument in arguments:
                    yield from self._reads(argument)
            case e.FunctionCall() | e.Template():
                yield from self._argument(expression)

    def _steps(self, expression: Expression) -> Iterator[_Read]:
        found = e.steps_of(expression)
        if found is None or found[0] != self.iterator or not found[1]:
            return
        steps = (each if isinstance(each, str) else values.text(value_of(each, self.scope)) for each in found[1])
        yield tuple(steps), unchanged

    def _argument(self, expression: e.FunctionCall | e.Template) -> Iterator[_Read]:
        """Reads of the only argument of a function, or part of a text, that the item is in."""
        parts = expression.arguments if isinstance(expression, e.FunctionCall) else expression.parts
        rows = [(n, part) for n, part in enumerate(parts) if not isinstance(part, str) and self._mentions(part)]
        if len(rows) != 1 or (isinstance(expression, e.FunctionCall) and expression.expand):
            return
        position, part = rows[0]
        try:
            if isinstance(expression, e.Template):
                convert = part_of_template(expression, position, self.scope)
            elif expression.name in ("tolist", "toset", "tomap", "tonumber", "tostring", "tobool"):
                convert = unchanged
            else:
                convert = argument_of_call(expression, position, self.scope)
        except Unknown:
            return
        yield from self._inside(part, convert)

    def _inside(self, part: Expression, convert: Inverse) -> Iterator[_Read]:
        for steps, inner in self._reads(part):
            yield steps, then(inner, convert)

    def _arithmetic(self, operator: str, other: Expression, *, is_left: bool) -> Inverse:
        def invert(value: Json) -> Json:
            return inverse(operator, value_of(other, self.scope), left=is_left)(value)

        return invert

    def _mentions(self, expression: Expression) -> bool:
        return any(isinstance(part, e.Name) and part.name == self.iterator for part in e.walk(expression))


def _only(value: Json) -> Json:
    """The item of a list of one. Raises `Unknown` for anything else."""
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 1:
        raise Unknown("the wanted list does not have one item")
    return value[0]


def _put(table: Mapping[str, Json], steps: tuple[str, ...], value: Json) -> dict[str, Json]:
    """The table with a value at the steps. Raises `Unknown` if another value is there."""
    step, *rest = steps
    inner = table.get(step)
    if rest:
        if inner is not None and not isinstance(inner, Mapping):
            raise Unknown("two attributes ask for different items")
        return {**table, step: _put(inner or {}, tuple(rest), value)}
    if inner is not None and inner not in ({}, value):
        raise Unknown("two attributes ask for different items")
    return {**table, step: value}
