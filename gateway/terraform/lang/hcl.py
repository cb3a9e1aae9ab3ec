"""Parses Terraform source to a `Document` of blocks and attributes with byte spans, or one clear error.

This module works around three limits of tree-sitter-hcl: it does not parse exponents (`1e6`); it treats newlines as
spaces, so it accepts two attributes on one line, and duplicates; its nodes are only valid while their tree is, so a
document is immutable.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import tree_sitter_hcl
from tree_sitter import Language, Node, Parser, Tree

from gateway.core.errors import CodeInvalid
from gateway.terraform.lang.expression import Expression

_LANGUAGE = Language(tree_sitter_hcl.language())
_EXPONENT = re.compile(rb"(?<![\w.])\d+(?:\.\d+)?[eE][+-]?\d+(?!\w)")
_SIGNS_BEFORE_ESCAPE = re.compile(rb"(?<!\$)\$+(?=\$\$\{)|(?<!%)%+(?=%%\{)")
_DEEPEST = 100
"""Blocks around a block."""
_PERHAPS_EXPONENT = re.compile(rb"\d[eE][+-]?\d")
"""Found in a quarter of the time; most files have none."""
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Document:
    """One parsed file. `source` is the file's exact bytes (see `around`, `written`); nodes are tree-sitter's and belong to this document only."""

    path: Path
    source: bytes
    tree: Tree
    expressions: dict[int, Expression] = field(default_factory=dict)
    """Parsed expressions by node id: a cache, filled by `gateway.terraform.lang.grammar`."""
    headers: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """Headers of blocks by node id: a cache."""
    members: dict[int, "Members"] = field(default_factory=dict)
    """Attributes and blocks by the node id of what holds them: a cache."""
    around: tuple[bytes, bytes] = (b"", b"")
    """What stands in `source` before and after the bytes of the file: a template is parsed as a heredoc."""
    written: bytes | None = None
    """The file's bytes if it is code in JSON syntax; `source` is then HCL that says the same."""
    is_data: bool = False
    """Whether the file is no code but data that the code reads; it has no nodes."""
    rows: tuple[int, ...] = ()
    """For each line of `source` the line of the JSON that it comes from."""

    @property
    def root(self) -> Node:
        """The node with the top-level attributes and blocks."""
        top = self.tree.root_node
        return next((child for child in top.children if child.type == "body"), top)

    def text(self, node: Node) -> str:
        """The source text of a node."""
        return self.source[node.start_byte : node.end_byte].decode()

    def line(self, node: Node | int) -> int:
        """The line (from 1) of a node, or of a byte offset."""
        if isinstance(node, int) or any(self.around):
            offset = node if isinstance(node, int) else node.start_byte
            row = self.source.count(b"\n", len(self.around[0]), max(offset, len(self.around[0])))
        else:
            row = node.start_point.row  # without counting the lines of a large file
        return self.rows[min(row, len(self.rows) - 1)] if self.rows else row + 1

    def at(self, node: Node | int) -> str:
        """`file:line` of a node, or of a byte offset."""
        return f"{self.path}:{self.line(node)}"

    def body(self, container: Node) -> Node | None:
        """The body of a block, None if it is empty; a body itself is returned as it is."""
        if container.type in ("body", "config_file"):
            return container
        return next((child for child in container.children if child.type == "body"), None)

    def header(self, block: Node) -> tuple[str, ...]:
        """Type and labels of a block: `("resource", "aws_sqs_queue", "jobs")`."""
        found = self.headers.get(block.id)
        if found is None:
            found = self.headers[block.id] = self._header(block)
        return found

    def _header(self, block: Node) -> tuple[str, ...]:
        words: list[str] = []
        for child in block.children:
            if child.type == "block_start":
                break
            if child.type == "identifier":
                words.append(self.text(child))
            elif child.type == "string_lit":
                words.append(self.text(child)[1:-1])
        return tuple(words)

    def blocks(self, container: Node, *header: str) -> tuple[Node, ...]:
        """The blocks directly inside a block or body whose header begins with `header`."""
        blocks = self._members(container).blocks
        return tuple(block for block in blocks if self.header(block)[: len(header)] == header) if header else blocks

    def attributes(self, container: Node) -> Mapping[str, Node]:
        """The attributes directly inside a block or body, by name, in order of the file."""
        return self._members(container).attributes

    def _members(self, container: Node) -> "Members":
        found = self.members.get(container.id)
        if found is None:
            body = self.body(container)
            children = () if body is None else tuple(body.children)
            found = self.members[container.id] = Members(
                attributes={self.text(child.children[0]): child for child in children if child.type == "attribute"},
                blocks=tuple(child for child in children if child.type == "block"),
            )
        return found

    def expression(self, attribute: Node) -> Node:
        """The node of the expression on the right of an attribute's `=`."""
        return next(child for child in attribute.children if child.type == "expression")


