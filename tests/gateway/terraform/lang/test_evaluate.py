"""The evaluator has the same result as Terraform, or none."""

import contextlib
import json
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.model.json import Json
from gateway.terraform.config.module import load_module
from gateway.terraform.lang import values
from gateway.terraform.lang.evaluate import EvaluationScope, Steps, Unknown, evaluate, find, take_for, value_of
from gateway.terraform.lang.grammar import parse_expression, read_attribute
from gateway.terraform.lang.hcl import parse
from gateway.terraform.lang.values import Opaque, Value
from gateway.terraform.lang.values import Unknown as values_Unknown
from tests.kit.growth import assert_linear

KNOWN: list[tuple[str, Json]] = [
    ("1 + 2 * 3", 7),
    ("(1 + 2) * 3", 9),
    ("10 - 4 - 3", 3),
    ("24 / 4 / 2", 3),
    ("2 * 3 % 4", 2),
    ("-7 % 3", -1),
    ("7.5 % 2", 1.5),
    ("-2 * -3", 6),
    ("- 1 - 2", -3),
    ("1 / 4", 0.25),
    ("0.1 + 0.2", 0.3),
    ("1e3", 1000),
    ("1.50e-1", 0.15),
    ('"5" + 1', 6),
    ("1 < 2 && 2 < 3 || false", True),
    ("false && false || true", True),
    ("true || false && false", True),
    ("!true || true", True),
    ("1 + 1 == 2", True),
    ("1 == 1 != false", True),
    ("2 > 1 == true", True),
    ("true ? 1 : false ? 2 : 3", 1),
    ("false ? 1 : false ? 2 : 3", 3),
    ("false ? 1 : true ? 2 : 3", 2),
    ("true ? false ? 1 : 2 : 3", 2),
    ("true ? (false ? 1 : 2) : 3", 2),
    ("1 == 2 ? 10 : 2 == 2 ? 20 : 30", 20),
    ('true ? 1 : "a"', "1"),
    ('true ? [1] : ["a"]', None),
    ("true ? {a = 1} : {b = 2}", {"a": 1}),
    ("true ? null : 1", None),
    ('1 == "1"', False),
    ("null == null", True),
    ("1 == null", False),
    ("[1, 2] == [1, 3]", False),
    ('"a" == "a"', True),
    ("true == 1", False),
    ('"a${1 + 1}b${true}c"', "a2btruec"),
    ('"${0.5}-${10}"', "0.5-10"),
    ('"${[1, 2]}"', [1, 2]),
    ('"$${a} %%{b} \\"q\\" \\\\ \\n\\t \\u00e9 \\U0001F600"', '${a} %{b} "q" \\ \n\t é 😀'),
    ('"\\u0024{a}"', "${a}"),
    ('{ a = 1, b : 2, "c d" = 3, (upper("e")) = 4 }', {"a": 1, "b": 2, "c d": 3, "E": 4}),
    ("[1, 2, 3][1]", 2),
    ('{ a = { b = 3 } }["a"].b', 3),
    ("[[1, 2], [3]][0][1]", 2),
    ("[{ a = 1 }, { a = 2 }][*].a", [1, 2]),
    ("[{ a = 1 }, { a = 2 }].*.a", [1, 2]),
    ("{ a = 1 }[*].a", [1]),
    ("[for v in [1, 2, 3] : v * 2 if v > 1]", [4, 6]),
    ('[for i, v in ["a", "b"] : "${i}${v}"]', ["0a", "1b"]),
    ('[for k, v in { b = 1, a = 2 } : "${k}${v}"]', ["a2", "b1"]),
    ("{ for k, v in { b = 1, a = 2 } : upper(k) => v }", {"A": 2, "B": 1}),
    ('{ for v in ["a", "b", "a"] : v => 1... }', {"a": [1, 1], "b": [1]}),
    ('[for k, v in toset(["b", "a"]) : "${k}${v}"]', ["aa", "bb"]),
    ("[for x in [for y in [1, 2] : y + 1] : x * 10]", [20, 30]),
    ('toset(["b", "a", "b"])', ["a", "b"]),
    ('toset(["b", "a", "10", "9", "é", "Z"])', ["10", "9", "Z", "a", "b", "é"]),
    ("toset([10, 9, 9])", [9, 10]),
    ('tolist(["a", 1, true])', ["a", "1", "true"]),
    ('tomap({ a = 1, b = "x" })', {"a": "1", "b": "x"}),
    ('merge({ a = 1 }, { a = 2, b = "x" }, null)', {"a": 2, "b": "x"}),
    ("merge()", {}),
    ('lookup({ a = 1 }, "a", 2)', 1),
    ('lookup({ a = 1 }, "b", 2)', 2),
    ('coalesce("", null, "x")', "x"),
    ("coalesce(null, 3, 4)", 3),
    ('coalesce(1, "a")', "1"),
    ('lookup({}, "b", "5")', "5"),
    ("try({}.a, 5)", 5),
    ('try([1][4], {}.b, "x")', "x"),
    ("can({}.a)", False),
    ("can([1][0])", True),
    ("concat([1], [2, 3])", [1, 2, 3]),
    ('tonumber("5")', 5),
    ("tostring(5)", "5"),
    ('tobool("true")', True),
    ("length([1, 2])", 2),
    ("length({ a = 1 })", 1),
    ('length("abc")', 3),
    ('upper("aB")', "AB"),
    ('lower("aB")', "ab"),
    ('join("-", ["a", "b"], ["c"])', "a-b-c"),
    ('join(",", [1, 2])', "1,2"),
    ('split(",", "a,b,")', ["a", "b", ""]),
    ('split(",", "")', [""]),
    ("keys({ b = 1, a = 2 })", ["a", "b"]),
    ("values({ b = 1, a = 2 })", [2, 1]),
    ("max(1, 5, 3)", 5),
    ("min(2, 0.5)", 0.5),
    ("max([1, 5]...)", 5),
    ('contains(["a", "b"], "b")', True),
    ('contains(["a"], "b")', False),
    ("element([1, 2, 3], 4)", 2),
    ('jsonencode({ b = [1, true, null, "<&>"], a = 1.5 })', '{"a":1.5,"b":[1,true,null,"\\u003c\\u0026\\u003e"]}'),
    ('jsonencode("é\\n\\"")', '"é\\n\\""'),
    ('jsondecode("{\\"a\\": [1.0, 2.5, null]}")', {"a": [1, 2.5, None]}),
    ('format("%s-%d%%", "a", 3)', "a-3%"),
    ('format("%s", true)', "true"),
    ("flatten([[1, [2]], [3], []])", [1, 2, 3]),
    ('replace("a.b.c", ".", "-")', "a-b-c"),
    ('compact(["a", "", null, "b"])', ["a", "b"]),
    ('distinct(["b", "a", "b"])', ["b", "a"]),
    ("range(3)", [0, 1, 2]),
    ("range(1, 7, 2)", [1, 3, 5]),
    ("range(3, 0)", [3, 2, 1]),
    ("one([])", None),
    ("one([5])", 5),
    ("alltrue([])", True),
    ("alltrue([true, false])", False),
    ("anytrue([false, true])", True),
    ("anytrue([])", False),
    ('trimspace("  a \\n")', "a"),
    ('startswith("abc", "ab")', True),
    ('endswith("abc", "ab")', False),
    ('trimprefix("abc", "a")', "bc"),
    ('trimsuffix("abc", "c")', "ab"),
    ('strcontains("abc", "b")', True),
    ("abs(-3)", 3),
    ("ceil(1.2)", 2),
    ("floor(-1.2)", -2),
    ("sum([1, 2.5])", 3.5),
    ("reverse([1, 2])", [2, 1]),
    ("slice([1, 2, 3], 1, 3)", [2, 3]),
    ('zipmap(["a", "b"], [1, 2])', {"a": 1, "b": 2}),
    ('setunion(["b"], ["a"])', ["a", "b"]),
    ("nonsensitive(sensitive(5))", 5),
    ('true ? [1, "a"] : ["b"]', ["1", "a"]),
    ('lookup({ a = 1 }, "b", "5")', "5"),
    ('replace("abc", "/b/", "x")', "axc"),
    ('format("%5.2f", 1)', " 1.00"),
    ('cidrsubnet("10.0.0.0/8", 8, 1)', "10.1.0.0/16"),
    ('contains([1], "1")', False),
    ('upper("straße")', "STRAßE"),
    ('"%{ if true }a%{ else }b%{ endif }"', "a"),
    ('"%{ if 1 > 2 }a%{ endif }"', ""),
    ('"%{ for k, v in { b = 1, a = 2 } }${k}=${v};%{ endfor }"', "a=2;b=1;"),
    ('"a ${~ 1 ~} b"', "a1b"),
    ('" ${~ 1 ~} "', "1"),
    ('"${~ 1 ~}"', 1),
    ('"%{ for x in [1] }%{ if x == 1 ~} $${x} %{~ endif }%{ endfor }"', "${x}"),
    ('"a\\n ${~ 1 }"', "a1"),
    ("<<EOT\n%{ for x in [1, 2] ~}\n  - ${x}\n%{ endfor ~}\n\nend\nEOT\n", "  - 1\n  - 2\n\nend\n"),
    ("<<EOT\n%{ if false ~}\n yes\n%{~ else ~}\n no\n%{~ endif ~}\n z\nEOT\n", " no z\n"),
    ("<<EOT\n%{ if true }%{ for x in [1] }${x}%{ endfor }%{ endif }\n%%{a}\nEOT\n", "1\n%{a}\n"),
    ("<<EOT\na\n${~ 1 ~}  \n\n b\nEOT\n", "a1\n b\n"),
    ("<<EOT\na\n${~ 1 ~}\n${~ 1 ~}\nEOT\n", "a11"),
    ("<<EOT\na\n${~ 1 ~}  \n\n b\nEOT\n", "a1\n b\n"),
    ("<<EOT\na\n${\n1 ~}  \nEOT\n", "a\n1"),
    ("<<EOT\na\n  b $${c}\n${1 + 1}\nEOT\n", "a\n  b ${c}\n2\n"),
    ("<<-EOT\n    a\n\n      b ${1}\n    c\n  EOT\n", "a\n\n  b 1\nc\n"),
    ("<<-EOT\n    ${1} a\n  b\n  EOT\n", "  1 a\nb\n"),
    ('"e\\u0301"', "é"),
]
"""Expressions with their values; None besides those about null: known to Terraform, and we may say Unknown."""

