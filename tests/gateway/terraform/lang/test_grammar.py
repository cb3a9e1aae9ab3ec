"""Parsing expressions: precedence, nesting, escapes, heredocs, and what is not supported."""

from pathlib import Path

import pytest

from gateway.core.errors import CodeInvalid
from gateway.terraform.lang import expression as e
from gateway.terraform.lang.expression import Expression
from gateway.terraform.lang.grammar import number, parse_expression, read_attribute, unescape
from gateway.terraform.lang.hcl import parse


def _read(text: str) -> Expression:
    document = parse(Path("main.tf"), f"x = {text}\n".encode())
    return read_attribute(document, document.attributes(document.root)["x"])


def _shown(expression: Expression | str) -> str:  # noqa: C901  one case for each form
    """The expression with every nesting in brackets."""
    match expression:
        case str():
            return repr(expression)
        case e.LiteralValue(value=value):
            return repr(value)
        case e.Name(name=name):
            return name
        case e.AttributeAccess(source=source, name=name):
            return f"{_shown(source)}.{name}"
        case e.IndexAccess(source=source, key=key):
            return f"{_shown(source)}[{_shown(key)}]"
        case e.Splat(source=source, steps=steps):
            return f"{_shown(source)}[*]" + "".join(f".{step}" for step in steps)
        case e.Unary(operator=operator, operand=operand):
            return f"({operator}{_shown(operand)})"
        case e.Binary(operator=operator, left=left, right=right):
            return f"({_shown(left)} {operator} {_shown(right)})"
        case e.Conditional(condition=condition, then=then, otherwise=otherwise):
            return f"({_shown(condition)} ? {_shown(then)} : {_shown(otherwise)})"
        case e.Group(inner=inner):
            return f"<{_shown(inner)}>"
        case e.Template(parts=parts):
            return "+".join(_shown(part) for part in parts)
        case e.Unsupported(reason=reason):
            return f"?{reason}"
    return type(expression).__name__


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1 + 2 * 3 - 4", "((1 + (2 * 3)) - 4)"),
        ("a || b && c == d + e * f", "(a || (b && (c == (d + (e * f)))))"),
        ("a == b || c < d && !e", "((a == b) || ((c < d) && (!e)))"),
        ("-a.b + !c[0].d", "((-a.b) + (!c[0].d))"),
        ("- - 1", "(-(-1))"),
        ("(a + b) * c", "(<(a + b)> * c)"),
        ("(a).b", "<a>.b"),
        ("a ? b : c ? d : e", "(a ? b : (c ? d : e))"),
        ("a ? b ? c : d : e", "(a ? (b ? c : d) : e)"),
        ("(a ? b : c) ? d : e", "(<(a ? b : c)> ? d : e)"),
        ("a == 1 ? b : c == 2 ? d : e", "((a == 1) ? b : ((c == 2) ? d : e))"),
        ("a ? b : c ? d : e ? f : g", "(a ? b : (c ? d : (e ? f : g)))"),
        ("a.0.b", "a[0].b"),
        ("a[*].b.c", "a[*].b.c"),
        ("a.*.b", "a[*].b"),
        ('"a${b}c"', "'a'+b+'c'"),
        ('"${a}"', "<a>"),
        ('"a $${b}"', "'a ${b}'"),
        ('""', "''"),
        ("1e3", "1000"),
        ("-0.5", "(-0.5)"),
        ('"$$${a}"', "'$${a}'"),
        ('"a ${~ b}"', "'a'+b"),
        ('"%{ if a }b%{ endif }"', "<(a ? 'b' : '')>"),
        ("<<-EOT\n  a ${~ b}\n  EOT", "?strip markers are not read"),
        ("<<-EOT\n  %{ if a }b%{ endif }\n  EOT", "?template directives are not read"),
    ],
)
def test_an_expression_is_nested_as_terraform_nests_it(text: str, shown: str) -> None:
    assert _shown(_read(text)) == shown


@pytest.mark.parametrize("text", ["", "1 2", "1\n2", ")(", "1)\ny = (2", "# 1", "{", "\ud800"])
def test_a_text_that_is_not_one_expression_is_unsupported(text: str) -> None:
    found = parse_expression(text)
    assert isinstance(found, e.Unsupported)
    assert found.text == text
    assert "expression" in found.reason


