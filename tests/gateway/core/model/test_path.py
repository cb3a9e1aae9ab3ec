"""Attribute paths: their parts, the values they find, the paths they cover, and setting a value."""

from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.model.json import Json
from gateway.core.model.path import AttributePath, Overlaps, key_of, put_all, step_of, written_path
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
    assert (path.key, AttributePath("a").key) == ("b.c", "")


def test_the_parts_of_a_path_with_a_key_that_has_dots() -> None:
    path = AttributePath("a.b%2Ec.d%252E")
    assert (path.top, path.last, path.steps) == ("a", "d%2E", ("a", "b.c", "d%2E"))
    assert path.enclosing == ("a.b%2Ec.d%252E", "a.b%2Ec", "a")
    assert AttributePath.of(("tags", "app.team")) == "tags.app%2Eteam"
    assert AttributePath("tags.app%2Eteam").key == "app.team"


KEYS = st.text(alphabet="ab.%25E2\u00e9 /", max_size=8)
"""Keys that consist of what escapes are made of."""


@given(st.lists(KEYS, min_size=1, max_size=4))
def test_any_keys_come_back_from_their_path(keys: list[str]) -> None:
    path = AttributePath.of(keys)
    assert path.steps == tuple(keys)
    assert path.last == keys[-1]
    assert AttributePath(path.enclosing[-1]).steps == (keys[0],)
    assert all("." not in step_of(key) for key in keys)


@given(KEYS, KEYS)
def test_two_keys_are_never_one_step_and_none_is_a_part_of_the_other(one: str, other: str) -> None:
    assert (step_of(one) == step_of(other)) == (one == other)
    assert AttributePath.of(("tags", one)).touches(AttributePath.of(("tags", other))) == (one == other)


@given(KEYS, KEYS.filter(bool), st.integers())
def test_a_value_is_put_at_any_key_and_found_there(top: str, key: str, value: int) -> None:
    path = AttributePath.of((top, key))
    assert path.put({top: {"other": 1}}, value)[top] == {"other": 1, key: value}
    assert put_all({}, [(path, value)]) == {top: {key: value}}
    assert path.value_at({top: {key: value}}) == value


@pytest.mark.parametrize("key", ["50%", "a%b", "%", "%2", "%2f", "%2e", "%zz", "100%25".removesuffix("25")])
def test_a_percent_sign_that_begins_no_escape_is_itself_as_older_records_have_it(key: str) -> None:
    assert step_of(key) == key_of(key) == key


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("desired_capacity", "desired_capacity"),
        ("vpc_config.0.subnet_ids", "vpc_config.0.subnet_ids"),
        ("tags", "tags"),
        ("tags.owner", "tags.owner"),
        ("tags.app.team", "tags.app%2Eteam"),
        ("tags.kubernetes.io/x", "tags.kubernetes%2Eio/x"),
        ("tags.app%2Eteam", "tags.app%2Eteam"),
        ('tags["app.team"]', "tags.app%2Eteam"),
        ('tags["owner"]', "tags.owner"),
        ('tags["100%25"]', "tags.100%2525"),
        ('parameters["projection.enabled"]', "parameters.projection%2Eenabled"),
        ("tags.0.key", "tags.0.key"),
        ("tags.50%", "tags.50%"),
    ],
)
def test_people_write_a_key_in_brackets_and_that_of_a_tag_as_it_is(written: str, path: str) -> None:
    assert written_path(written) == path
    assert written_path(path) == path


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
        st.tuples(
            st.sampled_from(["a", "a.b", "a.b.c", "a.b%2Ec", "a.d", "e", "e.0", "e.f", "g.h"]),
            st.integers() | st.none(),
        )
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
