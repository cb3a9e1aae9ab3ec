"""Whatever a value is made of: the literal that can be changed is found, and the whole has the wanted value afterwards."""

import json
from pathlib import Path

import pytest

from gateway.core.model.json import Json
from gateway.terraform.lang.evaluate import EvaluationScope
from gateway.terraform.lang.grammar import parse_expression
from gateway.terraform.lang.values import Unknown
from reconciler.model import Wanted
from reconciler.rewrite.trace.solution import variable_of
from reconciler.rewrite.value_edits import edit_values
from tests.kit.expression_edit import edited, replaced


@pytest.mark.parametrize(
    ("expression", "value", "old", "new"),
    [
        ('"${var.name}-queue"', "tasks-queue", '"jobs"', '"tasks"'),
        ('"shop-${var.name}-${var.hours}h"', "shop-jobs-4h", "= 2", "= 4"),
        ('"p-${var.hours * 60}m"', "p-240m", "= 2", "= 4"),
        ('format("%s-queue", var.name)', "tasks-queue", '"jobs"', '"tasks"'),
        ('format("%s-%d", var.name, var.hours)', "jobs-7", "= 2", "= 7"),
        ('join(",", var.items)', "a,b,c", '["a", "b"]', '["a", "b", "c"]'),
        ('split(",", "a,b")', ["a", "c"], '"a,b"', '"a,c"'),
        ("upper(var.name)", "TASKS", '"jobs"', '"TASKS"'),
        ('trimsuffix("${var.name}-x", "-x")', "tasks", '"jobs"', '"tasks"'),
        ('trimprefix("x-jobs", "x-")', "tasks", '"x-jobs"', '"x-tasks"'),
        ('replace(var.name, "_", "-")', "my-jobs", '"jobs"', '"my_jobs"'),
        ('base64encode("hello")', "d29ybGQ=", '"hello"', '"world"'),
        ('parseint("ff", 16)', 16, '"ff"', '"10"'),
        ("tonumber(tostring(var.hours)) + 1", 9, "= 2", "= 8"),
        ("(var.hours + 1) * 60", 300, "= 2", "= 4"),
        ("-var.hours", -5, "= 2", "= 5"),
        ("max(var.hours, 1)", 5, "= 2", "= 5"),
        ('cidrsubnet("10.0.0.0/16", 8, var.net)', "10.0.9.0/24", "= 3", "= 9"),
        ('cidrhost("10.0.0.0/16", var.net)', "10.0.0.9", "= 3", "= 9"),
        ('formatlist("%s/*", var.items)', ["a/*", "c/*"], '["a", "b"]', '["a", "c"]'),
        ('[for item in var.items : "${item}/*"]', ["a/*", "b/*", "c/*"], '["a", "b"]', '["a", "b", "c"]'),
        ("[for port in var.ports : port + 1]", [81, 445], "[80, 443]", "[80, 444]"),
        ('var.on ? "aws:kms" : "AES256"', "aws:kms", "= false", "= true"),
        ('var.on ? "aws:kms" : "AES256"', "aws:fsx", '"AES256"', '"aws:fsx"'),
        ("!var.on", False, "= false", "= true"),
        ("var.on ? var.net : var.net * 2", 10, "= 3", "= 5"),
    ],
)
def test_a_part_of_a_value_is_solved_for(expression: str, value: Json, old: str, new: str, tmp_path: Path) -> None:
    assert edited(tmp_path, expression, value) == replaced(expression, old, new)


@pytest.mark.parametrize(
    "expression",
    ["var.hours * 60", '"${var.name}-queue"', "var.on ? var.hours : var.net", 'join("-", [var.name, "x"])'],
)
def test_what_is_calculated_is_not_unset(expression: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="Left"):
        edited(tmp_path, f"5 + {expression}" if "?" not in expression else f"({expression}) + 1", None)


