"""Edits the text between the interpolations of a quoted string; interpolations whose values stay in the text stay too."""

from gateway.core.model.json import Json
from gateway.terraform.lang import expression as e
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import value_of
from reconciler.rewrite.editors.hcl_text import CannotEdit, quoted
from reconciler.rewrite.editors.splice import Splice
from reconciler.rewrite.trace.sites import TemplateSite

_SHORTEST = 3
"""Characters of a value that are not found in a text by chance."""


def edit_template(site: TemplateSite, value: Json) -> Splice:
    """The string with the wanted text. Raises `CannotEdit`, `Unknown` if an interpolation is not known."""
    source = site.document.source
    if site.node.heredoc or source[site.node.start : site.node.start + 1] != b'"':
        raise CannotEdit("A heredoc is not replaced as a whole.")
    if not isinstance(value, str):
        raise CannotEdit("There is a text here, and the wanted value is not a text.")
    rest, written = value, ""
    for part in site.node.parts:
        if isinstance(part, str):
            continue
        known = values.text(value_of(part, site.scope))
        before, found, after = rest.partition(known) if len(known) >= _SHORTEST else (rest, "", rest)
        if known and not found and part is site.node.parts[-1] and rest.endswith(known):
            before, found, after = rest.removesuffix(known), known, ""
        if found:
            written += quoted(before)[1:-1] + _interpolation(site, part)
            rest = after
    return Splice(site.node.start, site.node.end, f'"{written}{quoted(rest)[1:-1]}"')


def _interpolation(site: TemplateSite, part: e.Expression) -> str:
    """An interpolation as it is written, with its braces."""
    source = site.document.source
    start = source.rfind(b"${", site.node.start, part.start)
    end = source.find(b"}", part.end) + 1
    text = source[start:end].decode()
    if start < 0 or source[start + 2 : part.start].strip(b" \t\n~"):
        raise CannotEdit("A directive stands in the text; a human should look at it.")
    if "~" in text[2:3] + text[-2:-1]:
        raise CannotEdit("The text strips spaces around an interpolation; a human should look at it.")
    return text
