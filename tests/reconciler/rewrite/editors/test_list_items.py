"""Lists of plain values keep the lines and comments of the items that stay."""

from pathlib import Path

import pytest

from gateway.model.json import Json
from tests.reconciler.rewrite.editors.edited_resource import edited, resource


@pytest.mark.parametrize(
    ("before", "path", "value", "after"),
    [
        ("  x = [1, 2]\n", "x", [2, 3], "  x = [2, 3]\n"),
        ("  x = []\n", "x", ["a"], '  x = ["a"]\n'),
        ('  x = ["a"] # c\n', "x", [], "  x = [] # c\n"),
        (
            '  x = [\n    "a", # one\n    # two\n    "b",\n  ]\n',
            "x",
            ["b", "c"],
            '  x = [\n    # two\n    "b",\n    "c",\n  ]\n',
        ),
        ('  x = [\n    "a",\n    "b"\n  ]\n', "x", ["a", "b", "c"], '  x = [\n    "a",\n    "b",\n    "c"\n  ]\n'),
        ('  x = [\n    "a",\n    # end\n  ]\n', "x", ["b"], '  x = [\n    "b",\n    # end\n  ]\n'),
        ('  x = toset(["b", "a"])\n', "x", ["a", "c"], '  x = toset(["a", "c"])\n'),
    ],
)
def test_what_is_written(before: str, path: str, value: Json, after: str, tmp_path: Path) -> None:
    assert edited(tmp_path, before, path, value) == resource(after)


@pytest.mark.parametrize(
    ("before", "path", "value", "reason"),
    [
        ("  x = [var.a, 1]\n", "x", [2], "calculated"),
        ('  x = ["a"]\n', "x", "b", "not a list"),
        ('  x = [ # c\n    "a", "b"\n  ]\n', "x", ["c"], "one item on a line"),
        ("  x = [1 /* c */]\n", "x", [2], "comments"),
    ],
)
def test_what_is_refused(before: str, path: str, value: Json, reason: str, tmp_path: Path) -> None:
    assert reason in edited(tmp_path, before, path, value)
