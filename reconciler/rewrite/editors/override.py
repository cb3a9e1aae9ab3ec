"""Sets a value beside an expression that others share: `merge(local.tags, { owner = "ada" })`, or a conditional for one instance."""

from collections.abc import Mapping

from gateway.core.model.json import Json
from gateway.terraform.lang import expression as e
from reconciler.rewrite.editors import hcl_text
from reconciler.rewrite.editors.hcl_text import CannotEdit, inline, key
from reconciler.rewrite.editors.splice import Splice, indent_at
from reconciler.rewrite.trace.sites import ConditionalSite, Only, OverrideSite


def set_beside(site: OverrideSite, value: Json) -> Splice:
    """The expression replaced: merged with the entry, decided by the instance, or by the value itself. Raises `CannotEdit`."""
    document, node = site.document, site.node
    source = document.source[node.start : node.end].decode()
    if site.key:
        if value is None:
            raise hcl_text.CannotEdit("An entry that others share is not taken away from one.")
        entry = f"{{ {hcl_text.key(site.key)} = {hcl_text.to_hcl(value)} }}"
        new = _merged(source, entry if site.only is None else f"{site.only.condition} ? {entry} : {{}}")
    else:
        new = conditional(site.only, hcl_text.to_hcl(value, indent_at(document, node.start)))
    return Splice(node.start, node.end, new)


def conditional(only: Only | None, value: str) -> str:
    """HCL that gives a value to one instance only, or to all."""
    if only is None:
        return value
    if "\n" in value:
        raise hcl_text.CannotEdit("The value takes several lines, so it is not written into a condition.")
    if (value, only.otherwise) == ("true", "false"):
        return only.condition
    return f"{only.condition} ? {value} : {only.otherwise}"


def _merged(source: str, entry: str) -> str:
    """`merge(…)` with one more map; a call of merge() is not nested into another."""
    if source.startswith("merge(") and source.endswith(")") and source.count("(") == source.count(")") == 1:
        return f"{source[:-1]}, {entry})"
    return f"merge({source}, {entry})"


def make_conditional(site: ConditionalSite, value: Json) -> Splice:
    """`condition ? new : old`; for an entry of a map `merge(old, condition ? { key = new } : {})`. Raises `CannotEdit`."""
    node = site.node
    written = site.document.source[node.start : node.end].decode()
    if value is None:
        raise CannotEdit("A value is not taken from one instance only.")
    if not site.key:
        if isinstance(value, Mapping) or "\n" in written:
            raise CannotEdit("A map, or a value of several lines, is not given to one instance only.")
        return Splice(node.start, node.end, f"{site.condition} ? {inline(value)} : {written}")
    extra = f"{site.condition} ? {{ {key(site.key)} = {inline(value)} }} : {{}}"
    bare = e.bare(node)
    if isinstance(bare, e.FunctionCall) and bare.arguments and not bare.expand:
        end = bare.arguments[-1].end
        return Splice(end, end, f", {extra}")
    return Splice(node.start, node.end, f"merge({_on_one_line(site, bare)}, {extra})")


def _on_one_line(site: ConditionalSite, node: e.Expression) -> str:
    """A map with one plain entry on one line; any other map as it is written."""
    source = site.document.source
    if isinstance(node, e.Object) and len(node.elements) == 1:
        between = source[node.start + 1 : node.elements[0].start] + source[node.elements[0].end : node.end - 1]
        element = source[node.elements[0].start : node.elements[0].end]
        if b"\n" not in element and not between.strip():
            return f"{{ {element.decode()} }}"
    return source[node.start : node.end].decode()
