"""Functions of numbers. `test_functions.py` holds every function to Terraform; here is what no table shows."""

import pytest

from gateway.terraform.lang.functions_number import FUNCTIONS
from gateway.terraform.lang.values import EvaluationFailed, Unknown


def test_fractions_are_exact_or_unknown() -> None:
    assert FUNCTIONS["sum"]([0.1, 0.2]) == 0.3
    assert FUNCTIONS["pow"](2, -1) == 0.5
    for name, arguments in (("log", [10, 2]), ("pow", [2, 0.5]), ("pow", [10, 400])):
        with pytest.raises(Unknown):
            FUNCTIONS[name](*arguments)


def test_ranges_have_a_limit_of_items() -> None:
    assert len(FUNCTIONS["range"](1024)) == 1024  # type: ignore[arg-type]
    with pytest.raises(EvaluationFailed):
        FUNCTIONS["range"](1025)
