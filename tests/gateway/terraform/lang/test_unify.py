"""The common type of values; the conditionals in `tests/cases/functions` hold it to Terraform."""

import pytest

from gateway.terraform.lang.unify import Collection, ObjectType, TupleType, Type, converted, type_of, unified, unify
from gateway.terraform.lang.values import ListOf, MapOf, Opaque, SetOf, Unknown, Value


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


@pytest.mark.parametrize("values", [[1, True], [[1], 1], [[1], {}], [1, Opaque("why")]])
def test_what_cannot_be_unified_for_certain_is_unknown(values: list[Value]) -> None:
    with pytest.raises(Unknown):
        unified(values)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, "number"),
        (None, "null"),
        (Opaque("why"), "hidden"),
        ([1, "a"], TupleType(("number", "string"))),
        (ListOf([1, 2]), Collection("list", "number")),
        (ListOf(), Collection("list", "hidden")),
        (SetOf(["a"]), Collection("set", "string")),
        (MapOf({"a": True}), Collection("map", "bool")),
        ({"b": 1, "a": []}, ObjectType((("a", TupleType(())), ("b", "number")))),
    ],
)
def test_the_type_of_a_value(value: Value, expected: Type) -> None:
    assert type_of(value) == expected


def test_conversion_makes_lists_and_maps() -> None:
    found = unified([{"a": 1}, MapOf({"b": "x"})])
    assert found == [{"a": "1"}, {"b": "x"}]
    assert all(isinstance(each, MapOf) for each in found)
    rows = unified([[1], ListOf(["x", "y"])])
    assert rows == [["1"], ["x", "y"]]
    assert all(isinstance(each, ListOf) for each in rows)
    assert converted(None, "string") is None


def test_a_hidden_type_decides_only_among_strings() -> None:
    assert unify(["hidden", "string"]) == "string"
    assert unify(["hidden", Collection("list", "string")]) == Collection("list", "string")
    for other in ("number", Collection("list", "number"), Collection("set", "string")):
        with pytest.raises(Unknown):
            unify(["hidden", other])
