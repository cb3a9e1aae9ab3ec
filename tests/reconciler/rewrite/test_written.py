"""The file after an edit: HCL is realigned, a template and JSON keep their own form."""

from pathlib import Path

import pytest

from gateway.errors import CodeInvalid
from gateway.terraform.json_syntax.view import parse_json
from gateway.terraform.lang.hcl import file_bytes, parse, parse_template
from reconciler.rewrite.written import document_after


def test_aligned_code_stays_aligned() -> None:
    document = parse(Path("x.tf"), b"a  = 1\nbb = 2\n")
    assert file_bytes(document_after(document, b"a  = 1\nbbb = 2\n")) == b"a   = 1\nbbb = 2\n"
    document = parse(Path("x.tf"), b"a = 1\nbb = 2\n")
    assert file_bytes(document_after(document, b"a = 1\nbbb = 2\n")) == b"a = 1\nbbb = 2\n"


def test_templates_and_json_are_written_as_they_are() -> None:
    template = parse_template(Path("x.tftpl"), b"a ${b}")
    assert file_bytes(document_after(template, template.source.replace(b"a ", b"c "))) == b"c ${b}"
    document = parse_json(Path("x.tf.json"), b'{"locals":{"a":1}}')
    assert file_bytes(document_after(document, document.source.replace(b"1", b"2"))) == b'{"locals":{"a":2}}'


def test_what_no_longer_parses_is_an_error() -> None:
    document = parse_json(Path("x.tf.json"), b'{"locals": {"a": 1}}')
    with pytest.raises(CodeInvalid, match=r"x\.tf\.json"):
        document_after(document, b"locals {\n")
