"""Lists of plain values keep the lines and comments of the items that stay."""

from pathlib import Path

import pytest

from gateway.model.json import Json
from reconciler.model import Wanted
from reconciler.rewrite.edit import edit


def _edited(root: Path, code: str, path: str, value: Json) -> str:
    """The code after the edit, or the reason why there is none."""
    wanted = Wanted(address="r.a", attribute=path, value=value)
    result = edit(root, [wanted], {Path("main.tf"): code.encode()})
    return result.left[0].reason if result.left else result.files[Path("main.tf")].decode()


def _resource(body: str) -> str:
    return 'resource "r" "a" {\n' + body + "}\n"


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
    assert _edited(tmp_path, _resource(before), path, value) == _resource(after)


@pytest.mark.parametrize(
    ("before", "path", "value", "reason"),
    [
        ("  x = [var.a, 1]\n", "x", [2], "calculated"),
        ('  x = ["a"]\n', "x", [{"b": 1}], "plain values"),
        ('  x = ["a"]\n', "x", "b", "not a list"),
        ('  x = [ # c\n    "a", "b"\n  ]\n', "x", ["c"], "one item on a line"),
        ("  x = [1 /* c */]\n", "x", [2], "comments"),
    ],
)
def test_what_is_refused(before: str, path: str, value: Json, reason: str, tmp_path: Path) -> None:
    assert reason in _edited(tmp_path, _resource(before), path, value)
