"""Makes an expression a conditional, so that one instance gets a value of its own and the others keep theirs."""

from collections.abc import Mapping

from gateway.model.json import Json
from gateway.terraform.lang import expression as e
from reconciler.rewrite.editors.splice import Splice
from reconciler.rewrite.editors.text import CannotEdit, inline, key
from reconciler.rewrite.place import ConditionalPlace


def edit(place: ConditionalPlace, value: Json) -> Splice:
    """`condition ? new : old`; for an entry of a map `merge(old, condition ? { key = new } : {})`. Raises `CannotEdit`."""
    node = place.node
    written = place.document.source[node.start : node.end].decode()
    if value is None:
        raise CannotEdit("A value is not taken from one instance only.")
    if not place.key:
        if isinstance(value, Mapping) or "\n" in written:
            raise CannotEdit("A map, or a value of several lines, is not given to one instance only.")
        return Splice(node.start, node.end, f"{place.condition} ? {inline(value)} : {written}")
    extra = f"{place.condition} ? {{ {key(place.key)} = {inline(value)} }} : {{}}"
    bare = e.bare(node)
    if isinstance(bare, e.FunctionCall) and bare.arguments and not bare.expand:
        end = bare.arguments[-1].end
        return Splice(end, end, f", {extra}")
    return Splice(node.start, node.end, f"merge({_on_one_line(place, bare)}, {extra})")


def _on_one_line(place: ConditionalPlace, node: e.Expression) -> str:
    """A map with one plain entry on one line; any other map as it is written."""
    source = place.document.source
    if isinstance(node, e.Object) and len(node.elements) == 1:
        between = source[node.start + 1 : node.elements[0].start] + source[node.elements[0].end : node.end - 1]
        element = source[node.elements[0].start : node.elements[0].end]
        if b"\n" not in element and not between.strip():
            return f"{{ {element.decode()} }}"
    return source[node.start : node.end].decode()
