"""A value that one caller of a module wants becomes a variable of it; see also tests/cases/edits/module_*."""

from pathlib import Path

import pytest

from gateway.core.model.json import Json
from gateway.terraform.config.module import load_module
from reconciler.model import Wanted
from reconciler.rewrite.module_variable import module_variables
from reconciler.rewrite.trace.attribute import trace_attribute
from reconciler.rewrite.value_edits import edit_values

FILES = {
    Path("main.tf"): b'module "s" {\n  source = "./s"\n}\n\nresource "aws_x" "own" {\n  size = 1\n}\n',
    Path("s/main.tf"): b'module "q" {\n  source = "../q"\n}\n',
    Path("q/main.tf"): b'resource "aws_x" "y" {\n  size = 1\n}\n',
}


def _lifts(address: str) -> list[list[str]]:
    module = load_module(Path("/nowhere"), FILES)
    wanted = Wanted(address=address, attribute="size", value=5)
    found = module_variables(module, wanted, trace_attribute(module, address, wanted.path))
    return [[document.path.as_posix() for document, _ in lift.splices(5)] for lift in found]


def test_the_value_is_set_at_the_nearest_call_first_and_then_passed_on() -> None:
    nearest, passed_on = _lifts("module.s.module.q.aws_x.y")
    assert nearest == ["q/main.tf", "s/main.tf"]
    assert passed_on == ["q/main.tf", "s/main.tf", "main.tf"]


@pytest.mark.parametrize("address", ["aws_x.own", "aws_x.unknown"])
def test_a_resource_of_the_root_needs_none(address: str) -> None:
    assert _lifts(address) == []


ROOT = b"""module "a" {
  source = "./m"
  size   = 2
}

module "b" {
  source = "./m"
  size   = 3
}
"""


def _used(line: str, attribute: str, value: Json, head: str = "") -> str:
    """What the attribute's line in the module becomes when only module.a wants another value."""
    code = f'variable "size" {{\n  type = number\n}}\n\nresource "aws_x" "y" {{\n{head}  {line}\n}}\n'
    files = {Path("main.tf"): ROOT, Path("m/main.tf"): code.encode()}
    key = '["k"]' if head else ""
    wanted = Wanted(address=f"module.a.aws_x.y{key}", attribute=attribute, value=value)
    result = edit_values(Path("/nowhere"), [wanted], files)
    assert not result.left
    module = load_module(Path("/nowhere"), {**files, **result.files})
    assert module.instance(f"module.b.aws_x.y{key}") is not None
    after = result.files[Path("m/main.tf")].decode()
    return after[after.index("resource") :].split("\n", 1)[1].rsplit("\n}", 1)[0].removeprefix(head).strip()


@pytest.mark.parametrize(
    ("line", "attribute", "value", "becomes"),
    [
        ("days = 5", "days", 6, "days = var.days"),
        ("days = var.size > 1 ? 5 : 6", "days", 9, "days = var.size > 1 ? var.days : 6"),
        ("days = var.size * var.size * 2", "days", 7, "days = coalesce(var.days, var.size * var.size * 2)"),
        ("on = var.size > 1", "on", False, "on = var.on != null ? var.on : var.size > 1"),
        ('zones = ["a"]', "zones", ["b"], "zones = var.zones"),
        ('tags = { a = "b" }', "tags.owner", "ada", 'tags = merge({ a = "b" }, var.tags)'),
        ("days = 5", "delay", 6, "days  = 5\n  delay = var.delay"),
    ],
)  # fmt: skip
def test_the_use_in_a_block_with_one_instance(line: str, attribute: str, value: Json, becomes: str) -> None:
    assert _used(line, attribute, value) == becomes


@pytest.mark.parametrize(
    ("line", "attribute", "value", "becomes"),
    [
        ("days = 5", "days", 6, "days = try(var.days[each.key], 5)"),
        ("on = var.size > 1", "on", False, "on = try(var.on[each.key], var.size > 1)"),
    ],
)
def test_one_of_several_instances_is_looked_up_by_its_key(line: str, attribute: str, value: Json, becomes: str) -> None:
    assert _used(line, attribute, value, '  for_each = toset(["j", "k"])\n') == becomes
