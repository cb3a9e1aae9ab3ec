"""Numbers are exact, and only plain decimal text is a number."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.model.json import Json
from gateway.model.numeric import number, written


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
