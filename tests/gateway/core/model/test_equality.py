"""Values are equal exactly if Terraform converts one to the other."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.model.equality import equal, number, written
from gateway.core.model.json import Json


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


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (6, Fraction(6)),
        (0.1, Fraction(1, 10)),
        ("0.1", Fraction(1, 10)),
        ("-7", Fraction(-7)),
        (10**400, Fraction(10**400)),
        (True, None),
        (None, None),
        (math.nan, None),
        (math.inf, None),
        ("", None),
        (" 6", None),
        ("6\n", None),
        ("1e3", None),
        ("0x10", None),
        ("٦", None),
        ("1" * 41, None),
        ([6], None),
        ({"a": 1}, None),
    ],
)
def test_only_plain_decimals_are_numbers(value: Json, expected: Fraction | None) -> None:
    assert number(value) == expected


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_writing_a_number_keeps_its_value(value: float) -> None:
    exact = number(value)
    assert exact is not None
    assert number(written(exact, like=value)) == exact


def test_a_number_is_written_in_the_type_of_the_example() -> None:
    assert written(Fraction(16), like="20") == "16"
    assert written(Fraction(16), like=20.0) == 16
    assert written(Fraction(10**400, 3), like=1) == math.inf
