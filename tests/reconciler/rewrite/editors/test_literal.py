"""Literals are replaced, and no other byte changes."""

from pathlib import Path

import pytest

from gateway.core.model.json import Json
from tests.reconciler.rewrite.editors.edited_resource import edited_attribute, resource


@pytest.mark.parametrize(
    ("before", "path", "value", "after"),
    [
        ("  x = 1 # c\n", "x", 2, "  x = 2 # c\n"),
        ('  x = "1"\n', "x", 2, '  x = "2"\n'),
        ("  x = 1\n", "x", "2", "  x = 2\n"),
        ("  x = 1\n", "x", "02", '  x = "02"\n'),
        ("  x = true\n", "x", "false", "  x = false\n"),
        ('  x = "true"\n', "x", False, '  x = "false"\n'),
        ("  x = null\n", "x", [1, 2], "  x = [1, 2]\n"),
        ("  x = 5\n", "x", None, "  x = null\n"),
        ("  x = (5)\n", "x", 7, "  x = (7)\n"),
        ('  x = "a" # "b"\n', "x", "c", '  x = "c" # "b"\n'),
        ("  x = {}\n", "x", {"a": 1}, "  x = { a = 1 }\n"),
        ("  x = 1.5\n", "x", 2, "  x = 2\n"),
        ("  x = 1 + 1\n", "x", 3, "  x = 3\n"),
        ("  x = 1 + 1\n", "x", "3", "  x = 3\n"),
        ("  x = 1 == 1\n", "x", False, "  x = false\n"),
    ],
)
def test_what_is_written(before: str, path: str, value: Json, after: str, tmp_path: Path) -> None:
    assert edited_attribute(tmp_path, before, path, value) == resource(after)


@pytest.mark.parametrize(
    ("before", "path", "value", "reason"),
    [
        ("  x = <<EOT\na\nEOT\n", "x", "b\n", "heredoc"),
        ("  x = 1 + 1\n", "x", "a", "wanted value is none"),
        ("  x = 2 * aws_a.b.size\n", "x", 3, "another object"),
        ("  x = 1 == 1\n", "x", 2, "A bool is calculated here"),
        ("  x = 5 % 2\n", "x", 0, "not calculated from numbers"),
        ('  x = "e"\n', "x", "é", "normal form C"),
        ("  x = 1\n", "x", float("nan"), "no such number"),
        ("  x = 1\n", "x", "\ud800", "normal form C"),
    ],
)
def test_what_is_refused(before: str, path: str, value: Json, reason: str, tmp_path: Path) -> None:
    assert reason in edited_attribute(tmp_path, before, path, value)
