"""Entries whose live value is gone are removed."""

from pathlib import Path

import pytest

from gateway.model.json import Json
from tests.reconciler.rewrite.editors.edited_resource import edited, resource


@pytest.mark.parametrize(
    ("before", "path", "value", "after"),
    [
        ("  x = { a = 1, b = 2 }\n", "x.a", None, "  x = { b = 2 }\n"),
        ("  x = { a = 1, b = 2 }\n", "x.b", None, "  x = { a = 1 }\n"),
        ("  x = { a = 1 }\n", "x.a", None, "  x = {}\n"),
        ("  x = {\n    a    = 1\n    long = 2\n  }\n", "x.long", None, "  x = {\n    a = 1\n  }\n"),
        ("  x = {\n    a = 1,\n    b = 2,\n  }\n", "x", {"b": 2}, "  x = {\n    b = 2,\n  }\n"),
    ],
)
def test_what_is_written(before: str, path: str, value: Json, after: str, tmp_path: Path) -> None:
    assert edited(tmp_path, before, path, value) == resource(after)


@pytest.mark.parametrize(
    ("before", "path", "value", "reason"),
    [
        ("  x = {\n    a = 1 # why\n  }\n", "x.a", None, "comment"),
        ("  x = { a = 1,\n    b = 2 }\n", "x.a", None, "one entry on a line"),
    ],
)
def test_what_is_refused(before: str, path: str, value: Json, reason: str, tmp_path: Path) -> None:
    assert reason in edited(tmp_path, before, path, value)
