"""The text of a contract file as blocks and attributes with their lines, read with python-hcl2's grammar."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import hcl2
from lark import Token, Tree
from lark.exceptions import LarkError, UnexpectedInput, UnexpectedToken

from gateway.errors import CodeInvalid
from gateway.model.json import Json

MAX_BYTES = 1_000_000
"""Largest contract file that is read."""

_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_PLAIN = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}

_Tree = Tree[Token]


class NotLiteral:
    """The kind of `NOT_LITERAL`."""


NOT_LITERAL: Final = NotLiteral()
"""What `literal` returns for an expression that has to be evaluated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractAttribute:
    """`name = expression`."""

    name: str
    source: str
    """`file:line`."""
    text: str
    """The expression as written."""
    tree: _Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractBlock:
    """`kind "label" … { body }`."""

    kind: str
    labels: tuple[str, ...]
    source: str
    body: "ContractBody"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractBody:
    """What stands between two braces, or in a whole file."""

    attributes: dict[str, ContractAttribute]
    blocks: tuple[ContractBlock, ...]

    def of_kind(self, kind: str) -> Iterator[ContractBlock]:
        """The blocks of one kind, in order."""
        return (block for block in self.blocks if block.kind == kind)


def parse_body(text: str, file: str) -> ContractBody:
    """The file's body. Raises `errors.CodeInvalid` with file, line and reason."""
    if len(text) > MAX_BYTES:
        raise CodeInvalid(f"{file}:1: The file is larger than the {MAX_BYTES} characters that Sentinel reads.")
    try:
        tree = hcl2.parses_to_tree(text if text.endswith("\n") else text + "\n")
    except UnexpectedInput as error:
        raise CodeInvalid(f"{file}:{_line(error, text)}: This is not HCL: {_reason(error)}.") from error
    except (LarkError, RecursionError) as error:
        raise CodeInvalid(f"{file}:1: This is not HCL: {error}.") from error
    return _Reader(text, file).body(_trees(tree)[0])


def literal(tree: _Tree) -> "Json | NotLiteral":
    """The value of an expression that is written out (number, text, flag, null, list of those); else `NOT_LITERAL`."""
    inner = _trees(tree)
    match tree.data:
        case "expr_term" if len(inner) == 1 and len(tree.children) == 1:
            return literal(inner[0])
        case "int_lit":
            return int(str(tree.children[0]))
        case "float_lit":
            return float(str(tree.children[0]))
        case "literal_value":
            return {"true": True, "false": False, "null": None}[str(tree.children[0])]
        case "unary_op" if tree.children[0] == "-":
            value = literal(inner[-1])
            return -value if isinstance(value, int | float) and not isinstance(value, bool) else NOT_LITERAL
        case "string":
            return _text(tree)
        case "tuple":
            items = [literal(item) for item in inner if item.data != "new_line_or_comment"]
            plain = [item for item in items if not isinstance(item, NotLiteral)]
            return plain if len(plain) == len(items) else NOT_LITERAL
        case _:
            return NOT_LITERAL


def references(tree: _Tree) -> frozenset[tuple[str, str]]:
    """Everything the expression refers to, as (root, first name); the name is empty where there is none."""
    variables = {name for intro in tree.find_data("for_intro") for name in _names(intro)}
    found: set[tuple[str, str]] = set()
    _collect(tree, found)
    return frozenset((root, name) for root, name in found if root not in variables)


def _collect(tree: _Tree, found: set[tuple[str, str]]) -> None:
    if tree.data in {"get_attr_expr_term", "index_expr_term"} and (root := _root(_trees(tree)[0])):
        accessor = _trees(tree)[1]
        found.add((root, _accessed(accessor)))
        _collect(accessor, found)
        return
    if root := _root(tree):
        found.add((root, ""))
    for child in _trees(tree):
        bare = child.data == "object_elem_key" and _root(_trees(child)[0])
        if not bare:  # `{ name = … }`: a bare key is text
            _collect(child, found)


def _root(tree: _Tree) -> str:
    """The name that an `expr_term` consists of, empty where it is anything else."""
    inner = _trees(tree)
    plain = tree.data == "expr_term" and len(tree.children) == 1 and len(inner) == 1 and inner[0].data == "identifier"
    return str(inner[0].children[0]) if plain else ""


