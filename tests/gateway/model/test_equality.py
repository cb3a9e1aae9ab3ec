"""Values are equal exactly if Terraform converts one to the other."""

import pytest

from gateway.model.equality import equal
from gateway.model.json import Json


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (6, 6.0, True),
        (6, "6", True),
        ("06", "6", False),
        ("1", "1.0", False),
        (6, "06", True),
        (True, 1, False),
        (True, True, True),
        ("true", True, True),
        ("True", True, False),
        (None, None, True),
        (None, 0, False),
        (None, False, False),
        ("", None, False),
        ([1], [1], True),
        ([1], ["1"], True),
        ([1, 2], [2, 1], False),
        ([1], 1, False),
        ("a", "A", False),
        ({"a": 1}, {"a": "1"}, True),
        ({"a": 1}, {"a": 1, "b": None}, False),
        ({"a": [True]}, {"a": ["true"]}, True),
        ({}, [], False),
    ],
)
def test_equality_is_terraforms(one: Json, other: Json, expected: bool) -> None:
    assert equal(one, other) is expected
    assert equal(other, one) is expected
