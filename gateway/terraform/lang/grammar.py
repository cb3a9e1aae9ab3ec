"""Parses expressions and templates, from tree-sitter's nodes or from text: precedence, conditionals, escapes, heredocs, directives.

A directive becomes the expression that it stands for: a conditional, or the joined list of a `for`. The rules are those of
hashicorp/hcl `hclsyntax/parser_template.go`: a marker strips the text beside it up to the end of one line, not further.

tree-sitter-hcl nests `a ? b : c ? d : e` to the left and does not nest operators by precedence, so this module flattens
its tree to tokens and climbs the precedence of hashicorp/hcl `hclsyntax/spec.md`. Anything uncertain becomes `Unsupported`.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

from tree_sitter import Node

from gateway.core.errors import CodeInvalid
from gateway.terraform.lang import expression as e
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.hcl import Document, parse
from gateway.terraform.lang.values import MOST_DIGITS

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


_PRECEDENCE = {
    "||": 1,
    "&&": 2,
    "==": 3,
    "!=": 3,
    "<": 4,
    ">": 4,
    "<=": 4,
    ">=": 4,
    "+": 5,
    "-": 5,
    "*": 6,
    "/": 6,
    "%": 6,
}
_WRAPPERS = frozenset({"literal_value", "collection_value", "template_expr", "for_expr"})
_ALONE = frozenset({"literal_value", "collection_value", "template_expr"})
"""Types of nodes that are a whole operand: a row of only one of them has no operators to look for."""
_ESCAPE = re.compile(r'\\([nrt"\\]|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})|([$%])\2\{|\\')
_DOUBLED = re.compile(r"([$%])\1\{")
_PLAIN = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}


TOO_DEEP = "it is nested too deeply"
"""The reason of an `Unsupported` that has too many levels."""


class _Unreadable(Exception):
    """Says why a piece of source cannot be parsed with certainty."""


def read(document: Document, node: Node) -> Expression:
    """The expression at an `expression` node (or one inside it). Never raises: see `Unsupported`."""
    cached = document.expressions.get(node.id)
    if cached is None:
        try:
            inner = node.children
            alone = node.type == "expression" and len(inner) == 1 and inner[0].type in _ALONE
            cached = _term(document, inner[0]) if alone else _row(document, [node])
        except RecursionError:
            cached = e.Unsupported(node.start_byte, node.end_byte, TOO_DEEP)
        document.expressions[node.id] = cached
    return cached


def read_attribute(document: Document, attribute: Node) -> Expression:
    """The expression on the right of an attribute's `=`."""
    return read(document, document.expression(attribute))


def parse_expression(text: str) -> Expression:
    """The expression in a text such as `var.env == "prod" ? 20 : 6`. Never raises: anything else is `Unsupported`.

    Its spans are offsets in a document made for parsing; they are of no use to a caller.
    """
    source = f"x = (\n{text}\n)\n"  # in parentheses an expression may span lines
    try:
        document = parse(Path("expression"), source.encode())
    except (CodeInvalid, UnicodeEncodeError):
        return e.Unsupported(0, 0, f"`{text}` is not an expression", text=text)
    attributes = document.attributes(document.root)
    alone = list(attributes) == ["x"] and document.root.named_child_count == 1
    group = read_attribute(document, attributes["x"]) if alone else None
    if not isinstance(group, e.Group) or group.end != len(source.encode()) - 1:
        return e.Unsupported(0, 0, f"`{text}` is not one expression", text=text)
    return group.inner


def number(text: str) -> int | float:
    """The number in an HCL text: int if it is whole, else float."""
    exact = Decimal(text)
    return int(exact) if exact == exact.to_integral_value() else float(exact)


def unescape(text: str) -> str:
    """The value of a quoted string, from the text between its quotes. Raises `ValueError` on an unknown escape."""

    def replace(match: re.Match[str]) -> str:
        code, introducer = match.groups()
        if introducer:
            return introducer + "{"
        if not code:
            raise ValueError(f"{match.group()} is not an escape sequence")
        return _PLAIN[code] if code in _PLAIN else chr(int(code[1:], 16))

    escaped = "\\" in text or "$$" in text or "%%" in text
    return unicodedata.normalize("NFC", _ESCAPE.sub(replace, text) if escaped else text)


