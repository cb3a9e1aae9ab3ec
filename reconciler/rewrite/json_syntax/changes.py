"""Changes of a JSON text in the style of its file: members and items are removed and added, values replaced. All other bytes stay."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from gateway.core.model.json import Json
from gateway.terraform.json_syntax.tree import JsonArray, JsonMember, JsonNode, JsonObject, JsonScalar
from reconciler.rewrite.editors.hcl_text import CannotEdit, to_hcl

_UNIT = "  "


@dataclass(frozen=True, slots=True)
class JsonStyle:
    """The habits of one file."""

    unit: str
    """One level of indentation; empty if the file is written on one line."""
    newline: str
    colon: str
    """The text between a key and its value, such as `: `."""
    comma: str
    """The text between values on one line, such as `, `."""
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


Holding = JsonObject | JsonArray
END = 1 << 30
"""Behind all members or items."""
_CHANGES_UNIT = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|.", re.DOTALL)


@dataclass(slots=True)
class JsonChanges:
    """The changes of one text. A value is identified by its start."""

    source: bytes
    style: JsonStyle
    texts: dict[int, Callable[[str], str]] = field(default_factory=dict)
    """The new text of a value by its start, as a function of the indent of the line that it begins on."""
    removed: dict[int, set[int]] = field(default_factory=dict)
    added: dict[int, list[tuple[int, str | None, Json]]] = field(default_factory=dict)
    """For each object or list: behind which of its members or items (`-1`: before the first) what is added, with its key."""

    def replace(self, node: JsonNode, value: Json) -> None:
        """Replace a value. Of a string that stays one only the part that differs is written."""
        self.texts[node.start] = lambda indent: self._replaced(node, self.style.text(value, indent))

    def remove(self, holder: Holding, index: int) -> None:
        """Remove a member or item."""
        self.removed.setdefault(holder.start, set()).add(index)

    def add(self, holder: Holding, key: str | None, value: Json, after: int = END) -> None:
        """Add a member or, without a key, an item."""
        self.added.setdefault(holder.start, []).append((after, key, value))

    def listed(self, node: JsonNode, more: Sequence[Json]) -> None:
        """Make a list of a value and more values behind it."""
        own, style = self._slice(node.start, node.end), self._style(node)

        def text(indent: str) -> str:
            return "[" + self.style.comma.join([own, *(style.text(each, indent) for each in more)]) + "]"

        self.texts[node.start] = text

    def is_empty_after(self, holder: Holding) -> bool:
        """Whether nothing is left in an object or list."""
        count = len(holder.members if isinstance(holder, JsonObject) else holder.items)
        return len(self.removed.get(holder.start, ())) == count and not self.added.get(holder.start)

    def result(self, root: JsonNode) -> bytes:
        """The text after the changes. Raises `CannotEdit` for a value that cannot be written."""
        return self.source[: root.start] + self._render(root).encode() + self.source[root.end :]

    def _render(self, node: JsonNode) -> str:
        if node.start in self.texts:
            return self.texts[node.start](self._indent(node.start))
        if isinstance(node, JsonScalar):
            return self._slice(node.start, node.end)
        children: tuple[JsonMember | JsonNode, ...] = node.members if isinstance(node, JsonObject) else node.items
        removed, added = self.removed.get(node.start, set()), self.added.get(node.start, [])
        if removed or added:
            return self._rebuilt(node, children, removed, added)
        pieces, position = [], node.start
        for child in children:
            value = child.value if isinstance(child, JsonMember) else child
            pieces += [self._slice(position, value.start), self._render(value)]
            position = value.end
        return "".join(pieces) + self._slice(position, node.end)

    def _rebuilt(
        self,
        node: Holding,
        children: Sequence[JsonMember | JsonNode],
        removed: set[int],
        added: Sequence[tuple[int, str | None, Json]],
    ) -> str:
        """An object or list with other members or items. Between those that stay neighbours everything is as it was."""
        kept = [index for index in range(len(children)) if index not in removed]
        brackets = ("{", "}") if isinstance(node, JsonObject) else ("[", "]")
        if not kept:
            indent = self._indent(node.start)
            rows = [self._new(key, value, indent + self.style.unit, self.style) for _, key, value in added]
            return self.style.between(brackets[0], rows, brackets[1], indent, short=self._is_short(node))
        gap = self._gap(node, children)
        indent = gap.rpartition("\n")[2] if "\n" in gap else self._indent(node.start)
        style = self._style(children[-1])
        text, before, waiting = self._slice(node.start, children[0].start), -1, sorted(added, key=lambda each: each[0])
        for index in kept:
            if before >= 0:
                text += self._slice(children[index - 1].end, children[index].start) if before == index - 1 else gap
            while waiting and waiting[0][0] < index:
                _, key, value = waiting.pop(0)
                text += self._new(key, value, indent, style) + gap
            text += self._child(children[index])
            before = index
        text += "".join(gap + self._new(key, value, indent, style) for _, key, value in waiting)
        return text + self._slice(children[-1].end, node.end)

    def _child(self, child: JsonMember | JsonNode) -> str:
        if isinstance(child, JsonMember):
            return self._slice(child.start, child.value.start) + self._render(child.value)
        return self._render(child)

    def _style(self, sibling: JsonMember | JsonNode) -> JsonStyle:
        """The style of a new member or item: on one line if the one before it is an object or list that is."""
        node = sibling.value if isinstance(sibling, JsonMember) else sibling
        on_one_line = not isinstance(node, JsonScalar) and "\n" not in self._slice(node.start, node.end)
        return replace(self.style, unit="") if on_one_line else self.style

    def _new(self, key: str | None, value: Json, indent: str, style: JsonStyle) -> str:
        written = style.text(value, indent)
        return written if key is None else self.style.text(key, "") + self.style.colon + written

    def _gap(self, node: Holding, children: Sequence[JsonMember | JsonNode]) -> str:
        """The text between two members or items."""
        if len(children) > 1:
            return self._slice(children[0].end, children[1].start)
        before = self._slice(node.start + 1, children[0].start)
        return f",{before}" if "\n" in before else self.style.comma

    def _is_short(self, node: Holding) -> bool:
        return isinstance(node, JsonArray) and bool(node.items) and b"\n" not in self.source[node.start : node.end]

    def _replaced(self, node: JsonNode, new: str) -> str:
        """The new text of a value; where both are strings, with the spelling of the parts that stay."""
        old = self._slice(node.start, node.end)
        if not (old.startswith('"') and new.startswith('"')):
            return new
        units, others = _CHANGES_UNIT.findall(old[1:-1]), _CHANGES_UNIT.findall(new[1:-1])
        meant, wanted = [_meaning(unit) for unit in units], [_meaning(unit) for unit in others]
        start = _same(meant, wanted)
        end = min(_same(meant[::-1], wanted[::-1]), len(units) - start, len(others) - start)
        return "".join(['"', *units[:start], *others[start : len(others) - end], *units[len(units) - end :], '"'])

    def _indent(self, offset: int) -> str:
        """The spaces at the start of the line that holds an offset."""
        line = self.source[self.source.rfind(b"\n", 0, offset) + 1 : offset].decode()
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _slice(self, start: int, end: int) -> str:
        return self.source[start:end].decode()


def _meaning(unit: str) -> str:
    """The character that a character or escape stands for."""
    return str(json.loads(f'"{unit}"'))


def _same(one: Sequence[str], other: Sequence[str]) -> int:
    """The number of items at the start that are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((number for number, (a, b) in pairs if a != b), min(len(one), len(other)))