UNKNOWN = [
    "aws_vpc.main.id",
    "data.aws_region.here.name",
    "var.absent",
    "local.absent",
    "module.absent.x",
    "each.key",
    "count.index",
    "path.module",
    "terraform.workspace",
    "1 / 3",
    "1 / 0",
    "[1][3]",
    "{}.a",
    '{ a = 1 }["b"]',
    "one([1, 2])",
    "try(aws_vpc.main.id, 1)",
    "can(aws_vpc.main.id)",
    "aws_vpc.main.enabled ? 1 : 1",
    "true ? 5 : aws_vpc.main.size",
    '["a"] == tolist(["a"])',
    "[] == []",
    'lookup(tomap({}), "b", 5)',
    'lookup(true ? {} : { a = 1 }, "b", "5")',
    'lookup(merge({}, tomap({})), "b", 5)',
    'file("x")',
    "timestamp()",
    "no_such_function(1)",
    "length(aws_vpc.main.ids)",
    "[for x in aws_vpc.main.ids : x]",
    "{ a = 1, a = aws_vpc.main.id }.a",
    "1 + true",
    '"a" + 1',
    "[1] + 1",
    "!5",
    "1 2",
    "1\ny = 2",
    "1)\ny = (2",
    "",
    "b {}",
    "1 +",
    '"unterminated',
    "(" * 2000 + "1" + ")" * 2000,
]