def test_an_expression_may_span_lines_and_end_in_a_comment() -> None:
    assert _shown(parse_expression("a &&\n  b # c")) == "(a && b)"


def test_spans_are_exact() -> None:
    expression = _read("é.b + [1]")
    assert isinstance(expression, e.Binary)
    assert (expression.start, expression.end) == (4, 14)
    assert (expression.right.start, expression.right.end) == (11, 14)


def test_objects_keep_each_element_with_its_span() -> None:
    expression = _read('{ a = 1, "b c" : 2, (d) = 3, "e${f}" = 4 }')
    assert isinstance(expression, e.Object)
    assert [type(each.key).__name__ for each in expression.elements] == [
        "LiteralValue",
        "LiteralValue",
        "Group",
        "Template",
    ]
    assert [each.end - each.start for each in expression.elements] == [5, 9, 7, 11]


def test_an_unsupported_expression_has_the_expressions_inside_it() -> None:
    inside = {part.name for part in e.walk(_read('"%{ if a }${b.c}%{ endif }"')) if isinstance(part, e.Name)}
    assert inside == {"a", "b"}


def test_deeply_nested_parentheses_are_unsupported() -> None:
    expression = _read("(" * 3000 + "1" + ")" * 3000)
    assert any(isinstance(part, e.Unsupported) for part in _inner(expression))


def _inner(expression: Expression) -> list[Expression]:
    found = [expression]
    while isinstance(found[-1], e.Group):
        found.append(found[-1].inner)
    return found


def test_numbers_are_ints_where_whole() -> None:
    assert [number(text) for text in ("1", "1.0", "1.5", "1e2", "25e-1")] == [1, 1, 1.5, 100, 2.5]
    assert isinstance(number("1.0"), int)


def test_escapes() -> None:
    assert unescape('\\n\\r\\t\\"\\\\\\u0041\\U0001F600$${%%{') == '\n\r\t"\\A😀${%{'
    with pytest.raises(ValueError, match="escape"):
        unescape("\\x")


def _parts(text: str) -> tuple[str | e.Expression, ...]:
    document = parse(Path("main.tf"), f"x = <<EOT\n{text}EOT\n".encode())
    found = read_attribute(document, document.attributes(document.root)["x"])
    assert isinstance(found, e.Template), found
    return found.parts


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("a ${x} b\n", ["a ", " b\n"]),
        ("a ${~ x ~} b\n", ["a", "b\n"]),
        ("a\n  ${~ x ~}  \n  b\n", ["a\n", "  b\n"]),
        ("${~ x ~}\n\n", ["\n"]),
        ("a $${x} %%{y}\n", ["a ${x} %{y}\n"]),
        ("$$${x} $$$$${y} %%%{z} %%%%{z}\n", ["$${x} $$$${y} %%{z} %%%{z}\n"]),
        ("a %{~ if x ~} b %{~ endif ~} c\n", ["a", "c\n"]),
    ],
)
def test_a_marker_strips_one_line_beside_it(text: str, texts: list[str]) -> None:
    assert [part for part in _parts(text) if isinstance(part, str) and part] == texts


def test_directives_are_conditionals_and_joined_lists() -> None:
    loop, switch, _ = _parts("%{ for k, v in m ~} ${k} %{ endfor }%{ if a }b%{ else ~}  c%{ endif }\n")
    assert isinstance(loop, e.FunctionCall)
    assert loop.name == "join"
    rows = loop.arguments[1]
    assert isinstance(rows, e.For)
    assert rows.names == ("k", "v")
    assert isinstance(rows.value, e.Template)
    assert [part for part in rows.value.parts if isinstance(part, str)] == ["", " "]
    assert isinstance(switch, e.Conditional)
    assert [part.parts for part in (switch.then, switch.otherwise) if isinstance(part, e.Template)] == [("b",), ("c",)]


def test_what_is_not_certain_is_not_read() -> None:
    document = parse(Path("main.tf"), b"x = <<EOT\n%${x}\nEOT\n")
    assert isinstance(read_attribute(document, document.attributes(document.root)["x"]), e.Unsupported)


def test_a_directive_behind_an_escaped_one_must_be_whole() -> None:
    with pytest.raises(CodeInvalid):
        parse(Path("main.tf"), b"x = <<EOT\n%%%{ if a }b%{ endif }\nEOT\n")
