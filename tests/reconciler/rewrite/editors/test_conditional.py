"""An expression becomes a conditional; a map gets an entry for one instance by merge()."""

from pathlib import Path

import pytest

from gateway.model.json import Json
from reconciler.model import Wanted
from reconciler.rewrite.edit import edit


def _edited(root: Path, body: str, path: str, value: Json) -> str:
    code = f'resource "r" "a" {{\n  count = 2\n  {body}\n}}\n'
    result = edit(root, [Wanted(address="r.a[1]", attribute=path, value=value)], {Path("main.tf"): code.encode()})
    if result.left:
        return result.left[0].reason
    return result.files[Path("main.tf")].decode().split("\n", 2)[2].strip().removesuffix("}").strip()


@pytest.mark.parametrize(
    ("body", "path", "value", "after"),
    [
        ("x = 1", "x", 2, "x = count.index == 1 ? 2 : 1"),
        ('x = ["a"]', "x", ["b"], 'x = count.index == 1 ? ["b"] : ["a"]'),
        ("x = merge({ a = 1 }, {})", "x.b", 2, "x = merge({ a = 1 }, {}, count.index == 1 ? { b = 2 } : {})"),
    ],
)
def test_one_instance_differs(body: str, path: str, value: Json, after: str, tmp_path: Path) -> None:
    assert _edited(tmp_path, body, path, value) == after


def test_an_entry_is_not_taken_from_one_instance(tmp_path: Path) -> None:
    assert "r.a[0]" in _edited(tmp_path, "x = { a = 1 }", "x.a", None)
