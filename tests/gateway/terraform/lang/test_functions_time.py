"""Functions of time stamps. `test_functions.py` holds every function to Terraform; here is what no table shows."""

import pytest

from gateway.terraform.lang.functions_time import FUNCTIONS
from gateway.terraform.lang.values import EvaluationFailed, Unknown


@pytest.mark.parametrize("stamp", ["2018-02-30T00:00:00Z", "2018-01-01 00:00:00Z", "2018-01-01T00:00:00"])
def test_what_is_not_a_time_stamp_fails(stamp: str) -> None:
    with pytest.raises(EvaluationFailed):
        FUNCTIONS["timeadd"](stamp, "1h")


def test_fractions_of_a_second_are_unknown() -> None:
    with pytest.raises(Unknown):
        FUNCTIONS["timecmp"]("2018-01-01T00:00:00.5Z", "2018-01-01T00:00:00Z")
    with pytest.raises(Unknown):
        FUNCTIONS["timeadd"]("9999-12-31T23:00:00Z", "5h")
