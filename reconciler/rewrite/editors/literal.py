"""Replaces a literal: a number, bool, null, string, or a map written in place."""

from collections.abc import Mapping, Sequence

from gateway.model.json import Json
from gateway.terraform.lang import expression as e
from gateway.terraform.lang import values
from reconciler.rewrite.editors.splice import Splice, indent_at
from reconciler.rewrite.editors.text import CannotEdit, written
from reconciler.rewrite.trace import Trace


def edit(place: Trace, value: Json) -> Splice | None:
    """The literal's own span replaced; a number that is written as a string stays one."""
    if place.kind != "literal" or place.document is None:
        return None
    if place.element is not None and place.holder is not None and value is None:
        return None
    if isinstance(place.node, e.LiteralValue):
        if place.document.source[place.node.start : place.node.start + 2] == b"<<":
            raise CannotEdit("A heredoc is not replaced as a whole.")
        new = written(_like(place.node.value, value), indent_at(place.document, place.node.start))
        return Splice(place.node.start, place.node.end, new)
    if isinstance(place.node, e.Object) and not place.node.elements and isinstance(value, Mapping):
        return Splice(place.node.start, place.node.end, written(value, indent_at(place.document, place.node.start)))
    return None


def _like(old: Json, value: Json) -> Json:
    """The value in the type of the old one, where Terraform would convert it back by itself."""
    if isinstance(value, Mapping | Sequence) and not isinstance(value, str):
        return value
    try:
        if isinstance(old, str) and isinstance(value, bool | int | float):
            return values.text(value)
        if isinstance(old, bool) and isinstance(value, str):
            return values.truth(value) if values.text(values.truth(value)) == value else value
        if isinstance(old, int | float) and not isinstance(old, bool) and isinstance(value, str):
            number = values.number(values.decimal(value))
            return number if values.text(number) == value else value
    except values.Unknown:
        pass
    return value
