"""The entries of data files in JSON, YAML and CSV that instances are made of: each can go, or be written once more with other values.

A file may be a template that Terraform fills in: what it puts in stays as it is written.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import yaml

from gateway.core.model.json import Json
from gateway.terraform.lang import values
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import Unknown
from reconciler.rewrite.editors.csv_value import csv_field, csv_rows
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.rewrite.editors.splice import Splice
from reconciler.rewrite.editors.yaml_value import YamlText, removed_entry, removed_item, yaml_scalar
from reconciler.rewrite.trace.interpolations import NotPlain, without_interpolations

_Change = tuple[int, int, str]
"""Start and end in characters, and the new text."""
_LARGEST: Final = 65_536
"""Characters of a file whose entries are looked for: reading YAML takes long."""
_MOST: Final = 1_000
"""Entries of one file."""

Pairs = Sequence[tuple[Json, Json]]
"""Plain values, each with the one that takes its place."""


@dataclass(frozen=True, slots=True)
class DataEntry:
    """One entry of a map, item of a list, or row of a data file."""

    file: "DataFile"
    holder: Any
    """The map or list of YAML that has it; None for a row."""
    position: int
    key: str
    """Its key; empty for an item or a row."""
    texts: tuple[str, ...]
    """Its plain values, as text."""
    at: int
    """Where it begins, in bytes of the document."""

    def removed(self) -> Splice:
        """The file without it. Raises `CannotEdit`."""
        return self.file.splice(*self.file.without(self))

    def copied(self, key: str, pairs: Pairs) -> Splice:
        """One more like it behind its siblings, with another key and other values. Raises `CannotEdit`."""
        return self.file.splice(*self.file.with_copy(self, key, pairs))


class DataFile:
    """A data file, and its entries."""

    def __init__(self, document: Document, *, is_csv: bool) -> None:
        """Raises `CannotEdit` if it is not read with certainty."""
        self.document, self.is_csv = document, is_csv
        before, after = document.around
        try:
            self.text = document.source[len(before) : len(document.source) - len(after)].decode()
            # A document of YAML has all that JSON has; of a template only what is not put in has a meaning here.
            self.plain = without_interpolations(self.text) if any(document.around) else self.text
        except (UnicodeDecodeError, NotPlain):
            raise CannotEdit(f"{document.path} cannot be read as a text with plain interpolations.") from None
        if len(self.text) > _LARGEST:
            raise CannotEdit(f"{document.path} has more than {_LARGEST:,} characters.")

    def splice(self, start: int, end: int, new: str) -> Splice:
        """A change of the text as one of the document."""
        offset = len(self.document.around[0])
        return Splice(offset + len(self.text[:start].encode()), offset + len(self.text[:end].encode()), new)

    def entries(self) -> Iterator[DataEntry]:
        """Every entry of the file, outer ones first; none of a file that is no such document."""
        if self.is_csv:
            yield from self._rows()
            return
        try:
            top = yaml.compose(self.plain, Loader=yaml.SafeLoader)
        except (yaml.YAMLError, RecursionError, ValueError):
            return
        todo = [top] if top is not None else []
        made = 0
        while todo and made < _MOST:
            holder = todo.pop(0)
            if holder.id == "scalar":
                continue
            for position, item in enumerate(holder.value):
                key, held = item if holder.id == "mapping" else (None, item)
                todo.append(held)
                start = held.start_mark.index if key is None else key.start_mark.index
                name = "" if key is None else str(key.value)
                made += 1
                yield DataEntry(self, holder, position, name, tuple(_texts(held)), self.splice(start, start, "").start)

    def with_values(self, pairs: Pairs, kept: Collection[str]) -> str:
        """The text of the file with other values and keys, without its comments but for the lines in `kept`. Raises `CannotEdit`."""
        try:
            top = yaml.compose(self.plain, Loader=yaml.SafeLoader)
        except (yaml.YAMLError, RecursionError, ValueError) as error:
            raise CannotEdit(f"{self.document.path} is no document of YAML or JSON ({error}).") from None
        if top is None or self.is_csv:
            raise CannotEdit(f"{self.document.path} is no document of YAML or JSON.")
        scalars = list(_scalars(top))
        spans = list(_scalar_spans(top))
        changes = [change for each in scalars for change in _changes(each, pairs)]
        for found in _COMMENT_LINE.finditer(self.plain):
            at = max(found.start("mark"), found.start("after"))
            if found[0].strip() not in kept and not any(start <= at < end for start, end in spans):
                changes.append((found.start(), found.end(), ""))
        return _changed(self.text, 0, len(self.text), changes)

    def comment_lines(self) -> frozenset[str]:
        """The lines of the file that are comments, or look so."""
        return frozenset(line for each in self.text.splitlines() if (line := each.strip()).startswith("#"))

    def _rows(self) -> Iterator[DataEntry]:
        for position, fields in enumerate(csv_rows(self.text)[1 : _MOST + 1]):
            texts = tuple(_field(self.text[start:end]) for start, end in fields)
            yield DataEntry(self, None, position + 1, "", texts, self.splice(fields[0][0], 0, "").start)

    def without(self, entry: DataEntry) -> _Change:
        """The change that takes an entry out."""
        if self.is_csv:
            fields = csv_rows(self.text)[entry.position]
            end = self.text.find("\n", fields[-1][1])
            start = fields[0][0]
            if end < 0:
                return max(start - 1, 0), len(self.text), ""
            return start, end + 1, ""
        text = YamlText(self.text)
        removed = removed_entry if entry.holder.id == "mapping" else removed_item
        return removed(text, entry.holder, entry.position)

    def with_copy(self, entry: DataEntry, key: str, pairs: Pairs) -> _Change:
        """The change that writes an entry once more."""
        if self.is_csv:
            return self._with_row(entry, pairs)
        item = entry.holder.value[entry.position]
        last = entry.holder.value[-1]
        name, held = item if entry.holder.id == "mapping" else (None, item)
        last_held = last[1] if entry.holder.id == "mapping" else last
        first = (name or held).start_mark.index
        text = YamlText(self.text)
        changes = [*_changes(held, pairs), *self._comments(name, held)]
        if name is not None:
            changes.append((name.start_mark.index, name.end_mark.index, yaml_scalar(key, name.style)))
        if entry.holder.flow_style:
            end = held.end_mark.index
            begin = text.line_start(first)
            alone = not self.text[begin:first].strip()
            gap = f",\n{self.text[begin:first]}" if alone else ", "
            after = last_held.end_mark.index
            return after, after, gap + _changed(self.text, first, end, changes)
        begin, end = text.line_start(first), text.last_line_end(held)
        if self.text[begin:first].strip() not in ("", "-"):
            raise CannotEdit(f"The entry of {self.document.path} begins on the line of something else.")
        after = text.last_line_end(last_held)
        return after, after, "\n" + _changed(self.text, begin, end, changes)

    def _comments(self, key: Any, held: Any) -> Iterator[_Change]:
        """The changes that leave comments out: they are about the entry that has them."""
        start, end = (key or held).start_mark.index, YamlText(self.text).last_line_end(held)
        plain = [(one, two) for node in (key, held) if node is not None for one, two in _scalar_spans(node)]
        for found in _COMMENT.finditer(self.plain, start, end):
            if not any(one <= found.start() < two for one, two in plain):
                yield found.start(), found.end(), ""

    def _with_row(self, entry: DataEntry, pairs: Pairs) -> _Change:
        rows = csv_rows(self.text)
        fields = rows[entry.position]
        table = _table(pairs)
        changes = [
            (start, end, csv_field(new, self.text[start:end]))
            for start, end in fields
            if (new := table.get(_field(self.text[start:end]))) is not None
        ]
        row = _changed(self.text, fields[0][0], fields[-1][1], changes)
        end = rows[-1][-1][1]
        return end, end, f"\n{row}"


def _table(pairs: Pairs) -> Mapping[str, str]:
    """The new text of each old one; the first pair of an old text holds."""
    found: dict[str, str] = {}
    for old, new in pairs:
        try:
            found.setdefault(values.text(old), "" if new is None else values.text(new))
        except Unknown:
            continue
    return found


_COMMENT: Final = re.compile(r"(?:\n[ \t]*|[ \t]+)#[^\n]*")
_COMMENT_LINE: Final = re.compile(r"^[ \t]*(?P<mark>#)[^\n]*\n?|[ \t]+(?P<after>#)[^\n]*", re.MULTILINE)


def _scalar_spans(node: Any) -> Iterator[tuple[int, int]]:
    return ((each.start_mark.index, each.end_mark.index) for each in _scalars(node))


def _scalars(node: Any) -> Iterator[Any]:
    """The plain values in a node, and the keys of its maps."""
    if node.id == "scalar":
        yield node
    else:
        for item in node.value:
            for part in item if node.id == "mapping" else (item,):
                yield from _scalars(part)


def _texts(node: Any) -> Iterator[str]:
    """The plain values in a node."""
    if node.id == "scalar":
        yield str(node.value)
    else:
        for item in node.value:
            yield from _texts(item[1] if node.id == "mapping" else item)


def _changes(node: Any, pairs: Pairs) -> Iterator[_Change]:
    """The plain values in a node that others take the place of."""
    if node.id == "scalar":
        for old, new in pairs:
            if new is not None and node.value == _text_of(old) and not isinstance(old, bool):
                yield node.start_mark.index, node.end_mark.index, _as_value(new, node.style)
                return
    else:
        for item in node.value:
            yield from _changes(item[1] if node.id == "mapping" else item, pairs)


def _as_value(new: Json, style: str | None) -> str:
    # A number that is written as a text stays one.
    return yaml_scalar(json.dumps(new) if style in ('"', "'") and not isinstance(new, str) else new, style)


def _text_of(value: Json) -> str | None:
    try:
        return values.text(value)
    except Unknown:
        return None


def _changed(text: str, start: int, end: int, changes: Sequence[_Change]) -> str:
    """A part of the text after changes inside it."""
    written = text[start:end]
    for one, two, new in sorted(changes, reverse=True):
        written = written[: one - start] + new + written[two - start :]
    return written


def _field(written: str) -> str:
    return written[1:-1].replace('""', '"') if written.startswith('"') else written