# ------------------------------------------------------------------------------------------------ operators


def _row(document: Document, nodes: Sequence[Node]) -> Expression:
    """The expression of a row of sibling nodes: operators, and operands between them."""
    tokens = _tokens(nodes)
    result, rest = _climb(document, tokens, 1)
    if rest:
        return _unsupported(document, nodes, "it could not be read to its end")
    return result


def _tokens(nodes: Sequence[Node]) -> list[Node]:
    """The nodes with every operation replaced by its operators and the parts of its operands."""
    flat: list[Node] = []
    for node in nodes:
        if node.type == "expression" and flat and flat[-1].type == "(":
            flat.append(node)  # an expression in parentheses is parsed on its own
        elif node.type in ("operation", "unary_operation", "binary_operation", "expression"):
            flat.extend(_tokens(node.children))
        elif node.type != "comment":
            flat.append(node)
    return flat


def _climb(document: Document, tokens: list[Node], least: int) -> tuple[Expression, list[Node]]:
    left, tokens = _operand(document, tokens)
    while tokens and (strength := _PRECEDENCE.get(tokens[0].type, 0)) >= least:
        operator = tokens[0].type
        right, tokens = _climb(document, tokens[1:], strength + 1)
        left = e.Binary(left.start, right.end, operator, left, right)
    return left, tokens


def _operand(document: Document, tokens: list[Node]) -> tuple[Expression, list[Node]]:
    if not tokens:
        return e.Unsupported(0, 0, "an operand is missing"), []
    if tokens[0].type in ("-", "!"):
        inner, rest = _operand(document, tokens[1:])
        return e.Unary(tokens[0].start_byte, inner.end, tokens[0].type, inner), rest
    if tokens[0].type == "(":
        inner = read(document, tokens[1])
        result: Expression = e.Group(tokens[0].start_byte, tokens[2].end_byte, inner)
        rest = tokens[3:]
    else:
        result, rest = _term(document, tokens[0]), tokens[1:]
    while rest and rest[0].type in ("get_attr", "index", "splat"):
        result = _step(document, result, rest[0])
        rest = rest[1:]
    return result, rest


def _step(document: Document, source: Expression, node: Node) -> Expression:
    start, end = source.start, node.end_byte
    if node.type == "get_attr":
        return e.AttributeAccess(start, end, source, document.text(node.children[-1]))
    inner = node.children[0]
    if node.type == "index":
        return e.IndexAccess(start, end, source, _key(document, inner))
    steps: list[str | Expression] = []
    for step in inner.children[1:]:
        if step.type == "get_attr":
            steps.append(document.text(step.children[-1]))
        elif step.type == "index":
            steps.append(_key(document, step.children[0]))
        elif step.type != "comment":
            return e.Unsupported(start, end, "a splat within a splat", (source,), document.text(node))
    return e.Splat(start, end, source, tuple(steps))


def _key(document: Document, index: Node) -> Expression:
    if index.type == "legacy_index":
        return e.LiteralValue(index.start_byte + 1, index.end_byte, int(document.text(index)[1:]))
    return read(document, next(child for child in index.children if child.type == "expression"))


# ---------------------------------------------------------------------------------------------------- terms


def _term(document: Document, node: Node) -> Expression:  # noqa: C901  one case for each type of node
    start, end = node.start_byte, node.end_byte
    match node.type:
        case kind if kind in _WRAPPERS:
            return _term(document, next(child for child in node.children if child.type != "comment"))
        case "numeric_lit":
            written = document.text(node)
            if abs(Decimal(written).adjusted()) > MOST_DIGITS or len(written) > MOST_DIGITS:
                return e.Unsupported(start, end, "the number is too large", text=written[:MOST_DIGITS])
            return e.LiteralValue(start, end, number(written))
        case "bool_lit":
            return e.LiteralValue(start, end, document.text(node) == "true")
        case "null_lit":
            return e.LiteralValue(start, end, None)
        case "string_lit" | "quoted_template" | "heredoc_template":
            return _string(document, node)
        case "tuple":
            return e.Tuple(start, end, tuple(read(document, item) for item in _expressions(node)))
        case "object":
            elements = [child for child in node.children if child.type == "object_elem"]
            return e.Object(start, end, tuple(_element(document, element) for element in elements))
        case "variable_expr":
            return e.Name(start, end, document.text(node))
        case "conditional":
            return _conditional(document, node)
        case "function_call":
            return _call(document, node)
        case "for_tuple_expr" | "for_object_expr":
            return _for(document, node)
    return _unsupported(document, [node], f"{node.type} is not read")


