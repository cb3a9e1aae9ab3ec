"""Where one instance must differ from the others, a conditional is the last place."""

from pathlib import Path

import pytest

from gateway.model.json import Json
from gateway.terraform.lang.evaluate import EvaluationScope
from reconciler.model import Wanted
from reconciler.rewrite.edit import edit
from reconciler.rewrite.trace_overrides import condition_of, condition_on


@pytest.mark.parametrize(
    ("body", "path", "value", "after"),
    [
        ("size = 1", "size", 2, 'size = each.key == "a" ? 2 : 1'),
        (
            "text = jsonencode({ a = { b = 1 } })",
            "text.a.b",
            2,
            'text = jsonencode({ a = { b = each.key == "a" ? 2 : 1 } })',
        ),
        ("tags = { x = 1 }", "tags.y", 2, 'tags = merge({ x = 1 }, each.key == "a" ? { y = 2 } : {})'),
        ("tags = merge({ x = 1 })", "tags.x", 2, 'tags = merge({ x = each.key == "a" ? 2 : 1 })'),
    ],
)
def test_one_instance_gets_its_own_value(body: str, path: str, value: Json, after: str, tmp_path: Path) -> None:
    code = f'resource "r" "a" {{\n  for_each = toset(["a", "b"])\n  {body}\n}}\n'
    wanted = Wanted(address='r.a["a"]', attribute=path, value=value)
    result = edit(tmp_path, [wanted], {Path("main.tf"): code.encode()})
    assert result.files[Path("main.tf")].decode() == code.replace(body, after)


@pytest.mark.parametrize("body", ["name = each.key", 'name = "x-${each.value}"'])
def test_what_names_the_instance_is_left(body: str, tmp_path: Path) -> None:
    code = f'resource "r" "a" {{\n  for_each = toset(["a", "b"])\n  {body}\n}}\n'
    wanted = Wanted(address='r.a["a"]', attribute="name", value="other")
    assert edit(tmp_path, [wanted], {Path("main.tf"): code.encode()}).left


def test_a_round_of_a_for_gets_its_own_value(tmp_path: Path) -> None:
    code = 'resource "r" "a" {\n  for_each = { for n in range(1, 3) : "w${n}" => n * 30 }\n\n  days = each.value\n}\n'
    wanted = Wanted(address='r.a["w2"]', attribute="days", value=90)
    result = edit(tmp_path, [wanted], {Path("main.tf"): code.encode()})
    assert "=> n == 2 ? 90 : n * 30 }" in result.files[Path("main.tf")].decode()


def test_all_rounds_of_a_for_get_another_factor(tmp_path: Path) -> None:
    code = 'resource "r" "a" {\n  for_each = { for n in range(1, 3) : "w${n}" => n * 30 }\n\n  days = each.value\n}\n'
    wanted = [Wanted(address=f'r.a["w{n}"]', attribute="days", value=n * 60) for n in (1, 2)]
    result = edit(tmp_path, wanted, {Path("main.tf"): code.encode()})
    assert result.files[Path("main.tf")].decode() == code.replace("30", "60")


def test_conditions_are_written_only_for_keys_that_are_known() -> None:
    assert condition_of(EvaluationScope(count=3)) == "count.index == 3"
    assert condition_of(EvaluationScope(each=("a$", 1))) == 'each.key == "a$"'
    assert condition_of(EvaluationScope()) == ""
    assert [condition_on("n", value) for value in (1, "x", True, None)] == ["n == 1", 'n == "x"', "", ""]
