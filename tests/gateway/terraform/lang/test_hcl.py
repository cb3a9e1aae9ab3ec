"""Reading Terraform source: what is found, with exact spans, and what is refused with file and line."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.errors import CodeInvalid
from gateway.terraform.lang.hcl import Document, file_bytes, parse, parse_template

SOURCE = b"""# a comment
resource "aws_sqs_queue" "jobs" {
  name = "jobs" # behind

  redrive {
    count = 1e3
  }
}

locals { one = 1 }
empty "x" {}
"""


def _parse(source: bytes) -> Document:
    return parse(Path("main.tf"), source)


def test_blocks_and_attributes_are_found_with_their_lines() -> None:
    document = _parse(SOURCE)
    blocks = document.blocks(document.root)
    assert [document.header(block) for block in blocks] == [
        ("resource", "aws_sqs_queue", "jobs"),
        ("locals",),
        ("empty", "x"),
    ]
    assert document.blocks(document.root, "resource", "aws_sqs_queue") == blocks[:1]
    assert document.blocks(document.root, "resource", "other") == ()
    name = document.attributes(blocks[0])["name"]
    assert (document.line(name), document.at(name)) == (3, "main.tf:3")
    assert document.text(document.expression(name)) == '"jobs"'
    inner = document.blocks(blocks[0], "redrive")[0]
    assert document.text(document.attributes(inner)["count"]) == "count = 1e3"
    assert document.attributes(blocks[2]) == {}
    assert document.body(blocks[2]) is None


def test_a_byte_order_mark_and_carriage_returns_are_read() -> None:
    document = _parse(b"\xef\xbb\xbfa = 1\r\nb = 2\r\n")
    assert [document.text(each) for each in document.attributes(document.root).values()] == ["a = 1", "b = 2"]


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (b"a = \n", 1),
        (b"a = 1\nb = = 2\n", 2),
        (b'resource "a" "b" {\n  x = 1\n', 2),
        (b'a = "open\n', 1),
        (b"a = 1 b = 2\n", 1),
        (b"a = 1\na = 2\n", 2),
        (b"b {\n  x = 1\n  x = 2\n}\n", 3),
        (b"b {\n  c {}  d {}\n}\n", 2),
        (b"a = 1\n\xff\n", 2),
        (b"a = [1,\n", 1),
        (b"}\n", 1),
        (b"a = <<EOT\nx\n", 2),
    ],
)
def test_what_terraform_would_not_read_is_refused_with_file_and_line(source: bytes, line: int) -> None:
    with pytest.raises(CodeInvalid, match=rf"^main\.tf:{line}: [A-Z].*\.$"):
        _parse(source)


@given(st.binary(max_size=60) | st.text(alphabet='ab={}[]()"$%#\n.,:<?0 ', max_size=60).map(str.encode))
def test_any_bytes_are_a_document_or_a_clear_error(source: bytes) -> None:
    said = ""
    try:
        assert _parse(source).source == source
    except CodeInvalid as error:
        said = str(error)
    assert not said or said.startswith("main.tf:")


@pytest.mark.parametrize("content", [b"a\n", b"a", b"", b"TEMPLATE\n", b"a\n\n${x}\n"])
def test_a_template_keeps_its_bytes_and_its_lines(content: bytes) -> None:
    document = parse_template(Path("t.tftpl"), content)
    assert file_bytes(document) == content
    assert file_bytes(document, document.around[0] + b"new" + document.around[1]) == b"new"
    start = document.source.index(content, 1) if content else 0
    assert document.line(start) == 1
    assert document.line(start + len(content)) == 1 + content.count(b"\n")


@pytest.mark.parametrize("content", [b"a\r\n", b"\xef\xbb\xbfa\n", b"${\n", b"\xff\n"])
def test_a_template_that_terraform_might_read_otherwise_is_refused(content: bytes) -> None:
    with pytest.raises(CodeInvalid):
        parse_template(Path("t.tftpl"), content)
