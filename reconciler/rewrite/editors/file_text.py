"""Replaces the text of a data file that the code reads as a whole."""

from gateway.core.model.json import Json
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.rewrite.editors.splice import Splice
from reconciler.rewrite.trace.sites import FileSite


def replace_text(site: FileSite, value: Json) -> Splice:
    """The file with the wanted text. Raises `CannotEdit` if it is no text."""
    if not isinstance(value, str):
        raise CannotEdit(f"{site.document.path} holds a text, and the wanted value is none.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise CannotEdit(f"{site.document.path} cannot hold this text: it has half a character.") from None
    return Splice(0, len(site.document.source), value)
