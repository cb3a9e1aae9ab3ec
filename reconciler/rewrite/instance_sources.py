"""Finds what decides how many instances a block has: the lists, maps, numbers and flags that its `count` or `for_each` is made of."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from tree_sitter import Node

from gateway.terraform.config.module import Module
from gateway.terraform.lang import expression as e
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import Unknown

InstanceSource = tuple[Document, e.Object | e.Tuple | e.LiteralValue]
"""Where it is written, and what: an object, a list, or a plain value."""


def instance_sources(module: Module, document: Document, block: Node) -> list[InstanceSource]:
    """What the `count` or `for_each` of a block in a module instance is made of, through variables, locals and calls."""
    return list(_Follow().block(module, document, block))


@dataclass(frozen=True, slots=True)
class _Follow:
    seen: set[tuple[int, str]] = field(default_factory=set)

    def block(self, module: Module, document: Document, block: Node) -> Iterator[InstanceSource]:
        attributes = document.attributes(block)
        for name in ("for_each", "count"):
            if name in attributes:
                yield from self.expression(module, document, read_attribute(document, attributes[name]))

    def expression(self, module: Module, document: Document, expression: Expression) -> Iterator[InstanceSource]:
        for part in e.walk(expression):
            match part:
                case e.Object() | e.Tuple() | e.LiteralValue():
                    yield document, part
        for root, name in e.root_references(expression):
            if (id(module), f"{root}.{name}") not in self.seen:
                self.seen.add((id(module), f"{root}.{name}"))
                yield from self.named(module, root, name)

    def named(self, module: Module, root: str, name: str) -> Iterator[InstanceSource]:
        if root == "local" and name in module.source.locals:
            document, attribute = module.source.locals[name]
            yield from self.expression(module, document, read_attribute(document, attribute))
        elif root == "var" and name in module.source.variables:
            yield from self.variable(module, name)
        elif root == "each" and module.parent is not None and module.call is not None:
            yield from self.call(module)

    def variable(self, module: Module, name: str) -> Iterator[InstanceSource]:
        try:
            definition = module.definition(name)
        except Unknown:
            return
        owner = definition.scope.module if isinstance(definition.scope.module, Module) else module
        written = read_attribute(definition.document, definition.attribute)
        yield from self.expression(owner, definition.document, written)
        if definition.kind == "argument" and any(root == "each" for root, _ in e.root_references(written)):
            yield from self.call(module)

    def call(self, module: Module) -> Iterator[InstanceSource]:
        """What the instances of a module are made of."""
        if module.parent is not None and module.call is not None and module.call_document is not None:
            yield from self.block(module.parent, module.call_document, module.call)
