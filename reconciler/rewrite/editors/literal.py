"""Replaces a literal (a number, bool, null or string), an empty map, a calculation, or a reference."""

from collections.abc import Mapping

from gateway.core.model.json import Json
from gateway.terraform.lang import expression as e
from gateway.terraform.lang import values
from reconciler.rewrite.editors.hcl_text import CannotEdit, to_hcl
from reconciler.rewrite.editors.map_entry import add_entry, remove_entry
from reconciler.rewrite.editors.splice import Splice, indent_at, merge_splices
from reconciler.rewrite.trace.inverse import like
from reconciler.rewrite.trace.references import text_of
from reconciler.rewrite.trace.sites import EntrySite, LiteralSite, ObjectEntry


def replace_literal(site: LiteralSite, value: Json) -> Splice:
    """The literal's own span replaced; a number that is written as a string stays a string. Raises `CannotEdit`."""
    if isinstance(site.node, e.AttributeAccess):
        named = "" if site.module is None else text_of(site.module, site.node, value)
        return Splice(site.node.start, site.node.end, named or to_hcl(value))
    if isinstance(site.node, e.Binary):
        return _calculated(site.node, value)
    if isinstance(site.node, e.LiteralValue):
        if site.document.source[site.node.start : site.node.start + 2] == b"<<":
            raise CannotEdit("A heredoc is not replaced as a whole.")
        new = to_hcl(like(site.node.value, value), indent_at(site.document, site.node.start))
        return Splice(site.node.start, site.node.end, new)
    if not site.node.elements and isinstance(value, Mapping):
        return Splice(site.node.start, site.node.end, to_hcl(value, indent_at(site.document, site.node.start)))
    if isinstance(value, Mapping):
        return _entries(site, site.node, value)
    raise CannotEdit("No editor writes a value of this kind at this place.")


def _calculated(node: e.Binary, value: Json) -> Splice:
    """A number in place of a calculation, or a bool in place of a comparison, which is lost. Only for what its operands cannot give."""
    is_number = node.operator in "+-*/"
    new = like(0 if is_number else False, value)
    if isinstance(new, bool) == is_number or not isinstance(new, int | float):
        kind = "number" if is_number else "bool"
        raise CannotEdit(f"A {kind} is calculated here, and the wanted value is none.")
    return Splice(node.start, node.end, to_hcl(new))


def _entries(site: LiteralSite, node: e.Object, value: Mapping[str, Json]) -> Splice:
    """The map without the entries that are not wanted and with those that are new; the others stay as they are written."""
    document = site.document
    keys = [each.key.value if isinstance(each.key, e.LiteralValue) else None for each in node.elements]
    if None in keys:
        raise CannotEdit("The map has keys that are calculated.")
    gone = [each for each, key in zip(node.elements, keys, strict=True) if values.text(key) not in value]
    if len(gone) == len(keys):
        return Splice(node.start, node.end, to_hcl(value, indent_at(document, node.start)))
    new = [
        add_entry(EntrySite(document=document, node=node, key=key), item)
        for key, item in value.items()
        if key not in [values.text(each) for each in keys]
    ]
    if len(new) > 1:
        raise CannotEdit("Several entries are new; which of them belongs where is not certain.")
    return merge_splices(document, [*(remove_entry(document, ObjectEntry(each, node)) for each in gone), *new])