def test_a_known_expression_has_its_value() -> None:
    known = [(text, value) for text, value in KNOWN if value is not None]
    found = [(text, evaluate(parse_expression(text), EvaluationScope())) for text, _ in known]
    assert found == known
    assert json.dumps(found, sort_keys=True) == json.dumps(known, sort_keys=True)


@pytest.mark.parametrize("text", UNKNOWN, ids=lambda text: repr(text)[:40])
def test_what_is_not_certain_is_unknown(text: str) -> None:
    with pytest.raises(Unknown):
        evaluate(parse_expression(text), EvaluationScope())


def test_names_of_the_scope_take_precedence() -> None:
    scope = EvaluationScope(names={"self": {"max_size": 16, "tags": {"a b": "x"}}, "var": {"env": "prod"}})
    assert evaluate(parse_expression('var.env == "prod" ? self.max_size + 4 : 6'), scope) == 20
    assert evaluate(parse_expression("self.max_size <= 32"), scope) is True
    assert evaluate(parse_expression('self.tags["a b"]'), scope) == "x"
    with pytest.raises(Unknown):
        evaluate(parse_expression("self.absent"), scope)


def test_a_variable_of_for_hides_a_given_name() -> None:
    assert evaluate(parse_expression("[for self in [1, 2] : self]"), EvaluationScope(names={"self": 5})) == [1, 2]


