"""The text of contracts: literals, positions and references as the grammar gives them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import CodeInvalid
from gateway.model.json import Json
from gateway.terraform.contracts.text import MAX_BYTES, NOT_LITERAL, literal, parse_body, references


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", 1),
        ("-1.5", -1.5),
        ("1e3", 1000.0),
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
def test_what_is_written_out_is_a_literal(text: str, expected: Json) -> None:
    found = literal(parse_body(f"x = {text}", "f").attributes["x"].tree)

    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    "text", ["self.a", '"${self.a}"', "1 + 1", "!true", "-self.a", '-"a"', "[self.a]", "{ a = 1 }", "max(1, 2)", "-true", "<<E\nx\nE"]
)  # fmt: skip
def test_what_must_be_evaluated_is_none(text: str) -> None:
    assert literal(parse_body(f"x = {text}\n", "f").attributes["x"].tree) is NOT_LITERAL


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"])))
def test_text_survives_quoting(text: str) -> None:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("${", "$${").replace("%{", "%%{")
    if quoted.count("$${") != text.count("${") or "$$${" in quoted or "%%%{" in quoted:
        return  # HCL itself has no way to write these runs of marks
    if any(quoted.partition(mark)[1] and "}" not in quoted.rpartition(mark)[2] for mark in ("$${", "%%{")):
        return  # python-hcl2 wants escaped interpolations closed
    assert literal(parse_body(f'x = "{quoted}"', "f").attributes["x"].tree) == text


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
        ("1", set()),
    ],
)
def test_references_are_found(text: str, expected: set[tuple[str, str]]) -> None:
    assert references(parse_body(f"x = {text}", "f").attributes["x"].tree) == expected


def test_an_expression_keeps_its_text_over_several_lines() -> None:
    body = parse_body("x = self.a &&\n  self.b # why\ny = 1\n", "f")

    assert body.attributes["x"].text.startswith("self.a &&\n  self.b")
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
        literal(parse_body(text, "f").attributes["x"].tree)

    assert str(caught.value).startswith(expected)
