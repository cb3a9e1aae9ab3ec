"""One resource instance as the code declares it, and the values of its attributes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tree_sitter import Node

from gateway.model.json import Json
from gateway.terraform.lang import expression as e
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import EvaluationScope, find, value_of
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import EvaluationFailed, Opaque, Unknown, Value

if TYPE_CHECKING:
    from gateway.terraform.config.module import Module

META = frozenset({"count", "for_each", "provider", "depends_on", "lifecycle", "provisioner", "connection"})
"""What stands in a resource block and is no attribute of the resource."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ResourceInstance:
    """One resource instance as the code declares it."""

    address: str
    """`module.jobs["a"].aws_sqs_queue.this[0]`"""
    resource_type: str
    name: str
    document: Document
    block: Node
    scope: EvaluationScope
    module: "Module"
    hidden: frozenset[str] = frozenset()
    """Attributes and blocks that an override file sets, so that they are not known here."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Nested:
    """One nested block of an instance, static or made by a `dynamic` block."""

    block: Node
    """The block that holds the attributes: the nested block itself, or the `content` of a dynamic one."""
    scope: EvaluationScope
    dynamic: Node | None = None
    """The `dynamic` block that makes it."""
    key: Value = None
    """Its key in the dynamic block's `for_each`."""


def attributes(instance: ResourceInstance) -> Mapping[str, Json]:
    """What the code declares for an instance, as far as it is known; nested blocks are lists of mappings.

    An attribute of which any part is not known is absent; a nested block stays, without what is not known in it.
    """
    return {
        name: _visible(value)
        for name, value in body(instance.document, instance.block, instance.scope, META).items()
        if name not in instance.hidden and _is_known(value)
    }


def declared(instance: ResourceInstance, path: str) -> Json:
    """The declared value at a dotted path such as `tags.owner` or `ingress.0.from_port`.

    The index of a nested block may be left out where there is one only. Raises `Unknown`.
    """
    steps = path.split(".")
    if steps[0] in instance.hidden:
        raise Unknown(f"{steps[0]} comes from an override file")
    return values.settled(_find(instance.document, instance.block, instance.scope, steps))


def _find(document: Document, block: Node, scope: EvaluationScope, steps: Sequence[str]) -> Value:
    attribute = document.attributes(block).get(steps[0])
    if attribute is not None:
        return find(value_of(read_attribute(document, attribute), scope), steps[1:])
    rows = nested(document, block, steps[0], scope)
    if not rows:
        raise EvaluationFailed(f"{steps[0]} is not declared")
    if len(steps) == 1:
        return [_settled_body(document, row.block, row.scope) for row in rows]
    row, rest = pick(rows, steps)
    return _find(document, row.block, row.scope, rest) if rest else _settled_body(document, row.block, row.scope)


def pick(rows: Sequence[Nested], steps: Sequence[str]) -> tuple[Nested, Sequence[str]]:
    """The nested block that a path names and the steps after it. Raises `Unknown` where it names none, or several."""
    if steps[1].isdecimal():
        if int(steps[1]) >= len(rows):
            raise EvaluationFailed(f"there is no {steps[0]} number {steps[1]}")
        return rows[int(steps[1])], steps[2:]
    if len(rows) > 1:
        raise Unknown(f"there are {len(rows)} {steps[0]} blocks, and the path does not say which")
    return rows[0], steps[1:]


def nested(document: Document, block: Node, kind: str, scope: EvaluationScope) -> tuple[Nested, ...]:
    """The nested blocks of one kind in order, dynamic ones expanded. Raises `Unknown` where their number is not known."""
    found: list[Nested] = []
    for inner in document.blocks(block):
        header = document.header(inner)
        if header[0] == kind:
            found.append(Nested(block=inner, scope=scope))
        elif header == ("dynamic", kind):
            found.extend(_dynamic(document, inner, kind, scope))
    return tuple(found)


def _dynamic(document: Document, block: Node, kind: str, scope: EvaluationScope) -> Iterator[Nested]:
    given = document.attributes(block)
    contents = document.blocks(block, "content")
    if "for_each" not in given or len(contents) != 1:
        raise Unknown(f"the dynamic block {kind} cannot be read")
    name = kind
    if "iterator" in given:
        iterator = read_attribute(document, given["iterator"])
        if not isinstance(iterator, e.Name):
            raise Unknown(f"the iterator of the dynamic block {kind} cannot be read")
        name = iterator.name
    for key, value in iterate(value_of(read_attribute(document, given["for_each"]), scope)):
        inner = replace(scope, iterators={**scope.iterators, name: (key, value)})
        yield Nested(block=contents[0], scope=inner, dynamic=block, key=key)


def iterate(source: Value) -> list[tuple[Value, Value]]:
    """Key and value of each item of a `for_each`: of a map, of a set, or (dynamic blocks only) of a list by index."""
    if isinstance(values.known(source), Mapping):
        table = values.mapping(source, "for_each")
        return [(key, table[key]) for key in sorted(table)]
    row = values.items(source, "for_each")
    if isinstance(source, values.SetOf):
        return [(item, item) for item in row]
    return list(enumerate(row))


def body(
    document: Document, block: Node, scope: EvaluationScope, without: frozenset[str] = frozenset()
) -> dict[str, Value]:
    """Values of attributes and nested blocks of a block; `Opaque` where not known."""
    result: dict[str, Value] = {}
    for name, attribute in document.attributes(block).items():
        if name not in without:
            try:
                result[name] = value_of(read_attribute(document, attribute), scope)
            except Unknown as error:
                result[name] = Opaque(str(error), (read_attribute(document, attribute), scope))
    for inner in document.blocks(block):
        header = document.header(inner)
        kind = header[1] if header[0] == "dynamic" and len(header) > 1 else header[0]
        if kind not in result and kind not in without:
            try:
                result[kind] = _Blocks(body(document, r.block, r.scope) for r in nested(document, block, kind, scope))
            except Unknown as error:
                result[kind] = Opaque(str(error))
    return result


class _Blocks(list[Value]):
    """Nested blocks: unlike a list of objects, one stays when a part of it is not known."""


def _visible(value: Value) -> Json:
    """Plain JSON of a known attribute; of nested blocks, what is known of them."""
    if isinstance(value, _Blocks):
        rows = [values.mapping(row, "a block") for row in value]
        return [{name: _visible(item) for name, item in row.items() if _is_known(item)} for row in rows]
    return values.settled(value)


def _is_known(value: Value) -> bool:
    if isinstance(value, _Blocks):
        return True
    try:
        values.settled(value)
    except Unknown:
        return False
    return True


def _settled_body(document: Document, block: Node, scope: EvaluationScope) -> Value:
    return values.settled(body(document, block, scope))
