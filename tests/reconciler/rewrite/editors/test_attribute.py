"""Missing attributes are added where they belong, aligned."""

from pathlib import Path

import pytest

from gateway.core.model.json import Json
from tests.reconciler.rewrite.editors.edited_resource import edited_attribute, resource


@pytest.mark.parametrize(
    ("before", "path", "value", "after"),
    [
        ("  a = 1\n", "long", 2, "  a    = 1\n  long = 2\n"),
        ("  a = 1\n\n  bb = 2\n", "x", 2, "  a = 1\n  x = 2\n\n  bb = 2\n"),
        ("  a = [\n    1,\n  ]\n", "x", 2, "  x = 2\n  a = [\n    1,\n  ]\n"),
        ("", "x", "v", '  x = "v"\n'),
        ("  b {\n    y = 1\n  }\n", "b.long", 2, "  b {\n    y    = 1\n    long = 2\n  }\n"),
        ("  b {}\n", "b.y", 2, "  b {\n    y = 2\n  }\n"),
        ("  a = 1\n", "x", [1, 2], "  a = 1\n  x = [1, 2]\n"),
        ("  a = 1\n  b = 2\n", "long", 3, "  a = 1\n  b = 2\n\n  long = 3\n"),
        ("  a = 1\n  b = 2\n\n  c {}\n", "long", 3, "  a = 1\n  b = 2\n\n  long = 3\n\n  c {}\n"),
        ("  a  = 1\n  bb = 2\n\n  other = 3\n", "long", 3, "  a  = 1\n  bb = 2\n\n  other = 3\n  long  = 3\n"),
        ("  a = 1\n  bb = 2\n", "long", 3, "  a = 1\n  bb = 2\n  long = 3\n"),
        ("  a    = 1\n", "tags", {"x": "y"}, '  a    = 1\n  tags = { x = "y" }\n'),
        ("  a = 1\n", "tags", {"x": "y" * 70}, '  a = 1\n\n  tags = {\n    x = "' + "y" * 70 + '"\n  }\n'),
    ],
)
def test_what_is_written(before: str, path: str, value: Json, after: str, tmp_path: Path) -> None:
    assert edited_attribute(tmp_path, before, path, value) == resource(after)


@pytest.mark.parametrize(
    ("before", "path", "value", "reason"),
    [
        ("  a = 1\n", "not a name", 2, "not a valid attribute name"),
        ("  a = 1\n", "b.c", 2, "a block is not added"),
        ("  a = 1\n", "lifecycle", {"c": 1}, "Terraform itself reads it"),
        ("  a = 1\n", "count", 2, "Terraform itself reads it"),
        ("  b { /* c */ }\n", "b.y", 2, "one line with a comment"),
    ],
)
def test_what_is_refused(before: str, path: str, value: Json, reason: str, tmp_path: Path) -> None:
    assert reason in edited_attribute(tmp_path, before, path, value)
