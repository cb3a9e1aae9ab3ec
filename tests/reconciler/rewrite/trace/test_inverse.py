"""Inverted arithmetic is exact, or unknown."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gateway.terraform.lang.evaluate import EvaluationScope, evaluate
from gateway.terraform.lang.grammar import parse_expression
from gateway.terraform.lang.values import Unknown
from reconciler.rewrite.trace.inverse import inverse, negated, then


@given(
    operator=st.sampled_from("+-*/"),
    constant=st.integers(-50, 50),
    wanted=st.integers(-1000, 1000),
    left=st.booleans(),
)
def test_what_is_written_gives_what_is_wanted(operator: str, constant: int, wanted: int, left: bool) -> None:
    assume(constant or operator in "+-")
    try:
        written = inverse(operator, constant, left=left)(wanted)
    except Unknown:
        assume(False)
    assume(operator != "/" or left or written)
    text = f"({written}) {operator} ({constant})" if left else f"({constant}) {operator} ({written})"
    assert evaluate(parse_expression(text), EvaluationScope()) == wanted


@pytest.mark.parametrize(
    ("operator", "constant", "left", "wanted"),
    [("*", 3600, True, 5000), ("/", 100, False, 0), ("/", 100, False, 7), ("*", 2, True, "x"), ("+", 1, True, 0.5)],
)
def test_what_is_not_reachable_is_unknown(operator: str, constant: int, left: bool, wanted: int) -> None:
    with pytest.raises(Unknown):
        inverse(operator, constant, left=left)(wanted)


def test_a_factor_of_zero_has_no_inverse() -> None:
    with pytest.raises(Unknown, match="zero"):
        inverse("*", 0, left=True)


def test_the_outer_calculation_is_inverted_first() -> None:
    assert then(inverse("+", 1, left=True), inverse("*", 10, left=True))(50) == 4
    assert then(negated, inverse("-", 1, left=True))(4) == -5
