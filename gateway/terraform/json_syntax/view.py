"""JSON code as a `Document` of HCL that says the same, so that whatever reads HCL reads it too.

The HCL has one line for each line of meaning, and each of its lines knows the line of the JSON that it comes from.
"""

import functools
import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gateway.core.errors import CodeInvalid
from gateway.terraform.json_syntax.body import JsonAttribute, JsonBlock, JsonBody, read_body
from gateway.terraform.json_syntax.shapes import StringForm, learn
from gateway.terraform.json_syntax.tree import JsonArray, JsonNode, JsonObject, JsonScalar
from gateway.terraform.lang import expression as e
from gateway.terraform.lang.grammar import parse_expression
from gateway.terraform.lang.hcl import Document, parse
from gateway.terraform.lang.quoting import quoted_template, quoted_text
from gateway.terraform.lang.values import Unknown

SUFFIXES = (".tf.json", ".tfvars.json")
_REFERENCE = re.compile(r"[^\W\d][\w-]*(?:\.[^\W\d][\w-]*|\[\d{1,9}\])*")
_COMMENTS = ("#", "//", "/*", "\n", "\r")
_LINE = re.compile(r":(\d+):")


def learn_blocks(blocks: Mapping[tuple[str, str], Mapping[str, Any]]) -> None:
    """Read code from now on with these nested blocks, by kind and type: see `shapes.learn`."""
    learn(blocks)
    read_body.cache_clear()
    parse_json.cache_clear()


@functools.lru_cache(maxsize=8)
def parse_json(path: Path, source: bytes) -> Document:
    """The document of JSON code; messages name it by `path`, with the lines of the JSON. Raises `CodeInvalid`.

    The last documents are kept: an edit is written, checked and read again.
    """
    body = read_body(path, source)
    writer = _Writer(path, source)
    writer.body(body, "")
    text = "".join(f"{line}\n" for line in writer.lines)
    try:
        document = parse(path, text.encode())
    except CodeInvalid as error:
        raise CodeInvalid(
            _LINE.sub(lambda match: f":{_json_line(writer.rows, int(match[1]))}:", str(error), 1)
        ) from None
    return replace(document, written=source, rows=tuple(writer.rows))


def _json_line(rows: list[int], row: int) -> int:
    return rows[min(row, len(rows)) - 1] if rows else 1


@dataclass(slots=True)
class _Writer:
    """Writes the HCL line by line."""

    path: Path
    source: bytes
    lines: list[str] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    """For each line the line of the JSON."""
    breaks: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.breaks = [position for position, byte in enumerate(self.source) if byte == 10]  # noqa: PLR2004  a newline

    def body(self, body: JsonBody, indent: str) -> None:
        """Write what is inside a block."""
        for part in body.parts:
            if isinstance(part, JsonBlock):
                self._block(part, indent)
            else:
                self._attribute(part, indent)

    def _block(self, block: JsonBlock, indent: str) -> None:
        kind, *labels = block.header
        words = " ".join([kind, *map(quoted_text, labels)])
        holder, index = block.holders[-1]
        start = holder.members[index].start if isinstance(holder, JsonObject) else block.body.node.start
        self._line(start, f"{indent}{words} {{")
        self.body(block.body, indent + "  ")
        self._line(block.body.node.end - 1, f"{indent}}}")

    def _attribute(self, attribute: JsonAttribute, indent: str) -> None:
        self._value(attribute.value, attribute.form, indent, (f"{indent}{attribute.name} = ", ""), attribute.start)

    def _value(self, node: JsonNode, form: StringForm, indent: str, around: tuple[str, str], start: int) -> None:
        """Write a value between two texts, the first of which begins its first line."""
        before, after = around
        inner = indent + "  "
        match node:
            case JsonObject(members=members) if members:
                self._line(start, before + "{")
                keys: set[str] = set()
                for member in members:
                    if member.key in keys:
                        raise self._wrong(member.start, f"The key {member.key!r} comes twice in one object.")
                    keys.add(member.key)
                    key = self._template(member.key, form, member.start)
                    self._value(member.value, form, inner, (f"{inner}{key} = ", ""), member.start)
                self._line(node.end - 1, f"{indent}}}{after}")
            case JsonArray(items=items) if items:
                self._line(start, before + "[")
                for item in items:
                    self._value(item, form, inner, (inner, ","), item.start)
                self._line(node.end - 1, f"{indent}]{after}")
            case JsonScalar():
                self._line(start, before + self._scalar(node, form) + after)
            case _:
                self._line(start, before + ("{}" if isinstance(node, JsonObject) else "[]") + after)

    def _scalar(self, node: JsonScalar, form: StringForm) -> str:
        if node.number:
            return node.number
        if not isinstance(node.value, str):
            return "null" if node.value is None else str(node.value).lower()
        if form is StringForm.CODE and _is_code(node.value):
            return node.value
        return self._template(node.value, form, node.start)

    def _template(self, text: str, form: StringForm, start: int) -> str:
        if form is not StringForm.TEMPLATE:
            return quoted_text(text)
        try:
            return quoted_template(text)
        except Unknown as error:
            raise self._wrong(start, f"This text cannot be read: {error}.") from None

    def _line(self, offset: int, text: str) -> None:
        """Add a line that stands for the JSON at an offset. An interpolation may have lines of its own."""
        added = text.split("\n")
        self.lines += added
        self.rows += [bisect_right(self.breaks, offset - 1) + 1] * len(added)

    def _wrong(self, offset: int, what: str) -> CodeInvalid:
        line = bisect_right(self.breaks, offset - 1) + 1
        return CodeInvalid(f"{self.path}:{line}: {what} The file was not read.")


def _is_code(text: str) -> bool:
    """Whether a text is one expression on one line. Anything else stays a text, which then means nothing."""
    if _REFERENCE.fullmatch(text):
        return True
    return not any(mark in text for mark in _COMMENTS) and not isinstance(parse_expression(text), e.Unsupported)
