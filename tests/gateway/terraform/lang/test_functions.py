"""Every function has the result that Terraform gives it, or none, and what is not evaluated is named with the reason."""

import json
import subprocess

import pytest

from gateway.terraform.lang import functions
from gateway.terraform.lang.evaluate import EvaluationScope, evaluate
from gateway.terraform.lang.expression import FunctionCall, walk
from gateway.terraform.lang.functions import IMPURE, call
from gateway.terraform.lang.grammar import parse_expression
from gateway.terraform.lang.values import EvaluationFailed, Opaque, Unknown, Value
from tests.tools.record_functions import evaluated, expressions, recorded, uncertain

RECORDED = recorded()


def test_every_expression_has_the_value_that_terraform_gives_it() -> None:
    known = uncertain()
    assert [text for text in expressions() if not _as_in_terraform(text, known)] == []


def _as_in_terraform(text: str, known_as_uncertain: frozenset[str]) -> bool:
    expected = RECORDED[text]
    try:
        found = evaluate(parse_expression(text), EvaluationScope())
    except EvaluationFailed:
        return expected is None
    except Unknown:
        return text in known_as_uncertain
    if expected is None:
        return False
    return json.dumps(found, sort_keys=True) == json.dumps(json.loads(expected), sort_keys=True)


@pytest.mark.terraform
def test_terraform_still_says_what_is_recorded() -> None:
    assert dict(zip(expressions(), evaluated(expressions()), strict=True)) == RECORDED


def _called() -> dict[str, int]:
    """How many expressions call each function."""
    counts: dict[str, int] = {}
    for text in expressions():
        names = {part.name for part in walk(parse_expression(text)) if isinstance(part, FunctionCall)}
        for name in names:
            counts[name] = counts.get(name, 0) + 1
    return counts


@pytest.mark.terraform
def test_every_function_of_terraform_is_evaluated_or_named_as_impure() -> None:
    run = subprocess.run(["terraform", "metadata", "functions", "-json"], capture_output=True, text=True, check=True)
    names = {name for name in json.loads(run.stdout)["function_signatures"] if "::" not in name}
    assert not names - IMPURE.keys() - _called().keys()


def test_every_evaluated_function_is_held_to_terraform() -> None:
    called = _called()
    assert not [name for name in functions.NAMES if name not in called]


@pytest.mark.parametrize("name", [*IMPURE, "provider::x::y", "no_such_function", "__class__"])
def test_a_function_that_is_not_evaluated_is_named_with_the_reason(name: str) -> None:
    with pytest.raises(Unknown, match=rf"{name}\(\) is not evaluated: \w+") as caught:
        call(name, ["x"])
    assert not isinstance(caught.value, EvaluationFailed)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("format", ["%999999999d", 1]),
        ("format", ["%.999999999f", 1]),
        ("indent", [999999999, "a\nb"]),
        ("setproduct", [[1] * 1000, [1] * 1000]),
        ("range", [100000]),
        ("tonumber", ["1e999999999"]),
        ("yamldecode", ["a: &a [x,x]\nb: &b [" + ",".join(["*a"] * 20) + "]\n"]),
        ("upper", []),
    ],
)
def test_what_would_grow_without_limit_has_no_value(name: str, arguments: list[Value]) -> None:
    with pytest.raises(Unknown):
        call(name, arguments)


def test_an_unknown_item_only_fails_functions_that_read_it() -> None:
    unknown = Opaque("why")
    assert call("merge", [{"a": unknown}, {"b": 1}]) == {"a": unknown, "b": 1}
    assert call("element", [[unknown, 2], 1]) == 2
    assert call("reverse", [[unknown, 2]]) == [2, unknown]
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
