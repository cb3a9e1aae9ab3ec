"""Nested blocks are added after their siblings and removed with their comment."""

from pathlib import Path

import pytest

from gateway.model.json import Json
from reconciler.rewrite.editors.blocks import block_text
from reconciler.rewrite.editors.text import CannotEdit
from tests.reconciler.rewrite.editors.edited_resource import edited, resource

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
    assert edited(tmp_path, before, "b", value) == resource(after)


@pytest.mark.parametrize(
    ("before", "value", "reason"),
    [
        ("  b { c = 1 }\n", [{"not a name": 1}, {"c": 1}], "not a valid attribute name"),
        ("  b {\n    c = r.other.id\n  }\n", [{"c": 2}, {"c": 3}], "another object"),
    ],
)
def test_what_is_refused(before: str, value: Json, reason: str, tmp_path: Path) -> None:
    assert reason in edited(tmp_path, before, "b", value)


def test_a_block_has_its_attributes_first_and_no_noise() -> None:
    row: dict[str, Json] = {"z": [{"a": 1}], "to_port": 2, "from_port": 0, "list": [], "text": "", "none": None}
    assert block_text("b", row, "") == "b {\n  from_port = 0\n  to_port   = 2\n\n  z {\n    a = 1\n  }\n}"
    with pytest.raises(CannotEdit):
        block_text("b", {"a b": 1}, "")
