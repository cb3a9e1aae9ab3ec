"""Converts the declarations of an HCL document to the values that JSON code has for them."""

import json
from collections.abc import Collection
from dataclasses import dataclass, field

from tree_sitter import Node

from gateway.core.model.json import Json
from gateway.terraform.json_syntax.shapes import JsonBodyShape, StringForm, body_of
from gateway.terraform.lang import expression as e
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.quoting import plain_template
from reconciler.rewrite.editors.hcl_text import CannotEdit

Header = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DeclaredBody:
    """The attributes and nested blocks of a block or a file."""

    attributes: dict[str, Json]
    blocks: "dict[Header, list[DeclaredBody]]" = field(default_factory=dict)
    """The nested blocks by header, in order."""

    @property
    def key(self) -> str:
        """A text that is the same for all bodies that declare the same."""
        return json.dumps(self.plain, sort_keys=True)

    @property
    def plain(self) -> Json:
        """The body as a value in which blocks are distinct from attributes."""
        blocks = {"\0".join(header): [body.plain for body in bodies] for header, bodies in self.blocks.items()}
        return [self.attributes, blocks]


def declared_body(
    document: Document, container: Node, shape: JsonBodyShape, only: Collection[Header] | None = None
) -> DeclaredBody:
    """The body of a block, or the root of a document; with `only` the nested blocks that have these headers in the source.

    Raises `CannotEdit` for what JSON code does not have.
    """
    attributes = {
        name: _Values(document, shape.form(name)).of(read_attribute(document, node))
        for name, node in document.attributes(container).items()
    }
    found = DeclaredBody(attributes)
    for block in document.blocks(container):
        header = document.header(block)
        if only is not None and header not in only:
            continue
        if header[0] not in shape.blocks or shape.blocks[header[0]].labels != len(header) - 1:
            raise CannotEdit(
                f"{document.path} is code in JSON syntax, and of a block `{' '.join(header)}` Sentinel does not know how it is written there."
            )
        labels = tuple(json.loads(f'"{label}"') for label in header[1:])
        inner = declared_body(document, block, body_of((header[0], *labels), shape))
        found.blocks.setdefault((header[0], *labels), []).append(inner)
    return found


@dataclass(frozen=True, slots=True)
class _Values:
    """Makes the values of one argument."""

    document: Document
    form: StringForm

    def of(self, expression: Expression) -> Json:
        match expression:
            case e.Tuple(items=items):
                return [self.of(item) for item in items]
            case e.Object(elements=elements):
                return {self._key(element.key): self.of(element.value) for element in elements}
            case e.LiteralValue(value=str() as text):
                return self._text(expression, text)
            case e.LiteralValue(value=value):
                return value
            case e.Unary(operator="-", operand=e.LiteralValue(value=int() | float() as number)):
                return -number
        if self.form is StringForm.CODE:
            return self._source(expression)
        if self.form is StringForm.LITERAL:
            raise CannotEdit(
                f"{self.document.at(expression.start)}: Terraform takes no expression here, in JSON syntax."
            )
        if isinstance(expression, e.Template) and expression.heredoc:
            return self._heredoc(expression)
        source = self._source(expression)
        return plain_template(source) if source.startswith('"') and _is_quoted(expression) else f"${{{source}}}"

    def _text(self, expression: Expression, text: str) -> str:
        """A text without interpolations, as its form writes it."""
        if self.form is not StringForm.TEMPLATE:
            return text
        return plain_template(self._source(expression))

    def _key(self, key: Expression) -> str:
        source = self._source(key)
        if isinstance(key, e.LiteralValue) and not source.startswith('"'):
            return str(key.value) if isinstance(key.value, str) else source
        found = self.of(e.bare(key) if source.startswith("(") else key)
        return found if isinstance(found, str) else json.dumps(found)

    def _heredoc(self, template: e.Template) -> str:
        if all(isinstance(part, str) for part in template.parts):
            return "".join(str(part) for part in template.parts).replace("${", "$${").replace("%{", "%%{")
        raise CannotEdit(f"{self.document.path} is code in JSON syntax, which has no heredocs.")

    def _source(self, expression: Expression) -> str:
        return self.document.source[expression.start : expression.end].decode()


def _is_quoted(expression: Expression) -> bool:
    """Whether an expression is a quoted string: a text with interpolations, or one interpolation."""
    return isinstance(expression, e.Template | e.Group | e.Unsupported)