@dataclass(frozen=True, slots=True)
class Members:
    """What stands directly inside a block or body."""

    attributes: Mapping[str, Node]
    blocks: tuple[Node, ...]


def parse(path: Path, source: bytes) -> Document:
    """The document of `source`; messages name it by `path`. Raises `CodeInvalid` for source that Terraform would not parse."""
    try:
        source.decode()
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        raise CodeInvalid(f"{path}:{line}: The file is not UTF-8 text.") from None
    tree = Parser(_LANGUAGE).parse(_parsable(source))
    if tree.root_node.has_error:
        raise CodeInvalid(
            f"{path}:{_first_error(source, tree.root_node)}: This is not valid HCL; the file was not read."
        )
    document = Document(path, source, tree)
    try:
        _check_bodies(document, tree.root_node)
    except RecursionError:
        raise CodeInvalid(
            f"{path}:1: Its blocks are nested more than {_DEEPEST} levels deep; the file was not read."
        ) from None
    return document


def parse_template(path: Path, content: bytes) -> Document:
    """The document of a template file: one attribute whose value is a heredoc with the file's text. Raises `CodeInvalid`."""
    if b"\r" in content or content.startswith(_BOM):
        raise CodeInvalid(f"{path}: The template has carriage returns or a byte order mark; it was not read.")
    mark = "TEMPLATE"
    while mark.encode() in content:
        mark += "_"
    ending = "" if not content or content.endswith(b"\n") else "\n"
    around = f"template = <<{mark}\n".encode(), f"{ending}{mark}\n".encode()
    document = parse(path, around[0] + content + around[1])
    if list(document.attributes(document.root)) != ["template"] or document.root.named_child_count != 1:
        raise CodeInvalid(f"{path}: The template cannot be read as one text.")
    return replace(document, around=around)


def data_document(path: Path, content: bytes) -> Document:
    """The document of a data file, whatever its format."""
    return Document(path, content, Parser(_LANGUAGE).parse(b""), is_data=True)


def file_bytes(document: Document, source: bytes | None = None) -> bytes:
    """The bytes of the file of a document, as they are or (not of JSON code) with `source` in place of its own."""
    if source is None and document.written is not None:
        return document.written
    before, after = document.around
    source = document.source if source is None else source
    return source[len(before) : len(source) - len(after)]


def _parsable(source: bytes) -> bytes:
    """The source with spaces in place of a byte order mark, digits in place of numbers with exponents, and letters in place of signs before
    an escaped `${` or `%{`, which the grammar would take in pairs; offsets stay the same.
    """
    if source.startswith(_BOM):
        source = b"   " + source[3:]
    source = _SIGNS_BEFORE_ESCAPE.sub(lambda match: b"_" * len(match.group()), source)
    if not _PERHAPS_EXPONENT.search(source):
        return source
    return _EXPONENT.sub(lambda match: b"0" * len(match.group()), source)


def _first_error(source: bytes, node: Node) -> int:
    """The line (from 1) of the first syntax error; for a missing token, the line of the text before it."""
    while True:
        inner = next((child for child in node.children if child.has_error or child.is_missing), None)
        if inner is None or node.is_error:
            before = source[: node.start_byte].rstrip() if node.is_missing else source[: node.start_byte]
            return before.count(b"\n") + 1
        node = inner


def _bodies(node: Node, depth: int = 0) -> Iterator[Node]:
    """Every body inside. Raises RecursionError for blocks in more than `_DEEPEST` others."""
    if depth > _DEEPEST:
        raise RecursionError
    for child in node.children:
        if child.type in ("body", "block"):
            if child.type == "body":
                yield child
            yield from _bodies(child, depth + (child.type == "block"))


def _check_bodies(document: Document, top: Node) -> None:
    """Refuse two things the grammar accepts: an attribute set twice, and two definitions on one line."""
    for body in _bodies(top):
        seen: set[str] = set()
        row = -1
        for child in body.children:
            if child.type not in ("attribute", "block"):
                continue
            if child.start_point.row == row:
                raise CodeInvalid(f"{document.at(child)}: Each attribute and block must stand on a line of its own.")
            row = child.end_point.row
            if child.type == "attribute":
                name = document.text(child.children[0])
                if name in seen:
                    raise CodeInvalid(f"{document.at(child)}: The attribute {name} is set twice in one block.")
                seen.add(name)
