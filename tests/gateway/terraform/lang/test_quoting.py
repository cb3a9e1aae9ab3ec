"""Texts and templates get the escapes of HCL, and lose them again."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.terraform.lang import expression as e
from gateway.terraform.lang.grammar import parse_expression
from gateway.terraform.lang.quoting import escaped_character, plain_template, quoted_template, quoted_text
from gateway.terraform.lang.values import Unknown

TEXTS = st.text(st.characters(codec="utf-8") | st.sampled_from('$%{}"\\\n'))


@given(st.text(st.sampled_from('ab$%{}"\\\n\t\x07\u200b')))
def test_a_quoted_text_is_that_text(text: str) -> None:
    written = parse_expression(quoted_text(text))
    assert isinstance(written, e.LiteralValue)
    assert written.value == text


@given(TEXTS)
@example('a "${f("}", "${x}\\"")}" \\ %{ if a }\n%{ endif }$${b}')
def test_a_template_is_the_same_after_both_ways(text: str) -> None:
    try:
        quoted = quoted_template(text)
    except Unknown:
        return
    assert plain_template(quoted) == text


def test_code_in_a_template_keeps_its_own_escapes() -> None:
    assert quoted_template('say "${f("a\\"b")}"\n') == '"say \\"${f("a\\"b")}\\"\\n"'


@pytest.mark.parametrize("text", ["${", '${"}', "%{ if x", '${"${"}"}'])
def test_what_does_not_end_is_unknown(text: str) -> None:
    with pytest.raises(Unknown, match="does not end"):
        quoted_template(text)


def test_a_character_without_a_form_of_its_own_is_written_by_its_number() -> None:
    assert [escaped_character(each) for each in "a\n\x00\U000e0001"] == ["a", "\\n", "\\u0000", "\\U000e0001"]


@pytest.mark.parametrize("text", ['${"' * 10_000, "${" * 10_000 + "}" * 9_999])
def test_thousands_of_them_one_in_the_other_are_read_without_recursion(text: str) -> None:
    with pytest.raises(Unknown):
        quoted_template(text)
