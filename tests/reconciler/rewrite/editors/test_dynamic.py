"""A dynamic block is added in its place; what one list cannot hold is refused."""

from pathlib import Path

import pytest

from gateway.terraform.lang.hcl import parse
from reconciler.rewrite.editors.dynamic import edit, rows_of
from reconciler.rewrite.editors.text import CannotEdit

CODE = b"""resource "aws_x" "a" {
  size = 1

  lifecycle {
    prevent_destroy = true
  }
}
"""


def test_the_block_stands_before_lifecycle() -> None:
    document = parse(Path("main.tf"), CODE)
    (block,) = document.blocks(document.root)
    after = edit(document, block, "rule", ["id", "enabled"], "var.rule").apply(CODE).decode()
    assert (
        after
        == """resource "aws_x" "a" {
  size = 1

  dynamic "rule" {
    for_each = var.rule

    content {
      id      = rule.value.id
      enabled = rule.value.enabled
    }
  }

  lifecycle {
    prevent_destroy = true
  }
}
"""
    )


def test_a_block_on_one_line_is_refused() -> None:
    document = parse(Path("main.tf"), b'resource "aws_x" "a" { size = 1 }\n')
    (block,) = document.blocks(document.root)
    with pytest.raises(CannotEdit, match="one line"):
        edit(document, block, "rule", [], "var.rule")


def test_rows_keep_what_is_set() -> None:
    assert rows_of([{"id": "a", "note": "", "on": False}]) == [{"id": "a", "on": False}]


@pytest.mark.parametrize("value", ["x", ["x"], [{"inner": [{"a": 1}]}], [{"inner": {"a": 1}}]])
def test_other_values_are_refused(value: object) -> None:
    with pytest.raises(CannotEdit):
        rows_of(value)  # type: ignore[arg-type]  # among them values that are no list of blocks
