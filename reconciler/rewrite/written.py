"""The bytes of a file after an edit of its document: HCL, a template, or code in JSON syntax."""

from gateway.terraform.lang.hcl import Document, file_bytes, parse, parse_template
from reconciler.rewrite.editors.align import aligned
from reconciler.rewrite.json_syntax.write import written_as_json


def file_after(document: Document, source: bytes) -> bytes:
    """The file of a document whose source became `source`, realigned if it was aligned before.

    Raises `CodeInvalid` if it no longer parses, and `CannotEdit` if JSON code cannot say it.
    """
    if document.written is not None:
        return written_as_json(document, source)
    if any(document.around):
        return file_bytes(parse_template(document.path, file_bytes(document, source)))
    after = parse(document.path, source)
    return aligned(after) if aligned(document) == document.source else after.source
