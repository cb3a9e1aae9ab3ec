"""Traces nested blocks: the blocks in place, the collection of a `dynamic` block, and the item of it that makes a wanted block."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tree_sitter import Node

from gateway.core.model.json import Json
from gateway.terraform.config.module import Nested, body, iterate
from gateway.terraform.lang import expression as e
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import EvaluationScope, value_of
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import SetOf, Unknown
from reconciler.rewrite.trace import overrides
from reconciler.rewrite.trace.inverse import Inverse, inverse, negated, then, unchanged
from reconciler.rewrite.trace.sites import Cursor, Follow, TracedSite, source_of
from reconciler.rewrite.trace.solution import argument_of_call, part_of_template
from reconciler.rewrite.value_parts import alike, holds, is_unset

_Read = tuple[tuple[str, ...], Inverse]
"""Steps to a part of the item (`value.port`), and from the value of an expression that reads it to the part."""


def missing_block(cursor: Cursor, block: Node, kind: str, follow: Follow) -> Iterator[TracedSite]:
    """Sites where a dynamic block that makes no block now would make one: an item of its collection, then each value in its content, as with
    `mode = var.mode` and `for_each = var.mode == null ? [] : [1]`.
    """
    document = cursor.document
    yield from collections(cursor, block, kind, (), follow)
    for dynamic in document.blocks(block, "dynamic", kind):
        for content in document.blocks(dynamic, "content"):
            for name, node in document.attributes(content).items():
                line = f"{document.at(dynamic)} makes no {kind}; its {name} would be"
                there = replace(cursor.step(line), convert=_part(name), entry=None)
                with contextlib.suppress(Unknown):  # what reads the item has no value while there is none
                    yield from follow(there, read_attribute(document, node), ())


def _part(name: str) -> Inverse:
    """From the wanted list of one block to an attribute in it. Raises `Unknown` for any other list."""

    def convert(value: Json) -> Json:
        rows = value if isinstance(value, Sequence) and not isinstance(value, str) else ()
        if len(rows) != 1 or not isinstance(rows[0], Mapping) or rows[0].get(name) is None:
            raise Unknown(f"the wanted value is not one block with {name}")
        return rows[0][name]

    return convert


@dataclass(frozen=True, slots=True)
class Inside:
    """The blocks that are written in a block, by type, and the content of each type that a dynamic block makes in it."""

    fixed: "Mapping[str, Sequence[Inside]]" = field(default_factory=dict)
    dynamic: "Mapping[str, DynamicContent]" = field(default_factory=dict)

    def flat(self, row: Mapping[str, Json], place: str = "") -> dict[str, Json]:
        """What a wanted block says, that of the blocks in it under their place. Raises `Unknown` if there is another number of these."""
        flat = {
            f"{place}{name}": value
            for name, value in row.items()
            if name not in self.fixed and name not in self.dynamic
        }
        for kind, written in self.fixed.items():
            rows = _rows(row.get(kind))
            if len(rows) != len(written):
                raise Unknown(f"the content has {len(written)} blocks of {kind}")
            for number, (inner, each) in enumerate(zip(written, rows, strict=True)):
                flat |= inner.flat(each, f"{place}{kind}.{number}.")
        for kind, content in self.dynamic.items():
            flat[f"{place}{kind}"] = [_whole(content.item_of(each)) for each in _rows(row.get(kind))]
        return flat


def _whole(item: tuple[Json, Json]) -> Json:
    """An item of a collection without keys."""
    key, value = item
    return key if value is None else value


@dataclass(frozen=True, slots=True)
class DynamicContent:
    """The arguments of a `content` block, by name, with the name and scope of what they read.

    Those of the blocks in it have the type of the block and its place before their name.
    """

    iterator: str
    written: Mapping[str, Expression]
    scope: EvaluationScope
    inside: Inside = field(default_factory=Inside)
    """The blocks in the content."""

    def item_of(self, row: Mapping[str, Json]) -> tuple[Json, Json]:
        """Key and value of the item that makes a block. What defaults give is not in it. Raises `Unknown` if no item makes the block."""
        row = self.inside.flat(row)
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


def _rows(value: Json) -> list[Mapping[str, Json]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


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


def all_blocks(
    cursor: Cursor, block: Node, block_type: str, rows: Sequence[Nested], follow: Follow
) -> Iterator[TracedSite]:
    """Sites that add or remove blocks: the collection of each dynamic block, then the blocks in place."""
    yield from collections(cursor, block, block_type, rows, follow)
    yield cursor.step(f"{cursor.document.at(block)} blocks of {block_type}").blocks(block, block_type)


def collections(
    cursor: Cursor, block: Node, block_type: str, rows: Sequence[Nested], follow: Follow
) -> Iterator[TracedSite]:
    """Sites in the collection of each dynamic block of a type, as it must be for the blocks to be the wanted ones."""
    for dynamic in cursor.document.blocks(block, "dynamic", block_type):
        source = read_attribute(cursor.document, cursor.document.attributes(dynamic)["for_each"])
        try:
            convert = _collection(cursor, dynamic, block_type, rows)
        except Unknown as error:
            yield cursor.refuse(f"The dynamic block {block_type} cannot be inverted: {error}.", dynamic)
            continue
        line = f"{cursor.document.at(dynamic)} for_each = {source_of(cursor.document, source)}"
        yield from follow(replace(cursor.step(line), convert=then(convert, cursor.convert), entry=None), source, ())
        yield from _emptied(replace(cursor.step(line), entry=None), source, follow)
        if condition := overrides.condition_of(cursor.scope):
            there = replace(cursor.step(f"{line}; only where {condition}"), convert=then(convert, cursor.convert))
            yield there.conditional(source, condition)


def _emptied(cursor: Cursor, source: Expression, follow: Follow) -> Iterator[TracedSite]:
    """Sites of each collection that decides whether there is a block: `for_each = length(var.x) == 0 ? [] : [1]` makes none if `var.x` is empty."""
    if not isinstance(e.bare(source), e.Conditional):
        return
    for part in e.walk(source):
        if not isinstance(part, e.AttributeAccess):
            continue
        with contextlib.suppress(Unknown):
            value = values.known(value_of(part, cursor.scope))
            if value and isinstance(value, Mapping | list):
                empty: Json = {} if isinstance(value, Mapping) else []
                yield from follow(replace(cursor, convert=then(_none_as(empty), cursor.convert)), part, ())


def _none_as(empty: Json) -> Inverse:
    """From no wanted block to the collection that makes none. Raises `Unknown` for any other value."""

    def convert(value: Json) -> Json:
        if value:
            raise Unknown("there are wanted blocks")
        return empty

    return convert


def _collection(cursor: Cursor, dynamic: Node, block_type: str, rows: Sequence[Nested]) -> Inverse:
    """From all wanted blocks to the collection that makes those of one dynamic block. Raises `Unknown`."""
    document = cursor.document
    fixed = [_row(document, row) for row in rows if row.dynamic is None or row.dynamic.id != dynamic.id]
    own = [_row(document, row) for row in rows if row.dynamic is not None and row.dynamic.id == dynamic.id]
    arguments = document.attributes(dynamic)
    source = value_of(read_attribute(document, arguments["for_each"]), cursor.scope)
    pairs = iterate(source)
    content = _content(cursor, dynamic, block_type)

    def convert(value: Json) -> Json:
        rest = [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []
        _take(rest, fixed)
        kept = [pair for pair, row in zip(pairs, own, strict=True) if _taken(rest, row)]
        new = [content.item_of(row) for row in rest]
        if isinstance(values.known(source), Mapping):
            table = {values.text(key): values.to_json(each) for key, each in kept}
            for key, each in new:
                if not isinstance(key, str) or key in table:
                    raise Unknown("the key of a new entry is not certain")
                table[key] = each
            return table
        if isinstance(source, SetOf):
            return [values.to_json(each) for _, each in kept] + [key if each is None else each for key, each in new]
        return [values.to_json(each) for _, each in kept] + [each for _, each in new]

    return convert


def _row(document: Document, row: Nested) -> dict[str, Json]:
    return {name: values.to_json(value) for name, value in body(document, row.block, row.scope).items()}


def _take(rest: list[Mapping[str, Json]], rows: Sequence[Mapping[str, Json]]) -> None:
    for row in rows:
        if not _taken(rest, row):
            raise Unknown("a block beside the dynamic one is not wanted any more")


def _taken(rest: list[Mapping[str, Json]], row: Mapping[str, Json]) -> bool:
    """Whether the row is wanted; it is removed from the rows that are left."""
    site = next((site for site, each in enumerate(rest) if alike(dict(row), dict(each))), None)
    if site is None:
        return False
    del rest[site]
    return True


def _content(cursor: Cursor, dynamic: Node, block_type: str) -> DynamicContent:
    """What the blocks of a dynamic block are made of. Raises `Unknown` if not all of it can be solved for the item."""
    document = cursor.document
    given = document.attributes(dynamic)
    iterator = read_attribute(document, given["iterator"]) if "iterator" in given else None
    (content,) = document.blocks(dynamic, "content")
    written: dict[str, Expression] = {}
    inside = _inside(cursor, content, "", written)
    name = iterator.name if isinstance(iterator, e.Name) else block_type
    return DynamicContent(name, written, cursor.scope, inside)


def _inside(cursor: Cursor, block: Node, place: str, written: dict[str, Expression]) -> Inside:
    """The blocks in a block, what they and it say put into `written` under their place. Raises `Unknown`."""
    document = cursor.document
    written |= {f"{place}{name}": read_attribute(document, node) for name, node in document.attributes(block).items()}
    fixed: dict[str, list[Inside]] = {}
    dynamic: dict[str, DynamicContent] = {}
    for inner in document.blocks(block):
        kind, *labels = document.header(inner)
        if kind == "dynamic":
            if labels[0] in dynamic:
                raise Unknown(f"several dynamic blocks in its content make {labels[0]}")
            dynamic[labels[0]] = _content(cursor, inner, labels[0])
            written[f"{place}{labels[0]}"] = read_attribute(document, document.attributes(inner)["for_each"])
        else:
            rows = fixed.setdefault(kind, [])
            rows.append(_inside(cursor, inner, f"{place}{kind}.{len(rows)}.", written))
    if shared := fixed.keys() & dynamic.keys():
        raise Unknown(f"its content writes {min(shared)} and makes it too")
    return Inside(fixed, dynamic)
