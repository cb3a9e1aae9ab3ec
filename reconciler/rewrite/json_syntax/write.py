"""Writes into a JSON file what an edit of its HCL view changed: the members and items that differ, and no other byte."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from pathlib import Path

from gateway.core.model.json import Json
from gateway.terraform.json_syntax.body import JsonBlock, JsonBody, read_body
from gateway.terraform.json_syntax.tree import JsonArray, JsonNode, JsonObject
from gateway.terraform.json_syntax.view import parse_json
from gateway.terraform.lang.hcl import Document, file_bytes, parse
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.rewrite.json_syntax.changes import Holding, JsonChanges, style_of
from reconciler.rewrite.json_syntax.values import DeclaredBody, Header, declared_body


def write_as_json(document: Document, source: bytes) -> bytes:
    """The JSON file of a document after its HCL became `source`.

    Raises `CannotEdit` if JSON syntax cannot say it, and `CodeInvalid` if the HCL no longer parses.
    """
    path, before = document.path, file_bytes(document)
    body = read_body(path, before)
    edited = parse(path, source)
    only = _differing(document, edited)
    old = declared_body(document, document.root, body.shape, only)
    new = declared_body(edited, edited.root, body.shape, only)
    changes = JsonChanges(before, style_of(before, body.node))
    _Difference(changes, body.node).body(body, old, new)
    result = changes.result(body.node)
    _check(path, result, body, edited)
    return result


def _differing(one: Document, other: Document) -> frozenset[Header]:
    """The headers of the blocks at the top of two documents whose text is not the same: what differs is there, or in attributes."""
    texts: list[dict[Header, list[bytes]]] = [{}, {}]
    for document, found in zip((one, other), texts, strict=True):
        for block in document.blocks(document.root):
            text = document.source[block.start_byte : block.end_byte]
            found.setdefault(document.header(block), []).append(text)
    old, new = texts
    return frozenset(header for header in old.keys() | new.keys() if old.get(header) != new.get(header))


def _check(path: Path, result: bytes, body: JsonBody, wanted: Document) -> None:
    """Raise `CannotEdit` unless a JSON text declares what the HCL does."""
    after = parse_json(path, result)
    only = _differing(after, wanted)
    one, other = (declared_body(each, each.root, body.shape, only) for each in (after, wanted))
    if one.key != other.key:
        raise CannotEdit(f"{path} is code in JSON syntax, which cannot say this edit; write it there by hand.")


@dataclass(frozen=True, slots=True)
class _Difference:
    """Collects the changes from one declared body to another."""

    changes: JsonChanges
    root: JsonObject

    def body(self, body: JsonBody, old: DeclaredBody, new: DeclaredBody) -> None:
        """Collect the changes of a body; `old` is what its JSON declares."""
        own = body.attributes
        for name in old.attributes.keys() - new.attributes.keys():
            self.changes.remove(body.node, own[name].index)
        for name, value in new.attributes.items():
            if name not in old.attributes:
                self.changes.add(body.node, name, value)
            else:
                self._value(own[name].value, old.attributes[name], value)
        blocks: dict[Header, list[JsonBlock]] = {}
        for block in body.blocks:
            blocks.setdefault(block.header, []).append(block)
        # What is new comes first, so that what holds it is not removed as empty.
        for header in {**new.blocks, **old.blocks}:
            self._blocks(body, header, blocks.get(header, []), (old.blocks.get(header, []), new.blocks.get(header, [])))

    # ------------------------------------------------------------------------------------------ values

    def _value(self, node: JsonNode, old: Json, new: Json) -> None:
        if _same(old, new):
            return
        if isinstance(node, JsonObject) and isinstance(old, Mapping) and isinstance(new, Mapping):
            self._object(node, old, new)
        elif isinstance(node, JsonArray) and isinstance(old, list) and isinstance(new, list):
            self._list(node, old, new)
        else:
            self.changes.replace(node, new)

    def _object(self, node: JsonObject, old: Mapping[str, Json], new: Mapping[str, Json]) -> None:
        for index, (member, (name, value)) in enumerate(zip(node.members, old.items(), strict=True)):
            if name not in new:
                self.changes.remove(node, index)
            else:
                self._value(member.value, value, new[name])
        for name, value in new.items():
            if name not in old:
                self.changes.add(node, name, value)

    def _list(self, node: JsonArray, old: list[Json], new: list[Json]) -> None:
        for (start, end), (first, last) in _runs([_key(each) for each in old], [_key(each) for each in new]):
            for index, wanted in zip_longest(range(start, end), range(first, last)):
                if wanted is None:
                    self.changes.remove(node, index)
                elif index is None:
                    self.changes.add(node, None, new[wanted], end - 1)
                else:
                    self._value(node.items[index], old[index], new[wanted])

    # ------------------------------------------------------------------------------------------ blocks

    def _blocks(
        self, body: JsonBody, header: Header, blocks: list[JsonBlock], versions: tuple[list[DeclaredBody], ...]
    ) -> None:
        """Collect the changes of the nested blocks with one header."""
        old, new = versions
        for (start, end), (first, last) in _runs([each.key for each in old], [each.key for each in new]):
            more: list[Json] = []
            for index, wanted in zip_longest(range(start, end), range(first, last)):
                if wanted is None:
                    self._remove(blocks[index])
                elif index is None:
                    more.append(_json_of(new[wanted]))
                else:
                    self.body(blocks[index].body, old[index], new[wanted])
            if more:
                self._add(body, header, blocks, end - 1, more)

    def _remove(self, block: JsonBlock) -> None:
        """Remove a block, and the objects and lists around it that hold nothing else."""
        for holder, index in reversed(block.holders):
            self.changes.remove(holder, index)
            if not self.changes.is_empty_after(holder) or holder is self.root:
                break

    def _add(self, body: JsonBody, header: Header, blocks: list[JsonBlock], after: int, more: list[Json]) -> None:
        """Add blocks behind the one with the number `after` of those that have the same header."""
        if not blocks:
            self._first(body, header, more)
            return
        holder, index = blocks[max(after, 0)].holders[-1]
        if isinstance(holder, JsonArray):
            for value in more:
                self.changes.add(holder, None, value, index if after >= 0 else index - 1)
        elif after >= 0:
            self.changes.listed(holder.members[index].value, more)
        else:
            raise CannotEdit("A block before the only one of its kind is not added in JSON syntax.")

    def _first(self, body: JsonBody, header: Header, blocks: list[Json]) -> None:
        """Add the first blocks with a header, below the members that have the beginning of the header already."""
        holder: Holding = body.node
        steps = list(header)
        while steps:
            below = _below(holder, steps[0])
            if below is None:
                break
            holder = below
            steps.pop(0)
        value: Json = blocks[0] if len(blocks) == 1 else list(blocks)
        if isinstance(holder, JsonArray):
            steps = ["", *steps]
        for step in reversed(steps[1:]):
            value = {step: value}
        self.changes.add(holder, None if isinstance(holder, JsonArray) else steps[0], value)


def _below(holder: Holding, step: str) -> Holding | None:
    """The last object or list that stands under a name in an object, also in one of a list."""
    if isinstance(holder, JsonArray):
        found = [each for item in holder.items if isinstance(item, JsonObject) if (each := _below(item, step))]
        return found[-1] if found else None
    found = [m.value for m in holder.members if m.key == step and isinstance(m.value, JsonObject | JsonArray)]
    return found[-1] if found else None


def _runs(old: list[str], new: list[str]) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """The runs in which two lists differ."""
    codes = SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes()
    return [((start, end), (first, last)) for tag, start, end, first, last in codes if tag != "equal"]


def _key(value: Json) -> str:
    return json.dumps(value, sort_keys=True)


def _same(one: Json, other: Json) -> bool:
    return _key(one) == _key(other)


def _json_of(body: DeclaredBody) -> Json:
    """A body as a JSON value."""
    found: dict[str, Json] = dict(body.attributes)
    for header, bodies in body.blocks.items():
        rows = [_json_of(each) for each in bodies]
        inner = found
        for step in header[:-1]:
            nested = inner.setdefault(step, {})
            inner = nested if isinstance(nested, dict) else inner
        inner[header[-1]] = rows[0] if len(rows) == 1 else rows
    return found