def test_one_side_may_decide_a_logical_operation() -> None:
    assert evaluate(parse_expression("false && aws_vpc.a.b"), EvaluationScope()) is False
    assert evaluate(parse_expression("aws_vpc.a.b || true"), EvaluationScope()) is True
    with pytest.raises(Unknown):
        evaluate(parse_expression("true && aws_vpc.a.b"), EvaluationScope())


def test_items_beside_an_unknown_one_are_known() -> None:
    assert evaluate(parse_expression("{ a = aws_vpc.x.id, b = 2 }.b"), EvaluationScope()) == 2
    assert evaluate(parse_expression('merge({ a = aws_vpc.x.id }, { b = 2 })["b"]'), EvaluationScope()) == 2
    assert evaluate(parse_expression("length([aws_vpc.x.id, 1])"), EvaluationScope()) == 2
    assert evaluate(parse_expression("keys({ a = aws_vpc.x.id })"), EvaluationScope()) == ["a"]


@pytest.mark.slow
@given(st.text(max_size=40))
def test_any_text_is_a_value_or_unknown(text: str) -> None:
    with contextlib.suppress(Unknown):
        json.dumps(evaluate(parse_expression(text), EvaluationScope(names={"self": {"a": 1}})))


def test_an_expression_of_a_document_is_evaluated() -> None:
    document = parse(Path("main.tf"), b"a = 1 + 1\n")
    attribute = document.attributes(document.root)["a"]
    assert evaluate(read_attribute(document, attribute), EvaluationScope()) == 2


@pytest.mark.terraform
def test_terraform_says_the_same(tmp_path: Path) -> None:
    rows = [text for text, _ in KNOWN]
    (tmp_path / "main.tf").write_text("".join(f"locals {{\n  x{n} = {text}\n}}\n" for n, text in enumerate(rows)))
    wanted = "jsonencode([" + ", ".join(f"local.x{n}" for n in range(len(rows))) + "])\n"
    environment = {key: value for key, value in os.environ.items() if key != "TF_CLI_CONFIG_FILE"}
    console = subprocess.run(
        ["terraform", "console"],
        input=wanted,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert console.returncode == 0, console.stderr
    terraform = json.loads(json.loads(console.stdout)) if console.stdout.startswith('"') else None
    assert terraform is not None, console.stdout
    module = load_module(tmp_path)
    for number, text in enumerate(rows):
        try:
            ours = evaluate(parse_expression(f"local.x{number}"), EvaluationScope(module=module))
        except Unknown:
            assert dict(KNOWN)[text] is None, text
            continue
        assert json.dumps(ours, sort_keys=True) == json.dumps(terraform[number], sort_keys=True), text


def test_steps_end_an_evaluation_and_are_taken_by_all_parts_of_it() -> None:
    expression = parse_expression("[for item in [1, 2, 3] : item + 1]")
    steps = Steps(100)
    assert evaluate(expression, EvaluationScope(steps=steps)) == [2, 3, 4]
    assert 0 < steps.left < 90
    with pytest.raises(Unknown, match="too many steps"):
        evaluate(expression, EvaluationScope(steps=Steps(8)))


@pytest.mark.parametrize(
    ("path", "expected"),
    [("a", 1), ("b.c", 2), ("b.d.e", 3), ("f.g.h", 4), ("l.1.x", 6), ("f", None), ("b.d", None), ("zz", None)],
)
def test_a_value_is_found_by_its_path_even_if_a_key_has_dots(path: str, expected: int | None) -> None:
    value: Value = {"a": 1, "b": {"c": 2, "d.e": 3}, "f.g": {"h": 4}, "l": [{"x": 5}, {"x": 6}]}
    if expected is None:
        with pytest.raises(Unknown, match="there is no"):
            find(value, path.split("."))
    else:
        assert find(value, path.split(".")) == expected


def test_a_path_of_many_dots_is_looked_up_once() -> None:
    value: Value = {"tags": {"a": 1, "a.a": 2, "b": 3}}

    def looked_up(size: int) -> None:
        with contextlib.suppress(Unknown):
            find(value, ["tags", *["x"] * size])

    assert_linear(lambda size: lambda: looked_up(size), 1000)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1e999999999 > 1", "too large"),
        ("floor(1e99999999)", "too large"),
        ('ceil("1e99999")', "too large"),
        ('signum("1e99999")', "too large"),
        (f'parseint("{"9" * 5000}", 10) > 1', "too large"),
        ('timeadd("2020-01-01T00:00:00Z", "9999999999999h")', "not evaluated for these arguments"),
        ("[for i in range(1000) : [for j in range(1000) : j]]", "too many steps"),
        ('replace(join("", [for i in range(1000) : "aaaaaaaaaa"]), "a", join("", range(1000)))', "more than 1000000"),
        ('replace(join("", [for i in range(1000) : "aaaaaaaaaa"]), "/a/", join("", range(1000)))', "more than 1000000"),
        ('join(join("", range(1000)), range(1000))', "more than 1000000"),
        ('indent(1000, join("\\n", range(1024)))', "more than 1000000"),
        (f'format("{"%[1]s" * 1000}", join("", range(1000)))', "more than 1000000"),
        ('formatlist("%s%s", range(1000), join("", range(1000)))', "more than 1000000"),
    ],
)
def test_what_would_cost_too_much_is_unknown(text: str, why: str) -> None:
    with pytest.raises(Unknown, match=why):
        evaluate(parse_expression(text), EvaluationScope(steps=Steps(100_000)))


