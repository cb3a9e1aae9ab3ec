"""Sets a value beside an expression that others share: `merge(local.tags, { owner = "ada" })`, or a conditional for one instance."""

from collections.abc import Mapping

from gateway.core.model.equality import equal
from gateway.core.model.json import Json
from gateway.terraform.lang import expression as e
from gateway.terraform.lang.hcl import Document
from reconciler.rewrite.editors import hcl_text
from reconciler.rewrite.editors.hcl_text import CannotEdit, inline, key, quoted
from reconciler.rewrite.editors.splice import Splice, indent_at, newline
from reconciler.rewrite.trace.overrides import is_merge
from reconciler.rewrite.trace.sites import ConditionalSite, FilterSite, Only, OverrideSite


def set_beside(site: OverrideSite, value: Json) -> Splice:
    """The expression replaced: merged with the entry, decided by the instance, or by the value itself. Raises `CannotEdit`."""
    document, node = site.document, site.node
    source = document.source[node.start : node.end].decode()
    if not site.key:
        return Splice(
            node.start, node.end, conditional(site.only, hcl_text.to_hcl(value, indent_at(document, node.start)))
        )
    if value is None:
        if site.inside:
            raise CannotEdit("An entry inside of a map that others share is not taken away.")
        return Splice(node.start, node.end, _without(site, source))
    entry = hcl_text.to_hcl(value)
    for name, held in reversed(site.inside):
        entry = f"merge({held}, {{ {key(name)} = {entry} }})" if held else f"{{ {key(name)} = {entry} }}"
    entry = f"{{ {key(site.key)} = {entry} }}"
    return _merged(document, node, source, entry if site.only is None else f"{site.only.condition} ? {entry} : {{}}")


def _without(site: OverrideSite, source: str) -> str:
    """The map without one entry, which the others that share it keep."""
    if site.only is not None:
        raise CannotEdit("An entry that others share is not taken away from one instance.")
    return f"{{ for key, value in {source} : key => value if key != {quoted(site.key)} }}"


def conditional(only: Only | None, value: str) -> str:
    """HCL that gives a value to one instance only, or to all."""
    if only is None:
        return value
    if "\n" in value:
        raise hcl_text.CannotEdit("The value takes several lines, so it is not written into a condition.")
    if (value, only.otherwise) == ("true", "false"):
        return only.condition
    return f"{only.condition} ? {value} : {only.otherwise}"


def _merged(document: Document, node: e.Expression, source: str, entry: str) -> Splice:
    """merge() with one more map, on a line of its own if the last map is; a call of merge() is not nested into another."""
    bare = e.bare(node)
    if isinstance(bare, e.FunctionCall) and is_merge(bare):
        last = bare.arguments[-1]
        indent = indent_at(document, last.start)
        alone = document.source[: last.start].endswith(f"\n{indent}".encode())
        return Splice(last.end, last.end, f",{newline(document)}{indent}{entry}" if alone else f", {entry}")
    return Splice(node.start, node.end, f"merge({source}, {entry})")


def make_conditional(site: ConditionalSite, value: Json) -> Splice:
    """`condition ? new : old`; for an entry of a map `merge(old, condition ? { key = new } : {})`. Raises `CannotEdit`."""
    node = site.node
    written = site.document.source[node.start : node.end].decode()
    if value is None:
        raise CannotEdit("A value is not taken from one instance only.")
    if not site.key:
        if "\n" in written and (more := _more_items(site, value)):
            return Splice(node.start, node.end, f"concat({written}, {site.condition} ? {inline(more)} : [])")
        closed = isinstance(e.bare(node), e.Tuple) or written.startswith("<<")
        if (isinstance(value, Mapping) and value) or ("\n" in written and not closed):
            raise CannotEdit("A map, or a value of several lines, is not given to one instance only.")
        return Splice(node.start, node.end, f"{site.condition} ? {inline(value)} : {written}")
    extra = f"{site.condition} ? {{ {key(site.key)} = {inline(value)} }} : {{}}"
    return _merged(site.document, node, _on_one_line(site, e.bare(node)), extra)


def _more_items(site: ConditionalSite, value: Json) -> list[Json]:
    """The items that a wanted list has behind those of the list as it is; empty if it is not that list with more items."""
    now = site.now
    if not isinstance(now, list) or not isinstance(value, list):
        return []
    return value[len(now) :] if equal(value[: len(now)], now) else []


def _on_one_line(site: ConditionalSite, node: e.Expression) -> str:
    """A map with one plain entry on one line; any other map as it is written."""
    source = site.document.source
    if isinstance(node, e.Object) and len(node.elements) == 1:
        between = source[node.start + 1 : node.elements[0].start] + source[node.elements[0].end : node.end - 1]
        element = source[node.elements[0].start : node.elements[0].end]
        if b"\n" not in element and not between.strip():
            return f"{{ {element.decode()} }}"
    return source[node.start : node.end].decode()


def filter_rounds(site: FilterSite) -> Splice:
    """The `for` with a further condition."""
    node, condition = site.node, site.node.condition
    if condition is None:
        return Splice(node.value.end, node.value.end, f" if {site.condition}")
    written = site.document.source[condition.start : condition.end].decode()
    bare = e.bare(condition)
    is_loose = isinstance(bare, e.Conditional) or (isinstance(bare, e.Binary) and bare.operator == "||")
    return Splice(
        condition.start,
        condition.end,
        f"({written}) && {site.condition}" if is_loose else f"{written} && {site.condition}",
    )