def test_a_bool_is_switched_if_the_other_branch_has_the_value(tmp_path: Path) -> None:
    expression = 'var.on ? md5("x") : md5("y")'
    assert edited(tmp_path, expression, "9dd4e461268c8034f5c8564e155c67a6") == replaced(expression, "= false", "= true")
    turned = '!var.on ? md5("y") : md5("x")'
    assert edited(tmp_path, turned, "9dd4e461268c8034f5c8564e155c67a6") == replaced(turned, "= false", "= true")


@pytest.mark.parametrize(
    ("condition", "old", "new"),
    [
        ("tobool(var.on)", "= false", "= true"),
        ("try(tobool(var.on), false)", "= false", "= true"),
        ("var.on && var.hours > 1", "= false", "= true"),
        ("var.on || var.hours > 9", "= false", "= true"),
        ('var.name == "tasks"', '"jobs"', '"tasks"'),
        ('!(var.name != "tasks")', '"jobs"', '"tasks"'),
    ],
)
def test_what_decides_is_changed_where_it_is_given(condition: str, old: str, new: str, tmp_path: Path) -> None:
    expression = f'{condition} ? md5("x") : md5("y")'
    wanted = "9dd4e461268c8034f5c8564e155c67a6"
    assert edited(tmp_path, expression, wanted) == replaced(expression, old, new)


@pytest.mark.parametrize("condition", ["var.on && var.hours > 9", 'var.name != "jobs"', "var.hours > 9"])
def test_what_does_not_decide_alone_is_not_changed(condition: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="Left"):
        edited(tmp_path, f'{condition} ? md5("x") : md5("y")', "9dd4e461268c8034f5c8564e155c67a6")


@pytest.mark.parametrize("made", ["%s", "jsonencode(%s)"])
def test_an_object_is_there_once_the_member_is_given_that_its_condition_asks_for(made: str, tmp_path: Path) -> None:
    code = """variable "queues" {
  default = { a = {}, b = { tries = 3 } }
}

resource "aws_queue" "this" {
  for_each = var.queues
  redrive  = try(each.value.tries, null) == null ? null : %s
}
""" % (made % '{ target = "arn:dead", count = each.value.tries }')
    value: Json = {"target": "arn:dead", "count": 6}
    wanted = Wanted(
        address='aws_queue.this["a"]', attribute="redrive", value=value if made == "%s" else json.dumps(value)
    )
    result = edit_values(tmp_path, [wanted], {Path("main.tf"): code.encode()})
    assert result.files[Path("main.tf")].decode() == code.replace("a = {}", "a = { tries = 6 }")


@pytest.mark.parametrize(
    ("expression", "wanted", "expected"),
    [
        ('"a-${x}-b"', "a-q-b", "q"),
        ('"${upper(x)}"', "Q", "Q"),
        ('format("%s/%s", "a", x)', "a/q", "q"),
        ("x * 2 + 1", 7, 3),
        ("-x", 3, -3),
        ('cidrsubnet("10.0.0.0/8", 8, x)', "10.4.0.0/16", 4),
    ],
)
def test_a_variable_is_solved_for(expression: str, wanted: Json, expected: Json) -> None:
    assert variable_of(parse_expression(expression), "x", EvaluationScope())(wanted) == expected


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ('"a-${x}"', "b-q"),
        ('"${x}-${x}"', "q-q"),
        ('"a"', "a"),
        ("x.name", "a"),
        ("md5(x)", "q"),
        ('format("%s-%s", x, x)', "q-q"),
        ('format("%5s", "a")', "q"),
        ("x * 2", 7),
        ('"${aws_vpc.a.id}-${x}"', "q-q"),
        ('cidrsubnet("10.0.0.0/8", 8, x)', "11.4.0.0/17"),
        ('cidrhost("10.0.0.0/8", x)', "nonsense"),
        ('join(",", x, x)', "q"),
        ("parseint(x, 99)", 5),
    ],
)
def test_what_has_no_solution_is_unknown(expression: str, wanted: Json) -> None:
    with pytest.raises(Unknown):
        variable_of(parse_expression(expression), "x", EvaluationScope())(wanted)
