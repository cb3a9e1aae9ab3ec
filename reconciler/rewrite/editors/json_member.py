"""Changes one member of a JSON document that is written as text, in the style of the text around it."""

import json
from collections.abc import Sequence

from gateway.core.model.json import Json
from gateway.terraform.lang.quoting import plain_template, quoted_template
from gateway.terraform.lang.values import Unknown
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.rewrite.editors.splice import Splice, merge_splices
from reconciler.rewrite.trace.documents import NotJson, Span, spans
from reconciler.rewrite.trace.sites import DocumentSite
from reconciler.rewrite.value_parts import alike


def edit_member(site: DocumentSite, value: Json) -> Splice:
    """The member replaced, added, or (for null) removed; of a list only the items that differ. Raises `CannotEdit`."""
    source = site.document.source[site.start : site.end]
    if not site.quoted:
        changes = _changes(site, source, value)
        return merge_splices(
            site.document, [Splice(site.start + one, site.start + end, new) for one, end, new in changes]
        )
    try:
        text = plain_template(source.decode())
        plain = text.encode()
        for one, end, new in sorted(_changes(site, plain, value), reverse=True):
            plain = plain[:one] + new.encode() + plain[end:]
        return Splice(site.start, site.end, quoted_template(plain.decode()))
    except Unknown as error:
        raise CannotEdit(f"The text is not edited inside: {error}.") from None


def _changes(site: DocumentSite, source: bytes, value: Json) -> "list[_Change]":
    """The changes of the text of a document."""
    try:
        whole = spans(source)
    except NotJson:
        raise CannotEdit("The text is not one JSON document, so no member of it is edited.") from None
    text = _Text(source, is_template=not site.document.is_data)
    found = whole.at(site.steps)
    if found is None:
        return [_added(text, whole, site.steps, value)]
    if value is None:
        return [_removed(whole, site.steps)]
    if found.kind == "list" and isinstance(value, list) and isinstance(site.now, list):
        return _items(text, found, site.now, value)
    return [(found.start, found.end, text.written(value, text.indent(found.start), like=found))]


_SHORT = 60
"""Characters of a map that is written on one line beside others that are."""
_Change = tuple[int, int, str]


class _Text:
    """The text of a document, and how values are written in it."""

    def __init__(self, source: bytes, *, is_template: bool) -> None:
        self.source, self.is_template = source, is_template

    def indent(self, offset: int) -> str:
        """The spaces at the start of the line that holds an offset."""
        start = self.source.rfind(b"\n", 0, offset) + 1
        line = self.source[start:].split(b"\n", 1)[0].decode(errors="replace")
        return line[: len(line) - len(line.lstrip())]

    def is_inline(self, span: Span) -> bool:
        """Whether a value is written on one line."""
        return b"\n" not in self.source[span.start : span.end]

    def written(self, value: Json, indent: str, like: Span | None = None, *, inline: bool = False) -> str:
        """A value as JSON, in a template with what Terraform would take for an interpolation escaped."""
        flat = isinstance(value, list) and not any(isinstance(item, dict | list) for item in value)
        on_one_line = inline or (like is not None and like.items and self.is_inline(like)) or (flat and like is None)
        text = json.dumps(value, ensure_ascii=False, indent=None if on_one_line else 2)
        if not on_one_line:
            text = text.replace("\n", f"\n{indent}")
        elif isinstance(value, dict) and value:
            text = f"{{ {text[1:-1]} }}"
        return text.replace("${", "$${").replace("%{", "%%{") if self.is_template else text


def _items(text: _Text, found: Span, now: list[Json], wanted: list[Json]) -> list[_Change]:
    """The list with the wanted items: those that stay are not touched."""
    if len(now) != len(found.items):
        raise CannotEdit("A part of the list is put in by Terraform.")
    rest = list(wanted)
    removed: list[int] = []
    for index, item in enumerate(now):
        site = next((site for site, each in enumerate(rest) if alike(item, each)), None)
        if site is None:
            removed.append(index)
        else:
            del rest[site]
    kept = [index for index in range(len(now)) if index not in removed]
    if not kept:
        indent = text.indent(found.start)
        return [(found.start, found.end, text.written(wanted, indent, like=found))]
    changes = [_cut(found.items, index, removed) for index in removed]
    last = found.items[kept[-1]]
    if rest:
        changes.append((last.end, last.end, "".join(_next(text, found, each) for each in rest)))
    return changes


def _cut(items: Sequence[Span], index: int, removed: Sequence[int]) -> _Change:
    """One item with the comma that belongs to it."""
    if all(later in removed for later in range(index, len(items))):
        return items[index - 1].end, items[index].end, ""
    return items[index].start, items[index + 1].start, ""


def _next(text: _Text, holder: Span, value: Json) -> str:
    """A further item of a list, on a line of its own if the others are."""
    sibling = holder.items[-1]
    if text.is_inline(holder):
        return ", " + text.written(value, "", inline=True)
    starts_line = text.source[: sibling.start].rstrip(b" \t").endswith(b"\n")
    inline = text.is_inline(sibling)
    indent = text.indent(sibling.start)
    gap = f"\n{indent}" if starts_line else " "
    return f",{gap}" + text.written(value, indent, inline=inline)


def _added(text: _Text, whole: Span, steps: Sequence[str], value: Json) -> _Change:
    """A new last member of the object that should have it. Members above it that are missing too are made with it."""
    if value is None:
        raise CannotEdit("The member is not there.")
    for length in range(len(steps) - 1, -1, -1):
        holder = whole.at(steps[:length])
        if holder is not None:
            break
    if holder is None or holder.kind != "object":
        raise CannotEdit("The document has no object that could hold the member.")
    for step in reversed(steps[length + 1 :]):
        value = {step: value}
    key = json.dumps(steps[length], ensure_ascii=False)
    if not holder.items:
        return holder.start, holder.end, "{ " + key + ": " + text.written(value, "", inline=True) + " }"
    last_key = holder.keys[-1][1]
    if text.is_inline(holder):
        return holder.items[-1].end, holder.items[-1].end, f", {key}: {text.written(value, '', inline=True)}"
    indent = text.indent(last_key)
    new = text.written(value, indent, inline=text.is_inline(holder.items[-1]) and _is_short(value))
    return holder.items[-1].end, holder.items[-1].end, f",\n{indent}{key}: {new}"


def _is_short(value: Json) -> bool:
    return not isinstance(value, dict | list) or len(json.dumps(value)) <= _SHORT


def _removed(whole: Span, steps: Sequence[str]) -> _Change:
    """A member, or an item, with one comma."""
    holder, index = _holder(whole, steps)
    starts = [start for _, start in holder.keys] if holder.kind == "object" else [item.start for item in holder.items]
    if index + 1 < len(starts):
        return starts[index], starts[index + 1], ""
    if index:
        return holder.items[index - 1].end, holder.items[index].end, ""
    return holder.start + 1, holder.end - 1, ""


def _holder(whole: Span, steps: Sequence[str]) -> tuple[Span, int]:
    target = whole.at(steps)
    for length in range(len(steps) - 1, -1, -1):
        holder = whole.at(steps[:length])
        if holder is not None and any(item is target for item in holder.items):
            return holder, next(index for index, item in enumerate(holder.items) if item is target)
    raise CannotEdit("The member is the whole document.")
