"""Reads what stands between the parts of a template: interpolations, directives (`%{ if }`, `%{ for }`) and markers that strip spaces (`~`).

A directive becomes the expression that it stands for: a conditional, or the joined list of a `for`. The rules are those of
hashicorp/hcl `hclsyntax/parser_template.go`: a marker strips the text beside it up to the end of one line, not further.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from gateway.terraform.lang import expression as e
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.hcl import Document

_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
"""What Go's `unicode.IsSpace` holds for a space."""
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_SEQUENCES = ("template_interpolation", "template_directive")
Part = str | Expression


class TemplateUnreadable(Exception):
    """Says why a template cannot be read with certainty."""


@dataclass(frozen=True, slots=True)
class TemplateReader:
    """Reads the templates of one document."""

    document: Document
    read: Callable[[Document, Node], Expression]
    """Reads the expression at a node."""
    decode: Callable[[str], str]
    """Makes the text of the source the text that it stands for."""
    by_line: bool = True
    """Whether the text may have lines, as in a heredoc; a marker strips only the one beside it."""

    def parts(
        self, nodes: Sequence[Node], start: int, end: int, strips: tuple[bool, bool] = (False, False)
    ) -> list[Part]:
        """The parts between two offsets; `strips`: whether the text is stripped at its start and at its end. Raises `TemplateUnreadable`."""
        found: list[Part] = []
        left = strips[0]
        for node in nodes:
            if node.type in _SEQUENCES:
                opens, closes = _markers(node)
                self._text(found, start, node.start_byte, (left, opens))
                found.append(self._sequence(node))
                start, left = node.end_byte, closes
        self._text(found, start, end, (left, strips[1]))
        return found

    def _text(self, found: list[Part], start: int, end: int, strips: tuple[bool, bool]) -> None:
        """Add the text between two offsets, with the spaces beside a marker stripped."""
        written = self.document.source[start:end].decode()
        if (
            written.endswith(("$", "%"))
            and end < len(self.document.source)
            and self.document.source[end : end + 1] in b"$%"
        ):
            raise TemplateUnreadable("a dollar sign before an interpolation is not read")
        if not self.by_line and "\n" in written:
            raise TemplateUnreadable("a quoted string may not span lines")
        lines = _LINE.findall(self.decode(written)) if self.by_line else [self.decode(written)]
        if lines and strips[0]:
            lines[0] = lines[0].lstrip(_SPACE)
        if lines and strips[1]:
            lines[-1] = lines[-1].rstrip(_SPACE)
        if written:  # an empty text still makes the whole a text
            found.append("".join(lines))

    def _sequence(self, node: Node) -> Expression:
        if node.type == "template_interpolation":
            return self.read(self.document, _one(node, "expression"))
        (inner,) = [child for child in node.children if child.type in ("template_for", "template_if")]
        return self._for(inner) if inner.type == "template_for" else self._if(inner)

    def _for(self, node: Node) -> Expression:
        opening, closing = _one(node, "template_for_start"), _one(node, "template_for_end")
        names = tuple(self.document.text(child) for child in opening.children if child.type == "identifier")
        source = self.read(self.document, _one(opening, "expression"))
        value = self._between(node.children, opening, closing)
        start, end = node.start_byte, node.end_byte
        rows = e.For(start, end, names, source, None, value, None)
        return e.FunctionCall(start, end, "join", (e.LiteralValue(start, start, ""), rows))

    def _if(self, node: Node) -> Expression:
        opening, closing = _one(node, "template_if_intro"), _one(node, "template_if_end")
        middle = next((child for child in node.children if child.type == "template_else_intro"), None)
        condition = self.read(self.document, _one(opening, "expression"))
        then = self._between(node.children, opening, closing if middle is None else middle)
        otherwise: Expression = e.LiteralValue(closing.start_byte, closing.start_byte, "")
        if middle is not None:
            otherwise = self._between(node.children, middle, closing)
        return e.Conditional(node.start_byte, node.end_byte, condition, then, otherwise)

    def _between(self, nodes: Sequence[Node], opening: Node, closing: Node) -> Expression:
        start, end = opening.end_byte, closing.start_byte
        inside = [node for node in nodes if start <= node.start_byte and node.end_byte <= end]
        strips = (_strips(opening)[1], _strips(closing)[0])
        return e.Template(start, end, tuple(self.parts(inside, start, end, strips)))


def _one(node: Node, kind: str) -> Node:
    found = next((child for child in node.children if child.type == kind), None)
    if found is None:
        raise TemplateUnreadable("a template directive cannot be read")
    return found


def _markers(node: Node) -> tuple[bool, bool]:
    """Whether an interpolation, or a directive as a whole, strips the text before it and after it."""
    if node.type == "template_interpolation":
        return _strips(node)
    (inner,) = [child for child in node.children if child.type in ("template_for", "template_if")]
    return _strips(inner.children[0])[0], _strips(inner.children[-1])[1]


def _strips(node: Node) -> tuple[bool, bool]:
    """Whether a `~` stands at the start and at the end of one pair of braces."""
    kinds = [child.type for child in node.children]
    return kinds[1:2] == ["strip_marker"], kinds[-2:-1] == ["strip_marker"]
