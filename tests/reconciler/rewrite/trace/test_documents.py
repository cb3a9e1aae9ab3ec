"""A member of a JSON text: what Terraform puts in there is followed, else the text itself is the site."""

from pathlib import Path

import pytest

from gateway.core.model.json import Json
from reconciler.model import Wanted
from reconciler.rewrite.trace.documents import NotJson, spans
from reconciler.rewrite.value_edits import edit_values

CODE = """variable "mode" {
  default = "dev"
}

variable "names" {
  default = ["a"]
}

resource "r" "a" {
  text = <<-EOT
    {
      "mode": "x-${var.mode}",
      "names": ${jsonencode([for name in var.names : "n-${name}"])},
      "plain": { "a": 1 }
    }
  EOT
}
"""


def _edited(root: Path, path: str, value: Json, code: str = CODE) -> str:
    result = edit_values(
        root, [Wanted(address="r.a", attribute=f"text.{path}", value=value)], {Path("main.tf"): code.encode()}
    )
    return result.left[0].reason if result.left else result.files[Path("main.tf")].decode()


@pytest.mark.parametrize(
    ("path", "value", "old", "new"),
    [
        ("mode", "x-prod", '"dev"', '"prod"'),
        ("mode", "y", '"x-${var.mode}"', '"y"'),
        ("names", ["n-a", "n-b"], '["a"]', '["a", "b"]'),
        ("plain.a", 2, '"a": 1', '"a": 2'),
        ("plain.b", True, '"a": 1', '"a": 1, "b": true'),
    ],
)
def test_a_member_is_edited_where_it_comes_from(path: str, value: Json, old: str, new: str, tmp_path: Path) -> None:
    assert _edited(tmp_path, path, value) == CODE.replace(old, new)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('"{ mode"', "not one JSON document"),
        ("<<-EOT\n    { mode\n  EOT\n", "not one JSON document"),
    ],
)
def test_other_texts_are_refused(text: str, reason: str, tmp_path: Path) -> None:
    assert reason in _edited(tmp_path, "mode", 2, f'resource "r" "a" {{\n  text = {text}\n}}\n')


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
def test_other_texts_are_refused_json_spans(text: bytes) -> None:
    with pytest.raises(NotJson):
        spans(text)
