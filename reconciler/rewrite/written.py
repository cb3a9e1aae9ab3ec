"""A file after an edit of its document: HCL, a template, or code in JSON syntax."""

from gateway.terraform.json_syntax.view import parse_json
from gateway.terraform.lang.hcl import Document, file_bytes, parse, parse_template
from reconciler.rewrite.editors.align import realigned
from reconciler.rewrite.json_syntax.write import written_as_json


def document_after(document: Document, source: bytes) -> Document:
    """The document whose source became `source`, realigned if it was aligned before.

    Raises `CodeInvalid` if it no longer parses, and `CannotEdit` if JSON code cannot say it.
    """
    if document.written is not None:
        return parse_json(document.path, written_as_json(document, source))
    if any(document.around):
        return parse_template(document.path, file_bytes(document, source))
    return realigned(document, parse(document.path, source))
