"""Expressions: traversal, literals and references."""

import pytest

from gateway.core.model.json import Json
from gateway.terraform.lang import expression as e
from gateway.terraform.lang.grammar import parse_expression


def test_walking_reaches_every_name() -> None:
    text = '[a, { (b) = c }, f(d), g[h].i, -j, k ? l : m, [for n in o : p if q], "${r}s${t}", (u), v[*].w, x + y]'
    names = [part.name for part in e.walk(parse_expression(text)) if isinstance(part, e.Name)]
    assert names == ["a", "b", "c", "d", "g", "h", "j", "k", "l", "m", "o", "p", "q", "r", "t", "u", "v", "x", "y"]


def test_steps_of_a_traversal() -> None:
    found = e.steps_of(parse_expression('var.a["b"].c'))
    assert found is not None
    root, steps = found
    assert root == "var"
    assert [step if isinstance(step, str) else type(step).__name__ for step in steps] == ["a", "LiteralValue", "c"]
    assert e.steps_of(parse_expression("f(x).y")) is None
    assert e.steps_of(parse_expression("a.b[*].c")) == ("a", ("b",))


def test_bare_takes_the_parentheses_off() -> None:
    assert isinstance(e.bare(parse_expression('(("${a}"))')), e.Name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", 1),
        ("-1.5", -1.5),
        ("1e3", 1000),
        ("true", True),
        ("null", None),
        ('"a"', "a"),
        ('""', ""),
        (r'"say \"hi\"\n\t\\ \u00e9"', 'say "hi"\n\t\\ é'),
        ('"$${x} %%{y}"', "${x} %{y}"),
        ('[1, "a", [true]]', [1, "a", [True]]),
        ("[\n  1, # one\n  2,\n]", [1, 2]),
        ("[]", []),
    ],
)
def test_a_literal_has_a_value(text: str, expected: Json) -> None:
    found = e.literal(parse_expression(text))

    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    "text", ["self.a", '"${self.a}"', "1 + 1", "!true", "-self.a", '-"a"', "[self.a]", "{ a = 1 }", "max(1, 2)", "-true", "(1)", '"${1}"', "", "1 2", "<<E\nx\nE"]
)  # fmt: skip
def test_any_other_expression_is_not_a_literal(text: str) -> None:
    assert e.literal(parse_expression(text)) is e.NOT_LITERAL


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("self.a.b[self.c]", {("self", "a"), ("self", "c")}),
        ("[for k, v in var.m : v.x if k != local.y]", {("var", "m"), ("local", "y")}),
        ("{ for k, v in self.m : k => v }", {("self", "m")}),
        ("{ self = 1, (var.k) = 2 }", {("var", "k")}),
        ("self", {("self", "")}),
        ("self[*].a", {("self", "")}),
        ('self["x y"]', {("self", "x y")}),
        ("max(self.a, 1)", {("self", "a")}),
        ("[for self in var.x : self.a] == self.b", {("var", "x"), ("self", "b")}),
        ("[for x in x.y : x.z[var.k]]", {("x", "y"), ("var", "k")}),
        ('"%{ if self.a }b%{ endif }"', {("self", "a")}),
        ("1", set()),
    ],
)
def test_references_are_found(text: str, expected: set[tuple[str, str]]) -> None:
    assert set(e.root_references(parse_expression(text))) == expected


@pytest.mark.parametrize(
    ("text", "instance"),
    [
        ('aws_x.y["a"]', True),
        ("aws_x.y[0]", True),
        ("aws_x.y[var.a]", False),
        ("aws_x.y", False),
        ('var.y["a"]', False),
        ('data.y["a"]', False),
        ('aws_x.y["a"].id', False),
    ],
)
def test_which_expressions_are_one_instance_of_a_resource(text: str, *, instance: bool) -> None:
    assert e.is_instance(parse_expression(text)) is instance
