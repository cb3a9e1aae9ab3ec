"""Written expressions: evaluated once if constant, and never raising."""

import functools

import pytest

from gateway.model.json import Json
from gateway.terraform.contracts.expression import WrittenExpression, written_expression
from gateway.terraform.lang.evaluate import EvaluationScope
from gateway.terraform.lang.grammar import parse_expression
from tests.kit.growth import assert_linear, work


def written(text: str) -> WrittenExpression:
    return written_expression(parse_expression(text), text=text, source="c.sentinel.hcl:1")


@pytest.mark.parametrize(
    ("text", "constant"), [("2 * 3", (6, "")), ("[1, 2]", ([1, 2], "")), ("null", (None, "")), ("self.a", None)]
)
def test_an_expression_without_references_is_evaluated_when_it_is_read(
    text: str, constant: tuple[Json, str] | None
) -> None:
    assert written(text).constant == constant


def test_the_value_depends_on_the_scope() -> None:
    expression = written('"${self.a}-${before.a}"')

    assert expression.references == {("self", "a"), ("before", "a")}
    assert expression.evaluate(EvaluationScope(names={"self": {"a": 1}, "before": {"a": 2}})) == ("1-2", "")


@pytest.mark.parametrize(
    ("text", "reason"),
    [("self.a", "self is not known here"), ("1 2", "`1 2` is not an expression"), ("max()", "a number is missing")],
)
def test_an_expression_that_cannot_be_evaluated_says_why(text: str, reason: str) -> None:
    assert written(text).evaluate(EvaluationScope()) == (None, reason)


def test_no_failure_leaves_it() -> None:
    broken: Json = {"a": object()}  # type: ignore[dict-item]  # nothing that a state file can contain
    value, reason = written("self.a + 1").evaluate(EvaluationScope(names={"self": broken}))

    assert value is None
    assert reason


LINEAR = [
    "length(self.a) <= 5",
    "length(distinct(self.a)) == length(self.a)",
    "alltrue([for item in self.a : startswith(item, var.x)])",
    "contains(self.a, var.x)",
    "toset(self.a)",
    "{ for item in self.a : substr => item... }",
    '{ for item in self.a : "one" => item... }',
    "jsonencode(self.a)",
    "self.a[*]",
    "self.a == self.b",
    "join(var.x, self.a)",
    "concat(self.a, self.b)",
    "merge(self.m, self.m)",
]
QUADRATIC = [
    "[for item in self.a : item if contains(self.b, item)]",
    "[for one in self.a : [for other in self.b : one]]",
    "[for one in self.a : length([for other in self.b : other if other == one])]",
    "[for item in self.a : self.a == self.c]",
    "[for item in self.a : jsonencode(self.b)]",
    "[for item in self.a : self.b[*]]",
    "[for item in self.a : join(var.x, self.b)]",
    "[for item in self.a : max([for other in self.b : 1]...)]",
    "[for item in self.a : strcontains(self.text, item)]",
]


def scope(size: int) -> EvaluationScope:
    items = [f"i{number}" for number in range(size)]
    whole: dict[str, Json] = {
        "a": items,
        "b": items,
        "c": [*items[:-1], "x"],
        "m": {f"k{number}": 1 for number in range(size)},
    }
    return EvaluationScope(names={"self": {**whole, "text": "x" * (100 * size)}, "var": {"x": "i"}})


@pytest.mark.parametrize("text", LINEAR)
def test_the_cost_of_an_expression_grows_with_the_lists_that_it_reads(text: str) -> None:
    expression = written(text)
    assert_linear(lambda size: functools.partial(expression.evaluate, scope(size)), 100)


@pytest.mark.parametrize("text", QUADRATIC)
def test_an_expression_that_grows_with_the_square_ends_as_unknown(text: str) -> None:
    expression = written(text)
    small, large, larger = scope(5), scope(1000), scope(2000)
    assert expression.evaluate(small)[1] == ""
    for each in (large, larger):
        value, reason = expression.evaluate(each)
        assert (value, reason.partition(";")[0]) == (None, "evaluating it takes too many steps")
    assert work(lambda: expression.evaluate(larger)) <= 2.3 * work(lambda: expression.evaluate(large))
