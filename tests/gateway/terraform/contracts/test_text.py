"""The structure of contract files: attributes, labels and lines, and that anything else is refused."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import CodeInvalid
from gateway.terraform.contracts.text import MAX_BYTES, parse_body
from gateway.terraform.lang.expression import NOT_LITERAL


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"])))
def test_text_survives_quoting(text: str) -> None:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("${", "$${").replace("%{", "%%{")
    if quoted.count("$${") != text.count("${") or "$$${" in quoted or "%%%{" in quoted:
        return  # HCL itself has no way to write these runs of marks
    if any(quoted.partition(mark)[1] and "}" not in quoted.rpartition(mark)[2] for mark in ("$${", "%%{")):
        return  # python-hcl2 wants escaped interpolations closed
    found = parse_body(f'x = "{quoted}"', "f").attributes["x"].literal
    assert found in (unicodedata.normalize("NFC", text), NOT_LITERAL)


def test_an_expression_keeps_its_text_over_several_lines() -> None:
    body = parse_body("x = self.a &&\n  self.b # why\ny = 1\n", "f")

    assert body.attributes["x"].expression.text.startswith("self.a &&\n  self.b")
    assert body.attributes["y"].source == "f:3"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('x = "a', "f:1: This is not HCL"),
        ("x = 1\n}\n", "f:2: This is not HCL"),
        ("x = [1,\n", "f:2: This is not HCL"),
        ("x = 1 y = 2", "f:1: Two definitions stand on one line"),
        ("x = 1\nx = 2\n", "f:2: x is already set in f:1."),
        ('b "${var.x}" {\n}\n', "f:1: A label must be written out"),
        ("#" * (MAX_BYTES + 1), "f:1: The file is larger than"),
        ("\x00", "f:1: This is not HCL"),
    ],
)
def test_what_is_no_hcl_is_refused(text: str, expected: str) -> None:
    with pytest.raises(CodeInvalid) as caught:
        parse_body(text, "f")

    assert str(caught.value).startswith(expected)
