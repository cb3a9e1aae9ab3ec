"""`format` and `formatlist`. `test_functions.py` holds every function to Terraform; here is what no table shows."""

import pytest

from gateway.terraform.lang.functions_format import FUNCTIONS
from gateway.terraform.lang.values import Unknown


@pytest.mark.parametrize("pattern", ["%#x", "%05s", "%-05d", "%.3d", "%g", "%999999d"])
def test_what_is_written_differently_in_some_version_is_unknown(pattern: str) -> None:
    with pytest.raises(Unknown):
        FUNCTIONS["format"](pattern, 10**7)


def test_a_tie_is_rounded_only_if_its_binary_number_is_exact() -> None:
    assert FUNCTIONS["format"]("%.1f", 0.25) == "0.2"
    with pytest.raises(Unknown):
        FUNCTIONS["format"]("%.1f", 0.35)
