"""Functions beyond the table of expressions in test_evaluate.py: wrong arguments and what is not certain."""

import pytest

from gateway.terraform.lang.functions import call
from gateway.terraform.lang.values import EvaluationFailed, Opaque, Unknown, Value


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("lookup", [{"a": 1}, "b"]),
        ("element", [[], 0]),
        ("element", [[1], -1]),
        ("tonumber", ["x"]),
        ("length", [5]),
        ("zipmap", [["a"], []]),
        ("slice", [[1], 0, 2]),
        ("range", [0, 5, 0]),
        ("range", [100000]),
        ("jsondecode", ["{"]),
        ("format", ["%s"]),
        ("format", ["x", 1]),
        ("max", []),
        ("sum", [[]]),
        ("one", [[1, 2]]),
        ("upper", []),
        ("coalesce", [None, ""]),
        ("merge", [1]),
        ("flatten", ["a"]),
    ],
)
def test_wrong_arguments_never_have_a_value(name: str, arguments: list[Value]) -> None:
    with pytest.raises(Unknown):
        call(name, arguments)


@pytest.mark.parametrize(
    "name", ["file", "timestamp", "uuid", "cidrhost", "templatefile", "provider::x::y", "__class__"]
)
def test_a_function_that_is_not_listed_is_unknown(name: str) -> None:
    with pytest.raises(Unknown, match="is not evaluated"):
        call(name, ["x"])


def test_an_unknown_item_only_fails_functions_that_read_it() -> None:
    unknown = Opaque("why")
    assert call("merge", [{"a": unknown}, {"b": 1}]) == {"a": unknown, "b": 1}
    assert call("element", [[unknown, 2], 1]) == 2
    reading: dict[str, list[Value]] = {"join": [",", [unknown]], "toset": [[unknown]], "upper": [unknown]}
    for name, arguments in reading.items():
        with pytest.raises(Unknown, match="why"):
            call(name, arguments)


def test_a_failure_is_not_an_unknown() -> None:
    with pytest.raises(EvaluationFailed):
        call("tonumber", ["x"])
    with pytest.raises(Unknown) as caught:
        call("tonumber", [Opaque("why")])
    assert not isinstance(caught.value, EvaluationFailed)