@pytest.mark.parametrize(
    "doubled", ['"${OLD}${OLD}"', "concat(OLD, OLD)", "[OLD, OLD]", "merge({ a = OLD }, { b = OLD })"]
)
def test_a_value_that_doubles_with_each_name_ends_as_unknown(
    tmp_path: Path, doubled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for reader in ("gateway.terraform.lang.evaluate", "gateway.terraform.config.module"):
        monkeypatch.setattr(f"{reader}.MOST_STEPS", 100_000)
    first = '"aaaaaaaaaa"' if doubled.startswith('"') else '["a"]'
    names = "".join(f"  x{number} = {doubled.replace('OLD', f'local.x{number - 1}')}\n" for number in range(1, 22))
    (tmp_path / "main.tf").write_text(f"locals {{\n  x0 = {first}\n{names}}}\n")
    module = load_module(tmp_path)
    assert evaluate(parse_expression("length(local.x8)"), module.scope)
    with pytest.raises(Unknown, match=r"too many steps|more than 1000000"):
        evaluate(parse_expression("local.x21"), module.scope)


def test_an_unknown_item_is_evaluated_again_with_steps_of_its_own() -> None:
    scope = EvaluationScope(steps=Steps(1000))
    (item,) = values.items(value_of(parse_expression("[unknown.x]"), scope), "the test")
    assert isinstance(item, Opaque)
    origin = item.origin
    assert isinstance(origin, tuple)
    assert origin[1].steps is None


def test_variables_of_a_for_come_before_other_roots_and_those_before_iterators(tmp_path: Path) -> None:
    module = load_module(tmp_path, {Path("main.tf"): b"locals {\n  x = 1\n}\n"})
    iterators = {name: ("k", name) for name in ("a", "b", "c")}
    scope = EvaluationScope(
        module=module, iterators=iterators, names={"a": "second", "b": "second"}, bound={"a": "first"}
    )
    found = [value_of(parse_expression(text), scope) for text in ("a", "b", "c.value", "local.x")]
    assert found == ["first", "second", "c", 1]


def test_the_steps_of_a_scope_do_not_make_it_another(tmp_path: Path) -> None:
    module = load_module(tmp_path, {Path("main.tf"): b""})
    assert EvaluationScope(module=module, count=1) == EvaluationScope(module=module, count=1)
    assert EvaluationScope(count=1) != EvaluationScope(count=2)


def test_every_item_and_every_line_of_text_is_a_step() -> None:
    steps = Steps(100)
    take_for(([1, 2, {"a": [3]}], "x" * 250), steps)
    assert steps.left == 100 - 3 - 1 - 1 - 2


def test_the_end_is_unknown() -> None:
    with pytest.raises(values_Unknown, match="too many steps"):
        Steps(1).take(2)
    take_for(([1] * 10,), None)


def test_a_branch_that_converts_has_its_type_although_it_fails() -> None:
    assert evaluate(parse_expression('"" != "" ? tonumber("") : 30'), EvaluationScope()) == 30
    assert evaluate(parse_expression('"" != "" ? tobool("") : true'), EvaluationScope()) is True
