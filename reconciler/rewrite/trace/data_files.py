"""Traces into data files: a value of a document of JSON, YAML or CSV that the code reads with `file` and decodes."""

import contextlib
import re
from collections.abc import Iterator
from dataclasses import replace

from gateway.terraform.lang import expression as e
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import find, value_of
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.hcl import Document
from gateway.terraform.lang.values import Unknown
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.rewrite.trace.inverse import then
from reconciler.rewrite.trace.sites import (
    CsvSite,
    Cursor,
    DocumentSite,
    FileSite,
    Follow,
    TracedSite,
    YamlSite,
    source_of,
)
from reconciler.rewrite.trace.solution import from_base64
from reconciler.terraform.json_documents import document_in


def site(cursor: Cursor, call: e.FunctionCall, opened: e.FunctionCall, path: tuple[str, ...]) -> TracedSite:
    """The value at a path of the document that a call is, `opened` the call of `file` in it. Raises `Unknown` if the file is not read."""
    document = cursor.module.data_file(values.text(value_of(opened.arguments[0], cursor.scope)))
    line = f"{cursor.document.at(call.start)} {source_of(cursor.document, call)} reads {document.path}"
    if not path:
        return _whole(cursor.step(line), document, call)
    chain = (*cursor.chain, line, f"{document.path} {'.'.join(path)}")
    if call.name == "yamldecode":
        return YamlSite(document=document, convert=cursor.convert, chain=chain, module=cursor.module, steps=path)
    if call.name == "csvdecode":
        return CsvSite(document=document, convert=cursor.convert, chain=chain, module=cursor.module, steps=path)
    now = None
    with contextlib.suppress(Unknown):
        whole = value_of(call, cursor.scope)
        whole = document_in(whole) if isinstance(whole, str) else whole
        now = values.to_json(find(whole, path))
    return DocumentSite(
        document=document,
        convert=cursor.convert,
        chain=chain,
        module=cursor.module,
        start=0,
        end=len(document.source),
        steps=path,
        now=now,
    )


def in_yaml_template(
    cursor: Cursor, written: Expression, path: tuple[str, ...], follow: Follow
) -> Iterator[TracedSite]:
    """Sites of a value of the document of YAML that a template makes: what Terraform puts in there, or the text of the file."""
    from reconciler.rewrite.editors.yaml_value import yaml_span  # noqa: PLC0415  it takes long to import

    document = cursor.document
    try:
        span = yaml_span(document, path)
    except CannotEdit as error:
        yield cursor.refuse(str(error))
        return
    parts = [part for part in written.parts if not isinstance(part, str)] if isinstance(written, e.Template) else []
    put_in = [part for part in parts if span is not None and span[0] <= part.start < span[1]]
    if not put_in:
        chain = (*cursor.chain, f"{document.path} {'.'.join(path)}")
        yield YamlSite(document=document, convert=cursor.convert, chain=chain, module=cursor.module, steps=path)
    elif span is not None and _is_whole(document.source[span[0] : span[1]]):
        yield from follow(replace(cursor, entry=None), put_in[0], ())
    else:
        yield cursor.refuse("Terraform puts in a part of the value, which is not edited.", put_in[0])


def _is_whole(text: bytes) -> bool:
    """Whether a value is nothing but one interpolation, in quotes or not."""
    return _INTERPOLATION.fullmatch(text.strip(b"\"'")) is not None


_INTERPOLATION = re.compile(rb"\$\{[^{}]*\}")


def _whole(cursor: Cursor, document: Document, call: e.FunctionCall) -> TracedSite:
    """The whole text of a file, if it is not one document: of that, only members are edited."""
    if call.name not in ("file", "filebase64"):
        return cursor.refuse(f"{document.path} is not edited as a whole.", call)
    if document_in(document.source.decode(errors="replace")) is not None:
        return cursor.refuse(f"{document.path} is a JSON document, of which only members are edited.", call)
    convert = then(from_base64, cursor.convert) if call.name == "filebase64" else cursor.convert
    return FileSite(document=document, convert=convert, chain=cursor.chain, module=cursor.module)
