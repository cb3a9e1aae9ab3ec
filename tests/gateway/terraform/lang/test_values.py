"""Conversions between Terraform's types, as far as they are certain."""

from decimal import Decimal

import pytest

from gateway.terraform.lang.values import (
    EvaluationFailed,
    Opaque,
    SetOf,
    Unknown,
    Value,
    as_set,
    decimal,
    number,
    same,
    settled,
    text,
    truth,
    unified,
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


def test_numbers_and_truths() -> None:
    assert decimal("1.5") == Decimal("1.5")
    assert number(Decimal("3.0")) == 3
    assert [truth(value) for value in (True, "true", "1", False, "false", "0")] == [True] * 3 + [False] * 3
    with pytest.raises(EvaluationFailed):
        number(Decimal("Infinity"))
    with pytest.raises(Unknown):
        number(Decimal(1) / Decimal(3))


@pytest.mark.parametrize("odd", [True, None, "x", [], Opaque("why")])
def test_what_is_no_number(odd: Value) -> None:
    with pytest.raises(Unknown):
        decimal(odd)


@pytest.mark.parametrize("odd", [1, None, "yes", {}])
def test_what_is_no_truth(odd: Value) -> None:
    with pytest.raises(EvaluationFailed):
        truth(odd)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, "a", True], ["1", "a", "true"]),
        ([1, None, 2], [1, None, 2]),
        ([[1], [2, 3]], [[1], [2, 3]]),
        ([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}], [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]),
        ([], []),
    ],
)
def test_unified(values: list[Value], expected: list[Value]) -> None:
    assert unified(values) == expected


@pytest.mark.parametrize("values", [[1, True], [[1], ["a"]], [{"a": 1}, {"a": "x"}], [1, Opaque("why")]])
def test_what_cannot_be_unified_for_certain_is_unknown(values: list[Value]) -> None:
    with pytest.raises(Unknown):
        unified(values)


def test_sets_are_sorted_and_without_duplicates() -> None:
    assert as_set(["b", "a", "b"]) == ["a", "b"]
    assert as_set([10, 9]) == [9, 10]
    assert isinstance(as_set([{"a": 1}]), SetOf)


@pytest.mark.parametrize("odd", [[{"a": 1}, {"a": 2}], [Opaque("why")], ["a", None]])
def test_a_set_whose_order_is_not_certain_is_unknown(odd: list[Value]) -> None:
    with pytest.raises(Unknown):
        as_set(odd)


def test_sameness_knows_types() -> None:
    assert same(1, 1.0)
    assert not same(1, "1")
    assert not same(True, 1)
    assert not same([1], [2])
    with pytest.raises(Unknown):
        same([1], [1])
    with pytest.raises(Unknown):
        same(Opaque("why"), 1)


def test_settled_refuses_what_holds_an_unknown() -> None:
    assert settled({"a": SetOf([1])}) == {"a": [1]}
    with pytest.raises(Unknown, match="why"):
        settled({"a": [Opaque("why")]})
