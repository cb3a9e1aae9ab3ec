"""How a JSON file is written: what its new parts look like."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gateway.core.model.json import Json
from gateway.terraform.json_syntax.tree import JsonArray, JsonNode, JsonObject
from reconciler.rewrite.editors.hcl_text import CannotEdit, to_hcl

_UNIT = "  "


@dataclass(frozen=True, slots=True)
class JsonStyle:
    """The habits of one file."""

    unit: str
    """One level of indentation; empty if the file is written on one line."""
    newline: str
    colon: str
    """What stands between a key and its value, such as `: `."""
    comma: str
    """What stands between values on one line, such as `, `."""
    short_lists: bool
    """Whether lists of plain values stand on one line."""

    def text(self, value: Json, indent: str) -> str:
        """A value; `indent` is that of the line it begins on. Raises `CannotEdit`."""
        if isinstance(value, Mapping):
            rows = [f"{_string(name)}{self.colon}{self.text(item, indent + self.unit)}" for name, item in value.items()]
            return self.between("{", rows, "}", indent, short=False)
        if isinstance(value, Sequence) and not isinstance(value, str):
            plain = not any(isinstance(item, Mapping | list) for item in value)
            rows = [self.text(item, indent + self.unit) for item in value]
            return self.between("[", rows, "]", indent, short=plain and self.short_lists)
        return _string(value) if isinstance(value, str) else to_hcl(value)

    def between(self, opening: str, rows: Sequence[str], closing: str, indent: str, *, short: bool) -> str:
        """Rows between brackets, each on its own line unless the file or `short` says otherwise."""
        if not rows:
            return opening + closing
        if short or not self.unit:
            return opening + self.comma.join(rows) + closing
        inner = self.newline + indent + self.unit
        return opening + inner + f",{inner}".join(rows) + self.newline + indent + closing


def style_of(source: bytes, root: JsonNode) -> JsonStyle:
    """The style of a file."""
    first = root.members[0] if isinstance(root, JsonObject) and root.members else None
    before = "" if first is None else source[root.start + 1 : first.start].decode()
    unit = before.rpartition("\n")[2] if "\n" in before else ""
    lists = [node for node in _nodes(root) if isinstance(node, JsonArray) and node.items and _is_plain(node)]
    gaps = [source[one.end : two.start].decode() for one, two in _neighbours(root)]
    on_one_line = next((gap for gap in gaps if "\n" not in gap), None)
    return JsonStyle(
        unit=(unit or _UNIT) if "\n" in before or first is None else "",
        newline="\r\n" if b"\r\n" in source else "\n",
        colon=": " if first is None else _colon(source, root),
        comma=on_one_line if on_one_line is not None else ", " if "\n" in before or first is None else ",",
        short_lists=not lists or any(b"\n" not in source[node.start : node.end] for node in lists),
    )


def _string(text: str) -> str:
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise CannotEdit("Terraform cannot hold this text unchanged (it has half of a character).")
    return json.dumps(text, ensure_ascii=False)


def _colon(source: bytes, root: JsonNode) -> str:
    for node in _nodes(root):
        for member in node.members if isinstance(node, JsonObject) else ():
            between = source[member.start : member.value.start].decode()
            return between[between.rindex('"') + 1 :]
    return ": "


def _is_plain(node: JsonArray) -> bool:
    return not any(isinstance(item, JsonObject | JsonArray) for item in node.items)


def _neighbours(root: JsonNode) -> Iterator[tuple[JsonNode, JsonNode]]:
    for node in _nodes(root):
        if isinstance(node, JsonArray):
            yield from pairwise(node.items)


def _nodes(node: JsonNode) -> Iterator[JsonNode]:
    yield node
    inside = node.items if isinstance(node, JsonArray) else ()
    inside = tuple(member.value for member in node.members) if isinstance(node, JsonObject) else inside
    for each in inside:
        yield from _nodes(each)
