"""Changes of a JSON text: members and items that are removed and added, and values that are replaced. All other bytes stay."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from gateway.core.model.json import Json
from gateway.terraform.json_syntax.tree import JsonArray, JsonMember, JsonNode, JsonObject, JsonScalar
from reconciler.rewrite.json_syntax.style import JsonStyle

Holding = JsonObject | JsonArray
END = 1 << 30
"""Behind all members or items."""
_UNIT = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|.", re.DOTALL)


@dataclass(slots=True)
class JsonChanges:
    """What changes in one text. Values are known by where they start."""

    source: bytes
    style: JsonStyle
    texts: dict[int, Callable[[str], str]] = field(default_factory=dict)
    """What takes the place of a value, by the indent of the line that it begins on."""
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
        """What stands between two members or items."""
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
        units, others = _UNIT.findall(old[1:-1]), _UNIT.findall(new[1:-1])
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
    """How many items at the start are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((number for number, (a, b) in pairs if a != b), min(len(one), len(other)))
