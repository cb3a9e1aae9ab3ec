"""New entries take the style of those before them, and a removed entry leaves the others as they are."""

from pathlib import Path

import pytest

from gateway.core.model.json import Json
from tests.reconciler.rewrite.editors.edited_resource import edited_attribute, resource


@pytest.mark.parametrize(
    ("before", "path", "value", "after"),
    [
        ("  x = { a = 1 }\n", "x.b", 2, "  x = { a = 1, b = 2 }\n"),
        ("  x = { a : 1 }\n", "x.b", 2, "  x = { a : 1, b : 2 }\n"),
        ('  x = { "a" = 1 }\n', "x.b", 2, '  x = { "a" = 1, "b" = 2 }\n'),
        ("  x = {}\n", "x.b", 2, "  x = { b = 2 }\n"),
        ("  x = {\n    a = 1 # one\n  }\n", "x.long", 2, "  x = {\n    a    = 1 # one\n    long = 2\n  }\n"),
        ("  x = {\n    a = 1,\n  }\n", "x.b", 2, "  x = {\n    a = 1,\n    b = 2,\n  }\n"),
        ("  x = { a = 1 }\n", "x.b.c/d", 2, '  x = { a = 1, "b.c/d" = 2 }\n'),
        ("  x = { a = { b = 1 } }\n", "x.c.d", 1, "  x = { a = { b = 1 }, c = { d = 1 } }\n"),
        ('  x = lookup({}, "k", 5)\n', "x", 6, '  x = lookup({ k = 6 }, "k", 5)\n'),
    ],
)
def test_what_is_written(before: str, path: str, value: Json, after: str, tmp_path: Path) -> None:
    assert edited_attribute(tmp_path, before, path, value) == resource(after)


@pytest.mark.parametrize(
    ("before", "path", "value", "reason"),
    [
        ("  x = { # c\n  }\n", "x.a", 1, "comments"),
        ("  x = { a = 1,\n    b = 2 }\n", "x.c", 1, "one entry on a line"),
    ],
)
def test_what_is_refused(before: str, path: str, value: Json, reason: str, tmp_path: Path) -> None:
    assert reason in edited_attribute(tmp_path, before, path, value)


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
def test_what_a_removal_writes(before: str, path: str, value: Json, after: str, tmp_path: Path) -> None:
    assert edited_attribute(tmp_path, before, path, value) == resource(after)


@pytest.mark.parametrize(
    ("before", "path", "value", "reason"),
    [
        ("  x = {\n    a = 1 # why\n  }\n", "x.a", None, "comment"),
        ("  x = { a = 1,\n    b = 2 }\n", "x.a", None, "one entry on a line"),
    ],
)
def test_what_a_removal_refuses(before: str, path: str, value: Json, reason: str, tmp_path: Path) -> None:
    assert reason in edited_attribute(tmp_path, before, path, value)
