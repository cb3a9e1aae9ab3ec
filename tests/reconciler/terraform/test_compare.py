"""Values are compared as providers mean them."""

import pytest

from gateway.core.model.json import Json
from reconciler.terraform.compare import agrees, differences, same


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (None, {}, True),
        (None, "", True),
        ({"a": None, "b": 1}, {"b": 1}, True),
        ('{"a": 1}', '{ "a" : 1 }', True),
        ("{not json", "{not json", True),
        (6, "6", True),
        (6, 6.0, True),
        (True, "true", True),
        (True, 1, False),
        (0, None, False),
        (0, False, False),
        ([1, 2], [2, 1], False),
        ([{"a": 1}, {"a": 2}], [{"a": 2}, {"a": 1}], True),
        ([{"a": 1}, {"a": 1}], [{"a": 1}, {"a": 2}], False),
        ("a", "b", False),
    ],
)
def test_same(one: Json, other: Json, expected: bool) -> None:
    assert same(one, other) is expected
    assert same(other, one) is expected


@pytest.mark.parametrize(
    ("called", "live", "expected"),
    [
        (6, 6, True),
        (6, 9, False),
        ([{"from_port": 22}], [{"from_port": 22, "self": False}], True),
        ([{"from_port": 22}], [{"from_port": 23, "self": False}], False),
        ([{"from_port": 22}], [{"from_port": 22}, {"from_port": 23}], False),
        (["b", "a"], ["a", "b"], True),
    ],
)
def test_a_live_value_agrees_where_it_only_fills_in(called: Json, live: Json, expected: bool) -> None:
    assert agrees(called, live) is expected


def test_differences_are_as_small_as_they_can_be() -> None:
    live: Json = {"tags": {"a": "1", "b": "2"}, "versioning": [{"status": "On", "mfa": "x"}], "dotted": {"k/x.io": "1"}}
    code: Json = {
        "tags": {"a": "1", "c": "3"},
        "versioning": [{"status": "Off", "mfa": "x"}],
        "dotted": {"k/x.io": "2"},
    }
    assert list(differences(live, code, ())) == [
        (("dotted", "k/x.io"), "1", "2"),
        (("tags", "b"), "2", None),
        (("tags", "c"), None, "3"),
        (("versioning", "status"), "On", "Off"),
    ]
