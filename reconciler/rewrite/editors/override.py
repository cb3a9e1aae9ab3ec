"""Sets a value beside an expression that others share: `merge(local.tags, { owner = "ada" })`, `each.key == "blue" ? 60 : each.value`."""

from gateway.model.json import Json
from reconciler.rewrite.editors import text
from reconciler.rewrite.editors.splice import Splice, indent_at
from reconciler.rewrite.place import Only, OverridePlace


def edit(place: OverridePlace, value: Json) -> Splice:
    """The expression replaced: merged with the entry, decided by the instance, or by the value itself. Raises `CannotEdit`."""
    document, node = place.document, place.node
    source = document.source[node.start : node.end].decode()
    if place.key:
        if value is None:
            raise text.CannotEdit("An entry that others share is not taken away from one.")
        entry = f"{{ {text.key(place.key)} = {text.to_hcl(value)} }}"
        new = _merged(source, entry if place.only is None else f"{place.only.condition} ? {entry} : {{}}")
    else:
        new = conditional(place.only, text.to_hcl(value, indent_at(document, node.start)))
    return Splice(node.start, node.end, new)


def conditional(only: Only | None, value: str) -> str:
    """HCL that gives a value to one instance only, or to all."""
    if only is None:
        return value
    if "\n" in value:
        raise text.CannotEdit("The value takes several lines, so it is not written into a condition.")
    if (value, only.otherwise) == ("true", "false"):
        return only.condition
    return f"{only.condition} ? {value} : {only.otherwise}"


def _merged(source: str, entry: str) -> str:
    """`merge(…)` with one more map; a call of merge() is not nested into another."""
    if source.startswith("merge(") and source.endswith(")") and source.count("(") == source.count(")") == 1:
        return f"{source[:-1]}, {entry})"
    return f"merge({source}, {entry})"