def _expressions(node: Node) -> list[Node]:
    return [child for child in node.children if child.type == "expression"]


def _element(document: Document, node: Node) -> e.Element:
    key_node, value_node = _expressions(node)
    if [child.type for child in key_node.children] == ["variable_expr"]:
        key: Expression = e.LiteralValue(key_node.start_byte, key_node.end_byte, document.text(key_node))
    else:
        key = read(document, key_node)
    return e.Element(node.start_byte, node.end_byte, key, read(document, value_node))


def _conditional(document: Document, node: Node) -> Expression:
    """A right-associative conditional. tree-sitter nests it to the left, so it is flattened and nested again."""
    return _nest(_flat_conditional(document, node))


def _flat_conditional(document: Document, node: Node) -> list[Expression | str]:
    flat: list[Expression | str] = []
    for child in node.children:
        if child.type in ("?", ":"):
            flat.append(child.type)
        elif child.type == "expression":
            inner = [part for part in child.children if part.type != "comment"]
            if len(inner) == 1 and inner[0].type == "conditional":
                flat.extend(_flat_conditional(document, inner[0]))
            else:
                flat.append(read(document, child))
    return flat


def _nest(flat: list[Expression | str]) -> Expression:
    result, rest = _nest_from(flat)
    if rest:
        return e.Unsupported(result.start, result.end, "a conditional that cannot be read")
    return result


def _nest_from(flat: list[Expression | str]) -> tuple[Expression, list[Expression | str]]:
    first, rest = flat[0], flat[1:]
    if isinstance(first, str):
        return e.Unsupported(0, 0, "a conditional that cannot be read"), []
    if not rest or rest[0] != "?":
        return first, rest
    then, rest = _nest_from(rest[1:])
    if not rest or rest[0] != ":":
        return e.Unsupported(first.start, then.end, "a conditional that cannot be read"), []
    otherwise, rest = _nest_from(rest[1:])
    return e.Conditional(first.start, otherwise.end, first, then, otherwise), rest


def _call(document: Document, node: Node) -> Expression:
    arguments = next((child for child in node.children if child.type == "function_arguments"), None)
    nodes = [] if arguments is None else _expressions(arguments)
    expand = arguments is not None and any(child.type == "ellipsis" for child in arguments.children)
    name = document.text(node.children[0])
    return e.FunctionCall(node.start_byte, node.end_byte, name, tuple(read(document, item) for item in nodes), expand)


def _for(document: Document, node: Node) -> Expression:
    intro = next(child for child in node.children if child.type == "for_intro")
    names = tuple(document.text(child) for child in intro.children if child.type == "identifier")
    condition_node = next((child for child in node.children if child.type == "for_cond"), None)
    condition = None if condition_node is None else read(document, _expressions(condition_node)[0])
    values = [read(document, child) for child in _expressions(node)]
    key = values[0] if node.type == "for_object_expr" else None
    grouped = any(child.type == "ellipsis" for child in node.children)
    source = read(document, _expressions(intro)[0])
    return e.For(node.start_byte, node.end_byte, names, source, key, values[-1], condition, grouped)


def _unsupported(document: Document, nodes: Sequence[Node], reason: str) -> Expression:
    """An `Unsupported` with every expression inside the nodes, so that references are still found."""
    inner = tuple(read(document, child) for node in nodes for child in _inner_expressions(node))
    start, end = nodes[0].start_byte, nodes[-1].end_byte
    return e.Unsupported(start, end, reason, inner, document.source[start:end].decode())


