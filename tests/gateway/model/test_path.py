"""Attribute paths: what they find and what they cover."""

import pytest

from gateway.model.json import Json
from gateway.model.path import covers, value_at

THING: Json = {"tags": {"owner": "a"}, "vpc": [{"ids": [1, 2]}], "two": [{"a": 1}, {"a": 2}], "none": None}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tags", {"owner": "a"}),
        ("tags.owner", "a"),
        ("tags.missing", None),
        ("tags.owner.deeper", None),
        ("vpc.ids", [1, 2]),
        ("two.a", None),
        ("none", None),
        ("none.x", None),
    ],
)
def test_a_path_finds_its_value_or_none(path: str, expected: Json) -> None:
    assert value_at(THING, path) == expected


@pytest.mark.parametrize(
    ("path", "other", "expected"),
    [
        ("tags", "tags", True),
        ("tags", "tags.owner", True),
        ("tags.owner", "tags", False),
        ("tags", "tags_all", False),
    ],
)
def test_a_path_covers_itself_and_its_parts(path: str, other: str, expected: bool) -> None:
    assert covers(path, other) is expected
