"""Written expressions: evaluated once if constant, and never raising."""

import pytest

from gateway.model.json import Json
from gateway.terraform.contracts.expression import WrittenExpression, written_expression
from gateway.terraform.lang.evaluate import EvaluationScope
from gateway.terraform.lang.grammar import parse_expression


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
