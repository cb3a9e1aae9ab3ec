"""Adds an attribute to a resource or nested block, or an argument to a module call."""

from collections.abc import Mapping

from tree_sitter import Node

from gateway.core.model.json import Json
from gateway.core.model.path import AttributePath
from gateway.terraform.config.module import META
from gateway.terraform.lang.hcl import Document
from reconciler.rewrite.editors import hcl_text
from reconciler.rewrite.editors.alignment import is_aligned
from reconciler.rewrite.editors.nested_blocks import is_blocks
from reconciler.rewrite.editors.override import conditional
from reconciler.rewrite.editors.splice import Splice, indent_at, line_end, newline
from reconciler.rewrite.trace.sites import ArgumentSite, AttributeSite

_FIRST = META | {"source", "version", "providers"}
"""Attributes at the head of a block; a new attribute is not placed between them."""


def set_attribute(site: AttributeSite | ArgumentSite, value: Json) -> Splice:
    """A new line after the first run of plain attributes, so that it aligns with them. Raises `CannotEdit`."""
    path = site.path if isinstance(site, AttributeSite) else AttributePath(site.name)
    name, inner = path.top, ".".join(path.steps[1:])
    if value is None:
        raise hcl_text.CannotEdit("There is nothing to write: the code sets no value, and the wanted value is null.")
    if isinstance(site, AttributeSite) and name != "tags" and (isinstance(value, Mapping) or is_blocks(value)):
        raise hcl_text.CannotEdit(f"{name} is not in the code, and whether it is written as a block is not certain.")
    if hcl_text.key(name) != name:
        raise hcl_text.CannotEdit(f"{name} is not a valid attribute name.")
    indent = indent_at(site.document, site.block.start_byte) + "  "
    written = _written(site.document, name, {inner: value} if inner else value, indent)
    if isinstance(site, ArgumentSite):
        written = conditional(site.only, written)
    elif site.condition:
        if inner or "\n" in written:
            raise hcl_text.CannotEdit(f"{name} is not given to one instance only.")
        written = f"{site.condition} ? {written} : null"
    return attribute_line(site.document, site.block, name, written)


def _written(document: Document, name: str, value: Json, indent: str) -> str:
    """The value as HCL. A short map is written on one line, unless the file has such maps and all of them have several."""
    short = isinstance(value, Mapping) and not any(isinstance(each, Mapping | list) for each in value.values())
    line = hcl_text.inline(value) if short else ""
    if not line or len(value) > _MOST_ENTRIES or len(line) > hcl_text.SHORT:  # type: ignore[arg-type]  # a map, if short
        return hcl_text.to_hcl(value, indent)
    others = [
        node for block in document.blocks(document.root) if (node := document.attributes(block).get(name)) is not None
    ]
    maps = [node for node in others if document.text(document.expression(node)).startswith("{")]
    several = bool(maps) and all(node.start_point.row != node.end_point.row for node in maps)
    return hcl_text.to_hcl(value, indent) if several else line


_MOST_ENTRIES = 2
"""Of a map that is written on one line."""


def attribute_line(document: Document, block: Node, name: str, written: str) -> Splice:
    """A new line `name = written` after the first run of plain attributes. Raises `CannotEdit`."""
    outer = indent_at(document, block.start_byte)
    return _into(document, block, f"{outer}  {name} = {written}", outer)


def _into(document: Document, block: Node, row: str, outer: str) -> Splice:
    end_of_line = newline(document)
    opening = next(child for child in block.children if child.type == "block_start")
    closing = next(child for child in block.children if child.type == "block_end")
    if opening.start_point.row == closing.start_point.row:
        inside = document.source[opening.end_byte : closing.start_byte].decode().strip()
        if "/*" in inside:
            raise hcl_text.CannotEdit("The block is written on one line with a comment.")
        kept = f"{outer}  {inside}{end_of_line}" if inside else ""
        new = f"{end_of_line}{kept}{row}{end_of_line}{outer}"
        return Splice(opening.end_byte, closing.start_byte, new)
    anchors = _anchors(document, block)
    if anchors and "\n" not in row:
        still = next((each for each in anchors if not _moves_many(document, block, each, row)), None)
        if still is not None:
            end = line_end(document, still.end_byte)
            return Splice(end, end, end_of_line + row)
    if anchors:
        end = line_end(document, anchors[0].end_byte)
        following = document.source[end + len(end_of_line) :].split(b"\n", 1)[0].strip()
        below = end_of_line if following and not following.startswith(b"}") else ""
        return Splice(end, end, 2 * end_of_line + row + below)
    end, gap = _insertion_point(document, block, opening)
    return Splice(end, end, gap + end_of_line + row + _gap_below(document, block, end))


def _moves_many(document: Document, block: Node, anchor: Node, row: str) -> bool:
    """Whether a new line would move the signs of several lines above it, because its name is longer than theirs: then it stands apart."""
    if not is_aligned(document):
        return False
    line, names = anchor.start_point.row, list[str]()
    attributes = {node.start_point.row: (name, node) for name, node in document.attributes(block).items()}
    while line in attributes and attributes[line][1].end_point.row == line:
        names.append(attributes[line][0])
        line -= 1
    width = len(row.strip().partition(" ")[0])
    return len(names) >= _MANY and width > max(map(len, names))


_MANY = 2
"""Lines that are not moved for a new one."""


def _anchors(document: Document, block: Node) -> list[Node]:
    """The last attribute of each run of one-line attributes, the first run first."""
    found: list[Node] = []
    body = document.body(block)
    goes_on = False
    for child in () if body is None else body.children:
        if child.type == "comment":
            continue
        plain = child.type == "attribute" and document.text(child.children[0]) not in _FIRST
        if not plain or child.start_point.row != child.end_point.row:
            goes_on = False
            continue
        if goes_on and child.start_point.row == found[-1].end_point.row + 1:
            found[-1] = child
        else:
            found.append(child)
        goes_on = True
    return found


def _insertion_point(document: Document, block: Node, opening: Node) -> tuple[int, str]:
    """The offset after the head of the block (`for_each`, `source` …) and an empty line, else the end of its opening line."""
    heads = [node for name, node in document.attributes(block).items() if name in _FIRST - {"depends_on", "provider"}]
    if heads:
        return line_end(document, heads[-1].end_byte), newline(document)
    return line_end(document, opening.end_byte), ""


def _gap_below(document: Document, block: Node, end: int) -> str:
    """An empty line between the new attribute and a block that follows directly."""
    following = document.source[end + len(newline(document)) :].split(b"\n", 1)[0].strip()
    return newline(document) if following and not following.startswith(b"}") and document.blocks(block) else ""