def _accessed(accessor: _Tree) -> str:
    if accessor.data == "get_attr":
        return str(_trees(accessor)[0].children[0])
    written = [value for tree in _trees(accessor) if isinstance(value := literal(tree), str)]
    return written[0] if written else ""


def _names(tree: _Tree) -> list[str]:
    return [str(child.children[0]) for child in _trees(tree) if child.data == "identifier"]


def _trees(tree: _Tree) -> list[_Tree]:
    return [child for child in tree.children if isinstance(child, Tree)]


def _text(tree: _Tree) -> str | NotLiteral:
    parts: list[str] = []
    for part in _trees(tree):
        token = part.children[0]
        if isinstance(token, Tree) or token.type not in {"STRING_CHARS", "ESCAPED_INTERPOLATION", "ESCAPED_DIRECTIVE"}:
            return NOT_LITERAL
        parts.append(str(token) if token.type == "STRING_CHARS" else str(token)[1:])
    return _ESCAPE.sub(_unescaped, "".join(parts))


def _unescaped(found: re.Match[str]) -> str:
    if digits := found[1] or found[2]:
        return chr(min(int(digits, 16), 0x10FFFF))
    return _PLAIN.get(found[3], found[0])


class _Reader:
    """Turns lark's tree of one file into bodies; knows the text that the positions refer to."""

    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._file = file

    def body(self, tree: _Tree) -> ContractBody:
        attributes: dict[str, ContractAttribute] = {}
        blocks: list[ContractBlock] = []
        end = -1
        for item in _trees(tree):
            if item.data == "new_line_or_comment":
                continue
            start = item.meta.start_pos
            if end >= 0 and "\n" not in self._text[end:start]:
                raise CodeInvalid(f"{self._source(item)}: Two definitions stand on one line; each needs its own.")
            end = start + len(self._text[start : item.meta.end_pos].rstrip())
            if item.data == "block":
                blocks.append(self._block(item))
                continue
            attribute = self._attribute(item)
            if attribute.name in attributes:
                first = attributes[attribute.name].source
                raise CodeInvalid(f"{attribute.source}: {attribute.name} is already set in {first}.")
            attributes[attribute.name] = attribute
        return ContractBody(attributes=attributes, blocks=tuple(blocks))

    def _attribute(self, tree: _Tree) -> ContractAttribute:
        name, expression = _trees(tree)[0], _trees(tree)[-1]
        # Positions of a binary expression over several lines run into the next line, and on into a comment that HCL ignores.
        text = self._text[expression.meta.start_pos : expression.meta.end_pos].rstrip()
        return ContractAttribute(name=str(name.children[0]), source=self._source(tree), text=text, tree=expression)

    def _block(self, tree: _Tree) -> ContractBlock:
        kind, *labels = (child for child in _trees(tree) if child.data not in {"body", "new_line_or_comment"})
        body = next(child for child in _trees(tree) if child.data == "body")
        return ContractBlock(
            kind=str(kind.children[0]),
            labels=tuple(self._label(label) for label in labels),
            source=self._source(tree),
            body=self.body(body),
        )

    def _label(self, tree: _Tree) -> str:
        text = _text(tree) if tree.data == "string" else str(tree.children[0])
        if isinstance(text, NotLiteral):
            raise CodeInvalid(f"{self._source(tree)}: A label must be written out, without ${{…}}.")
        return text

    def _source(self, tree: _Tree) -> str:
        return f"{self._file}:{tree.meta.line}"


def _line(error: UnexpectedInput, text: str) -> int:
    """The line of a syntax error; the last one where the file ends too early."""
    return error.line if error.line > 0 else text.count("\n") + 1


def _reason(error: UnexpectedInput) -> str:
    if isinstance(error, UnexpectedToken):
        if error.token.type == "$END":
            return "the file ends too early; a brace or a quote is not closed"
        near = str(error.token).strip().partition("\n")[0][:40]
        return f"{near!r} is not expected here"
    return "a character is not expected here"
