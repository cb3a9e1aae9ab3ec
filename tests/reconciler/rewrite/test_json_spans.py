"""The members of a JSON text are found where they stand, whatever Terraform puts in between."""

import pytest

from reconciler.rewrite.json_spans import NotJson, spans

TEXT = b"""{
  "a": "x-${var.b["k"]}-\\"y\\"",
  "\xc3\xa9": [1, ${jsonencode({ c = "}" })}, { "b.c": true }],
  "d": "$${aws:username}"
}"""


@pytest.mark.parametrize(
    ("steps", "found"),
    [
        (("a",), b'"x-${var.b["k"]}-\\"y\\""'),
        (("\u00e9", "0"), b"1"),
        (("\u00e9", "1"), b'${jsonencode({ c = "}" })}'),
        (("\u00e9", "2", "b", "c"), b"true"),
        (("d",), b'"$${aws:username}"'),
        ((), TEXT),
    ],
)
def test_a_member_is_found(steps: tuple[str, ...], found: bytes) -> None:
    span = spans(TEXT).at(steps)
    assert span is not None
    assert TEXT[span.start : span.end] == found


def test_what_is_not_there_is_not_found() -> None:
    assert spans(TEXT).at(("x",)) is None
    assert spans(TEXT).at(("\u00e9", "9")) is None


def test_an_interpolation_is_told_from_a_text() -> None:
    item = spans(TEXT).at(("\u00e9", "1"))
    text = spans(TEXT).at(("a",))
    assert item is not None
    assert text is not None
    assert (item.kind, text.kind) == ("interpolation", "text")


@pytest.mark.parametrize("text", [b"", b"{", b'{"a" 1}', b"[1 2]", b'{"a": ${', b"{} {}", b"{a: 1}", b"?"])
def test_other_texts_are_refused(text: bytes) -> None:
    with pytest.raises(NotJson):
        spans(text)
