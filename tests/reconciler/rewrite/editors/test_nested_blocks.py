"""Nested blocks are added after their siblings and removed with their comment."""

from pathlib import Path

import pytest

from gateway.core.model.json import Json
from gateway.terraform.lang.hcl import parse
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.rewrite.editors.nested_blocks import add_dynamic_block, block_text, rows_of_value
from tests.reconciler.rewrite.editors.edited_resource import edited_attribute, resource

ONE = "  a = 1\n\n  # why\n  b {\n    c = 1\n  }\n"


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ("  a = 1\n", [{"c": 1}], "  a = 1\n\n  b {\n    c = 1\n  }\n"),
        ("", [{"c": 1}], "  b {\n    c = 1\n  }\n"),
        (ONE, [], "  a = 1\n"),
        (ONE, [{"c": 1}, {"c": 2}], ONE + "\n  b {\n    c = 2\n  }\n"),
        (ONE, [{"c": 2}], "  a = 1\n\n  # why\n  b {\n    c = 2\n  }\n"),
        (
            "  a = 1\n\n  lifecycle {\n  }\n",
            [{"c": 1}],
            "  a = 1\n\n  b {\n    c = 1\n  }\n\n  lifecycle {\n  }\n",
        ),
        (
            "  b {\n    c = 1\n  }\n  b {\n    c = 2\n  }\n",
            [{"c": 1}, {"c": 2}, {"c": 3}],
            "  b {\n    c = 1\n  }\n  b {\n    c = 2\n  }\n  b {\n    c = 3\n  }\n",
        ),
        (
            "  b {\n    c = 1\n  }\n\n  # two\n  b {\n    c = 2\n  }\n",
            [{"c": 1}],
            "  b {\n    c = 1\n  }\n",
        ),
    ],
)
def test_blocks_are_added_and_removed(before: str, value: Json, after: str, tmp_path: Path) -> None:
    assert edited_attribute(tmp_path, before, "b", value) == resource(after)


@pytest.mark.parametrize(
    ("before", "value", "reason"),
    [
        ("  b { c = 1 }\n", [{"not a name": 1}, {"c": 1}], "not a valid attribute name"),
        ("  b {\n    c = r.other.id\n  }\n", [{"c": 2}, {"c": 3}], "another object"),
    ],
)
def test_what_is_refused(before: str, value: Json, reason: str, tmp_path: Path) -> None:
    assert reason in edited_attribute(tmp_path, before, "b", value)


def test_a_block_has_its_attributes_first_and_no_noise() -> None:
    row: dict[str, Json] = {"z": [{"a": 1}], "to_port": 2, "from_port": 0, "list": [], "text": "", "none": None}
    assert block_text("b", row, "") == "b {\n  from_port = 0\n  to_port   = 2\n\n  z {\n    a = 1\n  }\n}"
    with pytest.raises(CannotEdit):
        block_text("b", {"a b": 1}, "")


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
    after = add_dynamic_block(document, block, "rule", ["id", "enabled"], "var.rule").apply(CODE).decode()
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
        add_dynamic_block(document, block, "rule", [], "var.rule")


def test_rows_keep_what_is_set() -> None:
    assert rows_of_value([{"id": "a", "note": "", "on": False}]) == [{"id": "a", "on": False}]


@pytest.mark.parametrize("value", ["x", ["x"], [{"inner": [{"a": 1}]}], [{"inner": {"a": 1}}]])
def test_other_values_are_refused(value: object) -> None:
    with pytest.raises(CannotEdit):
        rows_of_value(value)  # type: ignore[arg-type]  # among them values that are no list of blocks