def _inner_expressions(node: Node) -> list[Node]:
    found: list[Node] = []
    for child in node.children:
        found.extend([child] if child.type == "expression" else _inner_expressions(child))
    return found


# -------------------------------------------------------------------------------------------------- strings


def _string(document: Document, node: Node) -> Expression:
    try:
        parts = _heredoc(document, node) if node.type == "heredoc_template" else _quoted(document, node)
    except (_Unreadable, TemplateUnreadable, ValueError) as error:
        return _unsupported(document, [node], str(error))
    heredoc = node.type == "heredoc_template"
    if not heredoc and len(parts) == 1 and not isinstance(parts[0], str):
        return e.Group(node.start_byte, node.end_byte, parts[0])
    if not heredoc and all(isinstance(part, str) for part in parts):
        return e.LiteralValue(node.start_byte, node.end_byte, "".join(part for part in parts if isinstance(part, str)))
    return e.Template(node.start_byte, node.end_byte, tuple(parts), heredoc)


def _pieces(document: Document, node: Node, start: int, end: int) -> list[str | Node]:
    """Raw text and interpolations between two offsets. Raises `_Unreadable` on directives, strip markers and `$$${`."""
    pieces: list[str | Node] = []
    for child in node.children:
        if child.type == "template_directive":
            raise _Unreadable("template directives are not read")
        if child.type != "template_interpolation":
            continue
        if any(part.type == "strip_marker" for part in child.children):
            raise _Unreadable("strip markers are not read")
        text = document.source[start : child.start_byte].decode()
        if text.endswith(("$", "%")):
            raise _Unreadable("a dollar sign before an interpolation is not read")
        pieces.extend([text] if text else [])
        pieces.append(child)
        start = child.end_byte
    tail = document.source[start:end].decode()
    return pieces + ([tail] if tail else [])


def _quoted(document: Document, node: Node) -> list[str | Expression]:
    start = next(child for child in node.children if child.type == "quoted_template_start").end_byte
    end = next(child for child in reversed(node.children) if child.type == "quoted_template_end").start_byte
    return TemplateReader(document, read, unescape, by_line=False).parts(node.children, start, end)


def _interpolated(document: Document, node: Node) -> Expression:
    return read(document, _expressions(node)[0])


def _heredoc(document: Document, node: Node) -> list[str | Expression]:
    """The parts of a heredoc. With `<<-` the smallest indentation is removed from all lines (HCL spec, flush heredoc)."""
    start = document.source.index(b"\n", node.start_byte) + 1
    end = document.source.rindex(b"\n", start - 1, node.end_byte) + 1
    if b"\r" in document.source[start:end]:
        raise _Unreadable("a heredoc with carriage returns is not read")
    if document.source[node.start_byte : node.start_byte + 3] != b"<<-":
        return TemplateReader(document, read, _plain).parts(node.children, start, end)
    pieces = _flushed(_pieces(document, node, start, end))
    return [_plain(piece) if isinstance(piece, str) else _interpolated(document, piece) for piece in pieces]


def _plain(text: str) -> str:
    """The text of a heredoc, in which a doubled sign stands for one."""
    return unicodedata.normalize("NFC", _DOUBLED.sub(r"\1{", text))


def _flushed(pieces: Sequence[str | Node]) -> list[str | Node]:
    lines: list[str | Node] = []
    if any(isinstance(piece, str) and re.search(r"(?m)^[ \t]+\n", piece) for piece in pieces):
        raise _Unreadable("a flush heredoc with lines of only spaces is not read")
    for piece in pieces:
        lines.extend(piece.splitlines(keepends=True) if isinstance(piece, str) else [piece])
    starts = [True, *(isinstance(a, str) and a.endswith("\n") for a, _ in pairwise(lines))]
    indents = [
        len(line) - len(line.lstrip(" \t")) if isinstance(line, str) else 0
        for line, begins in zip(lines, starts, strict=True)
        if begins and not (isinstance(line, str) and not line.strip() and line.endswith("\n"))
    ]
    least = min(indents, default=0)
    return [
        line[min(least, len(line) - len(line.lstrip(" \t"))) :] if begins and isinstance(line, str) else line
        for line, begins in zip(lines, starts, strict=True)
    ]
