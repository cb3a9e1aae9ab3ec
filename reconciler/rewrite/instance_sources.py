"""Finds what decides which instances a block has: the expressions of its `count` or `for_each`, and the data files that these read."""

import contextlib
import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from tree_sitter import Node

from gateway.terraform.config.module import Module
from gateway.terraform.lang import expression as e
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import value_of
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document, data_document
from gateway.terraform.lang.values import Unknown
from reconciler.rewrite.editors.hcl_text import CannotEdit

if TYPE_CHECKING:
    from reconciler.rewrite.data_entries import DataFile

InstanceSource: TypeAlias = "tuple[Document, e.Object | e.Tuple | e.LiteralValue | DataFile]"
"""The document and the expression in it, an object, a list, or a plain value; or the document as a data file."""


def instance_sources(module: Module, document: Document, block: Node) -> list[InstanceSource]:
    """The expressions that the `count` or `for_each` of a block in a module instance consists of, through variables, locals and calls."""
    return list(_Follow().block(module, document, block))


_DATA = frozenset({".csv", ".json", ".yaml", ".yml"})
_MOST_FILES = 100
"""Data files whose entries are looked at, if it is not known which of them is read."""


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
                case e.FunctionCall(name="file" | "templatefile", arguments=(opened, *_)):
                    yield from self.data(module, expression, opened, is_template=part.name == "templatefile")
        for root, name in e.root_references(expression):
            if (id(module), f"{root}.{name}") not in self.seen:
                self.seen.add((id(module), f"{root}.{name}"))
                yield from self.named(module, root, name)

    def data(
        self, module: Module, expression: Expression, name: Expression, *, is_template: bool
    ) -> Iterator[InstanceSource]:
        """The file of a call in an expression; every data file that the module reads, if its name differs from round to round of a `for`."""
        from reconciler.rewrite.data_entries import DataFile  # noqa: PLC0415  it takes long to import, and few stacks have any

        is_csv = any(isinstance(part, e.FunctionCall) and part.name == "csvdecode" for part in e.walk(expression))
        try:
            given = Path(posixpath.normpath(values.text(value_of(name, module.scope))))
            paths = [given] if given in module.source.templates else []
        except Unknown:
            paths = sorted(path for path in module.source.templates if path.suffix in _DATA)
        for path in paths[:_MOST_FILES]:
            if (id(module), str(path)) in self.seen:
                continue
            self.seen.add((id(module), str(path)))
            with contextlib.suppress(CannotEdit, Unknown):
                document = (
                    module.template_file(str(path))[0]
                    if is_template
                    else data_document(path, module.source.templates[path])
                )
                yield document, DataFile(document, is_csv=is_csv)

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
        """The sources of the instances of a module."""
        if module.parent is not None and module.call is not None and module.call_document is not None:
            yield from self.block(module.parent, module.call_document, module.call)


def literals(node: e.Expression) -> Iterator[str]:
    """The plain values in an expression, as text."""
    return (plain_text(part.value) for part in e.walk(node) if isinstance(part, e.LiteralValue))


def plain_text(value: object) -> str:
    """A text or number as text; empty for anything else."""
    return "" if value is None or isinstance(value, bool) else str(value)
