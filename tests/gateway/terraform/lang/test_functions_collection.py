"""Functions of lists, maps and sets. `test_functions.py` holds every function to Terraform; here is what no table shows."""

import pytest

from gateway.terraform.lang.functions_collection import FUNCTIONS, READING_NO_ITEMS
from gateway.terraform.lang.values import EvaluationFailed, ListOf, MapOf, Opaque, SetOf, Unknown, Value


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("concat", [ListOf(["a"]), ListOf(["b"])], ListOf),
        ("concat", [["a"], ListOf(["b"])], list),
        ("keys", [MapOf({"a": 1})], ListOf),
        ("keys", [{"a": 1}], list),
        ("slice", [ListOf(["a"]), 0, 1], ListOf),
        ("reverse", [SetOf(["a"])], ListOf),
        ("zipmap", [["a"], ListOf([1])], MapOf),
        ("zipmap", [["a"], [1]], dict),
        ("merge", [{"a": 1}, MapOf({"b": 1})], MapOf),
    ],
)
def test_a_result_is_a_list_where_its_argument_is_one(name: str, arguments: list[Value], expected: type) -> None:
    assert type(READING_NO_ITEMS[name](*arguments)) is expected


def test_sets_stay_sets() -> None:
    for name in ("setunion", "setintersection", "setsubtract"):
        assert isinstance(FUNCTIONS[name](["a"], ["a"]), SetOf)


def test_what_depends_on_an_unknown_value_is_unknown() -> None:
    with pytest.raises(Unknown, match="why"):
        READING_NO_ITEMS["one"](Opaque("why"))
    with pytest.raises(EvaluationFailed):
        READING_NO_ITEMS["element"](SetOf(["a"]), 0)
