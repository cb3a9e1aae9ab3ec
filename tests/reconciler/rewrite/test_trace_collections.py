"""Lists and objects in place: their items, their entries, and where a new entry goes."""

from pathlib import Path

import pytest

from gateway.model.json import Json
from tests.reconciler.rewrite.editors.edited_resource import edited, resource


@pytest.mark.parametrize(
    ("before", "path", "value", "after"),
    [
        ("  x = [1, 2]\n", "x.1", 3, "  x = [1, 3]\n"),
        ("  x = { a = { b = 1 } }\n", "x.a.b", 2, "  x = { a = { b = 2 } }\n"),
        ('  x = { "a.b" = 1 }\n', "x.a.b", 2, '  x = { "a.b" = 2 }\n'),
        ("  x = { a = { b = 1 } }\n", "x.c.d", 2, "  x = { a = { b = 1 }, c = { d = 2 } }\n"),
        ("  x = { a = 1 }\n", "x.b", 2, "  x = { a = 1, b = 2 }\n"),
    ],
)
def test_it_is_found_or_made(before: str, path: str, value: Json, after: str, tmp_path: Path) -> None:
    assert edited(tmp_path, before, path, value) == resource(after)


def test_an_item_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    assert "no item 5" in edited(tmp_path, "  x = [1, 2]\n", "x.5", 3)
