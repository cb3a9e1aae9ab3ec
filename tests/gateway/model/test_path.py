"""Attribute paths: their parts, the values they find, the paths they cover, and setting a value."""

import pytest

from gateway.model.json import Json
from gateway.model.path import AttributePath

RESOURCE: Json = {"tags": {"owner": "a"}, "vpc": [{"ids": [1, 2]}], "two": [{"a": 1}, {"a": 2}], "none": None}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tags", {"owner": "a"}),
        ("tags.owner", "a"),
        ("tags.missing", None),
        ("tags.owner.deeper", None),
        ("vpc.ids", [1, 2]),
        ("vpc.0.ids.1", 2),
        ("two.a", None),
        ("two.1.a", 2),
        ("two.7.a", None),
        ("none", None),
        ("none.x", None),
    ],
)
def test_a_path_finds_its_value_or_none(path: str, expected: Json) -> None:
    assert AttributePath(path).value_at(RESOURCE) == expected


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
    assert AttributePath(path).covers(other) is expected


def test_the_parts_of_a_path() -> None:
    path = AttributePath("a.b.c")
    assert (path.top, path.last, path.steps) == ("a", "c", ("a", "b", "c"))
    assert path.enclosing == ("a.b.c", "a.b", "a")
    assert (AttributePath("a").top, AttributePath("a").last) == ("a", "a")


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("a", {"a": 1, "b": 2}, {"a": 9, "b": 2}),
        ("a", {"b": 2}, {"a": 9, "b": 2}),
        ("tags.x", {"tags": {"x": 1, "y": 2}}, {"tags": {"x": 9, "y": 2}}),
        ("tags.x", {}, {"tags": {"x": 9}}),
        ("tags.x", {"tags": None}, {"tags": {"x": 9}}),
        ("tags.x", {"tags": "odd"}, {"tags": {"x": 9}}),
        ("block.a", {"block": [{"a": 1, "b": 2}]}, {"block": [{"a": 9, "b": 2}]}),
        ("block.a", {"block": []}, {"block": [{"a": 9}]}),
        ("block.deep.a", {"block": [{"deep": [{"a": 1}]}]}, {"block": [{"deep": [{"a": 9}]}]}),
        ("block", {"block": [{"a": 1}]}, {"block": 9}),
    ],
)
def test_a_value_is_put_at_its_path_and_found_there(path: str, before: dict[str, Json], after: dict[str, Json]) -> None:
    untouched = repr(before)
    changed = AttributePath(path).put(before, 9)
    assert changed == after
    assert AttributePath(path).value_at(changed) == 9
    assert repr(before) == untouched
