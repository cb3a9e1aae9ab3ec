"""The structure of contract files: attributes, labels and lines, and that anything else is refused."""

import functools
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.errors import CodeInvalid
from gateway.core.model.json import Json
from gateway.terraform.contracts.text import MAX_BYTES, WrittenExpression, parse_body, written_expression
from gateway.terraform.lang.evaluate import EvaluationScope
from gateway.terraform.lang.expression import NOT_LITERAL
from gateway.terraform.lang.grammar import parse_expression
from tests.kit.growth import assert_linear, work


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"])))
def test_text_survives_quoting(text: str) -> None:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("${", "$${").replace("%{", "%%{")
    if quoted.count("$${") != text.count("${") or "$$${" in quoted or "%%%{" in quoted:
        return  # HCL itself has no way to write these runs of marks
    if any(quoted.partition(mark)[1] and "}" not in quoted.rpartition(mark)[2] for mark in ("$${", "%%{")):
        return  # python-hcl2 wants escaped interpolations closed
    found = parse_body(f'x = "{quoted}"', "f").attributes["x"].literal
    assert found in (unicodedata.normalize("NFC", text), NOT_LITERAL)


def test_an_expression_keeps_its_text_over_several_lines() -> None:
    body = parse_body("x = self.a &&\n  self.b # why\ny = 1\n", "f")

    assert body.attributes["x"].expression.text.startswith("self.a &&\n  self.b")
    assert body.attributes["y"].source == "f:3"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('x = "a', "f:1: This is not HCL"),
        ("x = 1\n}\n", "f:2: This is not HCL"),
        ("x = [1,\n", "f:2: This is not HCL"),
        ("x = 1 y = 2", "f:1: Two definitions stand on one line"),
        ("x = 1\nx = 2\n", "f:2: x is already set in f:1."),
        ('b "${var.x}" {\n}\n', "f:1: A label must be written out"),
        ("#" * (MAX_BYTES + 1), "f:1: The file is larger than"),
        ("\x00", "f:1: This is not HCL"),
    ],
)
def test_what_is_no_hcl_is_refused(text: str, expected: str) -> None:
    with pytest.raises(CodeInvalid) as caught:
        parse_body(text, "f")

    assert str(caught.value).startswith(expected)


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


@pytest.mark.slow
@pytest.mark.parametrize("text", QUADRATIC)
def test_an_expression_that_grows_with_the_square_ends_as_unknown(text: str) -> None:
    expression = written(text)
    small, large, larger = scope(5), scope(1000), scope(2000)
    assert expression.evaluate(small)[1] == ""
    for each in (large, larger):
        value, reason = expression.evaluate(each)
        assert (value, reason.partition(";")[0]) == (None, "evaluating it takes too many steps")
    assert work(lambda: expression.evaluate(larger)) <= 2.3 * work(lambda: expression.evaluate(large))
