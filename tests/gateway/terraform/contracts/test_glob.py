"""Globs of contracts: `*` and `?` only, never slow."""

import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.terraform.contracts.glob import fits
from tests.kit.growth import assert_linear


@pytest.mark.parametrize("pattern", ["*a*a*a*a*a*b", "*" * 50 + "b", "?*" * 20 + "b", "a*" * 20 + "b"])
def test_no_pattern_is_slow_for_a_long_name(pattern: str) -> None:
    def compared(size: int) -> None:
        assert not fits(pattern, "a" * size)

    assert_linear(lambda size: lambda: compared(size), 200)


@given(pattern=st.text("ab*?", max_size=8), text=st.text("ab", max_size=8))
def test_a_pattern_fits_what_fnmatchfits(pattern: str, text: str) -> None:
    assert fits(pattern, text) is fnmatch.fnmatchcase(text, pattern)
