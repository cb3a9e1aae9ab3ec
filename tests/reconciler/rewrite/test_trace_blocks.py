"""Blocks are added where they come from: in place, or in the collection of a dynamic block."""

from pathlib import Path

import pytest

from gateway.model.json import Json
from reconciler.model import Wanted
from reconciler.rewrite.edit import edit


def _edited(root: Path, collection: str, content: str, rows: list[Json]) -> str:
    code = f"""locals {{
  doors = {collection}
}}

resource "r" "a" {{
  dynamic "door" {{
    for_each = local.doors
    content {{
{content}
    }}
  }}
}}
"""
    wanted = Wanted(address="r.a", attribute="door", value=rows)
    result = edit(root, [wanted], {Path("main.tf"): code.encode()})
    if result.left:
        return result.left[0].reason
    return result.files[Path("main.tf")].decode().split("\n")[1].strip()


@pytest.mark.parametrize(
    ("collection", "content", "rows", "after"),
    [
        ("[80, 443]", "port = door.value", [{"port": 443}], "doors = [443]"),
        ("[80]", "port = door.value", [{"port": 80}, {"port": 22}], "doors = [80, 22]"),
        ('toset(["a"])', "name = door.value", [{"name": "b"}, {"name": "a"}], 'doors = toset(["a", "b"])'),
        (
            '[{ p = 1, n = "x" }]',
            "      port = door.value.p\n      name = door.value.n",
            [{"port": 1, "name": "x"}, {"port": 2, "name": "y"}],
            'doors = [{ p = 1, n = "x" }, { p = 2, n = "y" }]',
        ),
        ("{ a = 1 }", "      name = door.key\n      port = door.value", [], "doors = {}"),
        (
            "{ a = 1 }",
            "      name = door.key\n      port = door.value",
            [{"name": "a", "port": 1}, {"name": "b", "port": 2}],
            "doors = { a = 1, b = 2 }",
        ),
        ("[1]", "port = door.value + 1", [{"port": 2}, {"port": 3}], "doors = [1, 2]"),
        (
            '[{ p = 1, nets = "a" }]',
            '      port = lookup(door.value, "p", 80)\n      nets = split(",", lookup(door.value, "nets", "all"))',
            [{"port": 1, "nets": ["a"]}, {"port": 80, "nets": ["b", "c"]}, {"port": 5, "nets": ["all"]}],
            'doors = [{ p = 1, nets = "a" }, { nets = "b,c" }, { p = 5 }]',
        ),
    ],
)
def test_the_collection_gets_the_items(
    collection: str, content: str, rows: list[Json], after: str, tmp_path: Path
) -> None:
    assert _edited(tmp_path, collection, content, rows) == after


@pytest.mark.parametrize(
    ("collection", "content", "rows"),
    [
        ("[1]", "      port = door.value * 2", [{"port": 2}, {"port": 3}]),
        ("[1]", "port = door.value", [{"port": 1}, {"port": 2, "name": "x"}]),
        ("{ a = 1 }", "port = door.value", [{"port": 1}, {"port": 2}]),
        ("[1]", '      port = door.value\n      kind = "x"', [{"port": 1, "kind": "x"}, {"port": 2, "kind": "y"}]),
    ],
)
def test_what_no_item_makes_is_written_beside(collection: str, content: str, rows: list[Json], tmp_path: Path) -> None:
    assert _edited(tmp_path, collection, content, rows) == f"doors = {collection}"


def test_a_block_is_taken_away_however_it_is_made(tmp_path: Path) -> None:
    assert _edited(tmp_path, "[1]", "port = door.value + 1", []) == "doors = []"
