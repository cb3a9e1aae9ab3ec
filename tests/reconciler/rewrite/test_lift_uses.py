"""Where a new variable is used, by the shape of what stands there; without it everything is as before."""

from pathlib import Path

import pytest

from gateway.model.json import Json
from gateway.terraform.config.module import load_module
from reconciler.model import Wanted
from reconciler.rewrite.edit import edit

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
    result = edit(Path("/nowhere"), [wanted], files)
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
