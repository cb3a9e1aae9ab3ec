"""Conversions between Terraform's types, as far as they are certain."""

from decimal import Decimal

import pytest

from gateway.terraform.lang.values import (
    EvaluationFailed,
    Opaque,
    SetOf,
    Unknown,
    Value,
    decimal,
    hcl_equal,
    number,
    text,
    to_json,
    truth,
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(True, "true"), ("a", "a"), (5, "5"), (0.5, "0.5"), (1e-7, "0.0000001"), (10**30, "1" + "0" * 30)],
)
def test_scalars_become_text(value: Value, expected: str) -> None:
    assert text(value) == expected


@pytest.mark.parametrize("value", [None, [], {}, 0.12345678901234567])
def test_what_has_no_certain_text_is_unknown(value: Value) -> None:
    with pytest.raises(Unknown):
        text(value)


def test_numbers_and_bools() -> None:
    assert decimal("1.5") == Decimal("1.5")
    assert number(Decimal("3.0")) == 3
    assert [truth(value) for value in (True, "true", "1", False, "false", "0")] == [True] * 3 + [False] * 3
    with pytest.raises(EvaluationFailed):
        number(Decimal("Infinity"))
    with pytest.raises(Unknown):
        number(Decimal(1) / Decimal(3))


@pytest.mark.parametrize("odd", [True, None, "x", [], Opaque("why")])
def test_other_values_are_not_numbers(odd: Value) -> None:
    with pytest.raises(Unknown):
        decimal(odd)


@pytest.mark.parametrize("odd", [1, None, "yes", {}])
def test_other_values_are_not_bools(odd: Value) -> None:
    with pytest.raises(EvaluationFailed):
        truth(odd)


def test_equality_depends_on_types() -> None:
    assert hcl_equal(1, 1.0)
    assert not hcl_equal(1, "1")
    assert not hcl_equal(True, 1)
    assert not hcl_equal([1], [2])
    with pytest.raises(Unknown):
        hcl_equal([1], [1])
    with pytest.raises(Unknown):
        hcl_equal(Opaque("why"), 1)


def test_to_json_refuses_a_value_with_an_unknown_part() -> None:
    assert to_json({"a": SetOf([1])}) == {"a": [1]}
    with pytest.raises(Unknown, match="why"):
        to_json({"a": [Opaque("why")]})
