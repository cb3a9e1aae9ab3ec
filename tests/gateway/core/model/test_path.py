"""Attribute paths: their parts, the values they find, the paths they cover, and setting a value."""

from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.model.json import Json
from gateway.core.model.path import AttributePath, Overlaps, put_all
from tests.kit.growth import assert_linear

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


@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "a.b", "a.b.c", "a.d", "e", "e.0", "e.f", "g.h"]), st.integers() | st.none())
    ),
    st.dictionaries(
        st.sampled_from("aeg"),
        st.integers() | st.just([]) | st.just([{"b": 1}]) | st.just({"b": {"c": 1}}) | st.just([1, 2]),
    ),
)
def test_putting_all_at_once_is_putting_one_after_the_other(
    changes: list[tuple[str, Json]], before: dict[str, Json]
) -> None:
    after: Mapping[str, Json] = before
    for path, value in changes:
        after = AttributePath(path).put(after, value)
    assert put_all(before, changes) == after


def test_putting_all_is_linear_also_within_one_map() -> None:
    def make(count: int) -> Callable[[], object]:
        changes: list[tuple[str, Json]] = [(f"tags.k{number}", number) for number in range(count)]
        return lambda: put_all({"tags": {}}, changes)

    assert_linear(make, 100)


ITEMS = Overlaps(
    ("a", attribute, attribute) for attribute in ("tags", "tags.owner", "tags.owner.x", "tagset", "size", "*")
)


@pytest.mark.parametrize(
    ("attribute", "found"),
    [
        ("tags", {"tags", "tags.owner", "tags.owner.x", "*"}),
        ("tags.owner", {"tags", "tags.owner", "tags.owner.x", "*"}),
        ("tags.owner.x.y", {"tags", "tags.owner", "tags.owner.x", "*"}),
        ("tags.other", {"tags", "*"}),
        ("size", {"size", "*"}),
        ("nothing", {"*"}),
        ("*", {"tags", "tags.owner", "tags.owner.x", "tagset", "size", "*"}),
    ],
)
def test_what_overlaps(attribute: str, found: set[str]) -> None:
    overlapping = ITEMS.of("a", attribute)
    assert set(overlapping) == found
    assert len(overlapping) == len(found)


def test_another_resource_does_not_overlap() -> None:
    assert ITEMS.of("b", "tags") == ()
    assert ITEMS.of("b", "*") == ()


def test_the_work_grows_with_the_number_of_attributes_not_with_its_square() -> None:
    def look_up(size: int) -> None:
        overlaps = Overlaps(("a", f"tags.k{number}", number) for number in range(size))
        for number in range(size):
            overlaps.of("a", f"tags.k{number}")

    assert_linear(lambda size: lambda: look_up(size), 100)
