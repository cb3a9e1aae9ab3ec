"""Changes one value of a data file in YAML, in the style of the text around it, and reads the file again to see that nothing else changed."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from gateway.core.model.equality import equal
from gateway.core.model.json import Json
from gateway.terraform.lang import functions, values
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import Unknown
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.rewrite.editors.splice import Splice, common_start
from reconciler.rewrite.trace.interpolations import NotPlain, without_interpolations
from reconciler.rewrite.trace.sites import YamlSite

_Change = tuple[int, int, str]
"""Start and end in characters, and the new text."""


def edit_yaml(site: YamlSite, value: Json) -> Splice:
    """The value replaced, added, or (for null) removed; of a map only the entries, and of a list of texts and numbers only the items that differ.

    Raises `CannotEdit`.
    """
    offset, source, plain = _read(site.document)
    try:
        before = _decoded(plain)
        written = source
        for steps, part in _differences(_held(before, site.steps), value, tuple(site.steps)):
            written = _edited(site.document, written, steps, part)
        after = _decoded(_plain(site.document, written))
    except (yaml.YAMLError, RecursionError, Unknown, NotPlain) as error:
        raise CannotEdit(f"{site.document.path} is not edited: it cannot be read with certainty ({error}).") from None
    if not equal(after, _with(before, site.steps, value)):
        raise CannotEdit(
            f"In {site.document.path} the edit would change another value too, or not give the wanted one."
        )
    old, new = source.encode(), written.encode()
    start = common_start(old, new)
    same = common_start(old[start:][::-1], new[start:][::-1])
    return Splice(offset + start, offset + len(old) - same, new[start : len(new) - same].decode())


def _edited(document: Document, source: str, steps: Sequence[str], value: Json) -> str:
    """The text of the file with one more value. Raises `CannotEdit`, `yaml.YAMLError`, `Unknown`, `NotPlain`."""
    plain = _plain(document, source)
    top, text = yaml.compose(plain, Loader=yaml.SafeLoader), YamlText(source)
    more = _more_items(_decoded(plain), steps, value)
    start, end, new = _further(text, _node(top, steps), more) if more else _change(text, top, steps, value)
    if any(document.around) and _PUT_IN.search(new) and not _PUT_IN.search(source[start:end]):
        raise CannotEdit(f"{document.path} is a template, in which the value would be an interpolation.")
    return source[:start] + new + source[end:]


def _differences(now: Json, wanted: Json, steps: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Json]]:
    """The entries of a map that differ, each with its steps; the value itself if it is no map, or one that is not there yet."""
    if not isinstance(now, dict) or not isinstance(wanted, dict) or not now or not wanted:
        yield steps, wanted
        return
    for key in [each for each in now if each not in wanted]:
        yield (*steps, key), None
    for key, value in wanted.items():
        if key not in now:
            yield (*steps, key), value
        elif not equal(now[key], value):
            yield from _differences(now[key], value, (*steps, key))


def _held(document: Json, steps: Sequence[str]) -> Json:
    """What a document has at the steps of a path; None if nothing."""
    if not steps:
        return document
    if isinstance(document, list):
        return _held(document[_index(steps[0], len(document))], steps[1:])
    held = document if isinstance(document, dict) else {}
    key = next((key for length in range(len(steps), 0, -1) if (key := ".".join(steps[:length])) in held), None)
    return None if key is None else _held(held[key], steps[key.count(".") + 1 :])


_PUT_IN = re.compile(r"[$%]\{")


def yaml_span(document: Document, steps: Sequence[str]) -> tuple[int, int] | None:
    """Where the value at the steps of a path stands, in bytes of the document; None if it is not there. Raises `CannotEdit`."""
    offset, source, plain = _read(document)
    try:
        node = _node(yaml.compose(plain, Loader=yaml.SafeLoader), steps)
    except (yaml.YAMLError, RecursionError) as error:
        raise CannotEdit(f"{document.path} cannot be read as YAML with certainty ({error}).") from None
    if node is None:
        return None
    start, end = node.start_mark.index, node.end_mark.index
    return offset + len(source[:start].encode()), offset + len(source[:end].encode())


def _node(node: Any, steps: Sequence[str]) -> Any:
    if not steps or node is None:
        return node
    if node.id == "sequence" and steps[0].isdecimal() and int(steps[0]) < len(node.value):
        return _node(node.value[int(steps[0])], steps[1:])
    if node.id == "mapping":
        for length in range(len(steps), 0, -1):
            for key, held in node.value:
                if key.value == ".".join(steps[:length]):
                    return _node(held, steps[length:])
    return None


def _read(document: Document) -> tuple[int, str, str]:
    """Where the text of the file begins in the document, the text, and the text with letters in place of what Terraform puts in."""
    offset = len(document.around[0])
    source = document.source[offset : len(document.source) - len(document.around[1])].decode()
    try:
        return offset, source, _plain(document, source)
    except NotPlain:
        raise CannotEdit(f"{document.path} has directives, so what is left out of it is not known.") from None


def _plain(document: Document, source: str) -> str:
    return without_interpolations(source) if any(document.around) else source


def _decoded(source: str) -> Json:
    return values.to_json(functions.call("yamldecode", [source]))


def _with(document: Json, steps: Sequence[str], value: Json) -> Json:
    """The document with a value at the steps of a path; null takes an entry out."""
    if not steps:
        return value
    if isinstance(document, list):
        index = _index(steps[0], len(document))
        return [_with(item, steps[1:], value) if at == index else item for at, item in enumerate(document)]
    held = document if isinstance(document, dict) else {}
    key = next((key for length in range(len(steps), 0, -1) if (key := ".".join(steps[:length])) in held), steps[0])
    rest = steps[key.count(".") + 1 :]
    if value is None and not rest:
        return {name: item for name, item in held.items() if name != key}
    return {**held, key: _with(held.get(key), rest, value)}


def _more_items(document: Json, steps: Sequence[str], value: Json) -> list[Json]:
    """The maps or lists that a list has behind its present items; none if the items change too, or are texts and numbers."""
    document = _held(document, steps)
    if not isinstance(document, list) or not isinstance(value, list) or not document:
        return []
    more = value[len(document) :]
    return (
        more if equal(value[: len(document)], document) and any(isinstance(each, dict | list) for each in more) else []
    )


def _index(step: str, length: int) -> int:
    if not step.isdecimal() or int(step) >= length:
        raise CannotEdit("The list in the file has no such item.")
    return int(step)


_TIGHT = re.compile(r"\{[^\s}]")


class YamlText:
    """The text of the file, and where its lines begin and end."""

    def __init__(self, source: str) -> None:
        self.source = source

    def line_start(self, at: int) -> int:
        """The beginning of the line of an offset."""
        return self.source.rfind("\n", 0, at) + 1

    def line_end(self, at: int) -> int:
        """The end of the line of an offset, without its line break."""
        end = self.source.find("\n", at)
        return len(self.source) if end < 0 else end

    def flow(self, value: Json) -> str:
        """A value on one line, maps with spaces in their braces unless the file writes them without."""
        if isinstance(value, dict):
            inside = ", ".join(f"{yaml_scalar(name)}: {self.flow(item)}" for name, item in value.items())
            gap = " " if inside and ("{ " in self.source or not _TIGHT.search(self.source)) else ""
            return f"{{{gap}{inside}{gap}}}"
        if isinstance(value, list):
            return f"[{', '.join(map(self.flow, value))}]"
        return yaml_scalar(value)

    def last_line_end(self, node: Any) -> int:
        """The end of the last line of a node: where a node of several lines ends, comments and empty lines may have been passed."""
        inside = self.source[node.start_mark.index : node.end_mark.index].rstrip()
        while "\n" in inside and inside[inside.rindex("\n") :].lstrip().startswith("#"):
            inside = inside[: inside.rindex("\n")].rstrip()
        return self.line_end(node.start_mark.index + len(inside))


def _change(text: YamlText, node: Any, steps: Sequence[str], value: Json) -> _Change:
    if node.id == "scalar" and not steps:
        return node.start_mark.index, node.end_mark.index, yaml_scalar(value, node.style)
    if not steps:
        return _items(text, node, value)
    if node.id == "sequence":
        return _change(text, node.value[_index(steps[0], len(node.value))], steps[1:], value)
    if node.id != "mapping":
        raise CannotEdit("The file has a text where a map should hold the value.")
    for length in range(len(steps), 0, -1):
        for position, (key, held) in enumerate(node.value):
            if key.value == ".".join(steps[:length]):
                if value is None and length == len(steps):
                    return removed_entry(text, node, position)
                return _change(text, held, steps[length:], value)
    return _added(text, node, steps, value)


def yaml_scalar(value: Json, style: str | None = None) -> str:
    """A value on one line, in the style of what it replaces where that can hold it."""
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if style in ("|", ">"):
        raise CannotEdit("A text of several lines in YAML is not edited.")
    if style == "'" and value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    # What stands without quotes is a text only if YAML reads it as one, and ends where it does.
    if style is None and _is_plain(value):
        return value
    return json.dumps(value, ensure_ascii=False)


def _is_plain(value: str) -> bool:
    if not value.isprintable() or set(value) & set("{}[],&*#?|<>=!%@`\"'\\"):
        return False
    try:
        return value == value.strip() and functions.call("yamldecode", [f"[{value}]"]) == [value]
    except Unknown:  # readers of YAML differ about it
        return False


def _items(text: YamlText, node: Any, wanted: Json) -> _Change:
    """The list with the wanted items, those that stay untouched."""
    plain = node.id == "sequence" and isinstance(wanted, list) and all(each.id == "scalar" for each in node.value)
    if not plain or not isinstance(wanted, list) or any(isinstance(each, dict | list) for each in wanted):
        raise CannotEdit("A map or a list of maps in YAML is not replaced as a whole.")
    now = [_decoded(text.source[each.start_mark.index : each.end_mark.index]) for each in node.value]
    style = node.value[0].style if node.value else None
    if node.flow_style and "\n" in text.source[node.start_mark.index : node.end_mark.index] and wanted:
        return _in_brackets(text, node, now, wanted)
    if node.flow_style or not now or not wanted:
        written = [
            text.source[node.value[now.index(each)].start_mark.index : node.value[now.index(each)].end_mark.index]
            if each in now
            else yaml_scalar(each, style)
            for each in wanted
        ]
        end = node.end_mark.index if node.flow_style else text.last_line_end(node)
        return node.start_mark.index, end, f"[{', '.join(written)}]"
    start = text.line_start(node.value[0].start_mark.index)
    opening = text.source[start : node.value[0].start_mark.index]
    if opening.strip() != "-":
        raise CannotEdit("The list in the file begins on the line of something else.")
    rest, lines = list(wanted), []
    for item, node_of_item in zip(now, node.value, strict=True):
        if item in rest:
            rest.remove(item)
            lines.append(text.source[text.line_start(node_of_item.start_mark.index) : text.last_line_end(node_of_item)])
    lines += [opening + yaml_scalar(each, style) for each in rest]
    return start, text.last_line_end(node.value[-1]), "\n".join(lines)


def _in_brackets(text: YamlText, node: Any, now: Sequence[Json], wanted: Sequence[Json]) -> _Change:
    """A list in brackets over several lines: items are cut out with what belongs to them, and new ones follow the last that stays."""
    rest, kept = list(wanted), []
    for position, item in enumerate(now):
        if item in rest:
            rest.remove(item)
            kept.append(position)
    first, end = node.start_mark.index, node.end_mark.index
    style = node.value[0].style if node.value else None
    new = [yaml_scalar(each, style) for each in rest]
    if not kept:
        inside = text.source[first + 1 : node.value[0].start_mark.index if node.value else end - 1]
        if "#" in text.source[first:end] or not node.value:
            raise CannotEdit("The list in the file holds comments, or nothing, and is not replaced as a whole.")
        gap = inside if "\n" in inside else " "
        return first + 1, node.value[-1].end_mark.index, inside + f",{gap}".join(new)
    changes = [_cut(text, node, position, kept) for position in range(len(now)) if position not in kept]
    if new:
        changes.append(_appended(text, node, kept[-1], new))
    source = text.source
    for start, stop, written in sorted(changes, reverse=True):
        source = source[:start] + written + source[stop:]
    return first, end, source[first : end + len(source) - len(text.source)]


def _further(text: YamlText, node: Any, more: Sequence[Json]) -> _Change:
    """Items behind the last one of a list, each on one line."""
    last = node.value[-1]
    written = [text.flow(each) for each in more]
    if node.flow_style and "\n" in text.source[node.start_mark.index : node.end_mark.index]:
        return _appended(text, node, len(node.value) - 1, written)
    if node.flow_style:
        return last.end_mark.index, last.end_mark.index, "".join(f", {each}" for each in written)
    start = text.line_start(last.start_mark.index)
    opening = text.source[start : last.start_mark.index]
    if opening.strip() != "-":
        raise CannotEdit("The list in the file begins on the line of something else.")
    end = text.last_line_end(last)
    return end, end, "".join(f"\n{opening}{each}" for each in written)


def _cut(text: YamlText, node: Any, position: int, kept: Sequence[int]) -> _Change:
    """An item of a list in brackets, with its comma and the comment after it."""
    item = node.value[position]
    if position < kept[-1]:
        return item.start_mark.index, node.value[position + 1].start_mark.index, ""
    before = node.value[position - 1]
    if "#" not in text.source[before.end_mark.index : item.start_mark.index]:
        return before.end_mark.index, item.end_mark.index, ""
    start, end = text.line_start(item.start_mark.index), text.line_end(item.end_mark.index)
    if text.source[start : item.start_mark.index].strip() or "]" in text.source[item.end_mark.index : end]:
        raise CannotEdit("A comment in the list of the file stands between items of one line.")
    return start, end + 1, ""


def _appended(text: YamlText, node: Any, position: int, new: Sequence[str]) -> _Change:
    """New items behind one of a list in brackets, each on a line of its own if that begins one."""
    item = node.value[position]
    start = text.line_start(item.start_mark.index)
    opening = text.source[start : item.start_mark.index]
    if opening.strip():
        return item.end_mark.index, item.end_mark.index, "".join(f", {each}" for each in new)
    end = text.line_end(item.end_mark.index)
    after = text.source[item.end_mark.index : end]
    comma = after.lstrip().startswith(",")
    lines = ",".join(f"\n{opening}{each}" for each in new)
    if "]" in after.partition("#")[0]:
        return item.end_mark.index, item.end_mark.index, f",{lines}"
    return item.end_mark.index, end, f"{after if comma else ',' + after}{lines}{',' if comma else ''}"


def removed_entry(text: YamlText, holder: Any, position: int) -> _Change:
    """The change that takes an entry of a map out, with its line break or comma."""
    if len(holder.value) == 1:
        return _emptied(text, holder, "{}")
    key, held = holder.value[position]
    following = holder.value[position + 1][0] if position + 1 < len(holder.value) else None
    if holder.flow_style:
        if following is not None:
            return key.start_mark.index, following.start_mark.index, ""
        return holder.value[position - 1][1].end_mark.index, held.end_mark.index, ""
    return _lines(text, key.start_mark.index, held, "")


def removed_item(text: YamlText, holder: Any, position: int) -> _Change:
    """The change that takes an item of a list out, with its line or comma."""
    if len(holder.value) == 1:
        return _emptied(text, holder, "[]")
    item = holder.value[position]
    if holder.flow_style:
        return _cut(text, holder, position, [at for at in range(len(holder.value)) if at != position])
    return _lines(text, item.start_mark.index, item, "-")


def _emptied(text: YamlText, holder: Any, empty: str) -> _Change:
    """The change that leaves nothing of a map or list."""
    end = holder.end_mark.index if holder.flow_style else text.last_line_end(holder)
    return holder.start_mark.index, end, empty


def _lines(text: YamlText, at: int, held: Any, opening: str) -> _Change:
    """The change that takes the lines of an entry out, which begins with `opening`."""
    start = text.line_start(at)
    if text.source[start:at].strip() != opening:
        raise CannotEdit("The map or list in the file begins on the line of something else.")
    return start, min(text.last_line_end(held) + 1, len(text.source)), ""


def _added(text: YamlText, holder: Any, steps: Sequence[str], value: Json) -> _Change:
    """A new last entry of a map, with the maps above it that are missing too."""
    if value is None:
        raise CannotEdit("The value is not there.")
    for step in reversed(steps[1:]):
        value = {step: value}
    if not holder.value:
        return holder.start_mark.index, holder.end_mark.index, text.flow({steps[0]: value})
    key, held = holder.value[-1]
    if key.style == '"':
        entry = f"{json.dumps(steps[0])}: {json.dumps(value, ensure_ascii=False)}"
    else:
        entry = f"{yaml_scalar(steps[0])}: {text.flow(value)}"
    if holder.flow_style:
        return held.end_mark.index, held.end_mark.index, f", {entry}"
    end, indent = text.last_line_end(held), " " * key.start_mark.column
    if isinstance(value, list) and any(isinstance(each, dict) for each in value):
        entry = f"{yaml_scalar(steps[0])}:" + "".join(f"\n{indent}  - {text.flow(each)}" for each in value)
    return end, end, f"\n{indent}{entry}"
