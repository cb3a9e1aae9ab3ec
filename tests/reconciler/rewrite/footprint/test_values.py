"""Footprints show every change that an edit makes, even if a value is not known."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.core.model.path import AttributePath
from gateway.terraform.config.module import load_module
from gateway.terraform.lang.evaluate import EvaluationScope
from gateway.terraform.lang.grammar import parse_expression
from reconciler.rewrite.footprint.values import Footprint, differences, locate, templates_read_by
from tests.kit.footprints import footprints
from tests.kit.growth import assert_linear

MAIN = """
variable "v" {
  default = 1
}
locals {
  l = { a = var.v, b = aws_vpc.x.id }
  s = "${aws_vpc.x.id}-${var.v}"
}
resource "r" "a" {
  x = %s
}
resource "r" "b" {
  x = r.a.x
  y = 1
}
"""


def _prints(root: Path, code: str) -> dict[str, Footprint]:
    return dict(footprints(load_module(root, {Path("main.tf"): code.encode()})))


def _changed(root: Path, before: str, after: str) -> set[str]:
    return {".".join(path) for path in differences(_prints(root, before), _prints(root, after))}


@pytest.mark.parametrize(
    "expression",
    [
        "var.v",
        "local.l.a",
        "local.s",
        '"${local.s}!"',
        "upper(local.s)",
        "[for x in aws_vpc.x.ids : x + var.v]",
        "aws_vpc.x.ok ? var.v : 2",
        'file("${var.v}")',
        "merge(local.l, { c = aws_vpc.x.id })",
        "aws_vpc.x.ids[var.v]",
        "nothing_known(var.v)",
        '"%{ if true }${var.v}%{ endif }"',
        "aws_vpc.x[*].ids[var.v]",
        "-var.v",
    ],
)
def test_a_changed_variable_shows_wherever_it_leads(expression: str, tmp_path: Path) -> None:
    before = MAIN % expression
    after = before.replace("default = 1", "default = 7")
    assert {path.split(".x")[0] for path in _changed(tmp_path, before, after)} == {"r.a", "r.b"}
    assert _changed(tmp_path, before, before + "# a comment\n") == set()


@pytest.mark.parametrize(
    "block",
    [
        'data "d" "x" {\n  size = var.v\n}',
        'provider "aws" {\n  retries = var.v\n}',
        'module "remote" {\n  source = "a/b/c"\n  size   = var.v\n}',
        'resource "r" "many" {\n  count = aws_vpc.x.size\n  size  = var.v\n}',
        'resource "r" "many" {\n  for_each = { (aws_vpc.x.id) = var.v }\n}',
        'resource "r" "few" {\n  count = var.v\n}',
        'resource "r" "run" {\n  provisioner "local-exec" {\n    command = "echo ${var.v}"\n  }\n}',
    ],
)
def test_what_is_no_known_instance_is_seen_too(block: str, tmp_path: Path) -> None:
    before = MAIN % "2" + block + "\n"
    assert _changed(tmp_path, before, before.replace("default = 1", "default = 7"))


@pytest.mark.parametrize(
    ("call", "shows"),
    [
        ('templatefile("${path.module}/t.tftpl", { id = aws_vpc.x.id })', True),
        ('templatefile("t.tftpl", { id = aws_vpc.x.id })', True),
        ('filemd5("t.tftpl")', True),
        ("file(aws_vpc.x.name)", True),
        ('file("other.txt")', False),
        ("upper(aws_vpc.x.id)", False),
    ],
)
def test_an_edit_of_a_template_shows_in_values_that_are_not_known(call: str, shows: bool, tmp_path: Path) -> None:
    named = 'resource "r" "z" {\n  x = templatefile("${path.module}/t.tftpl", {})\n}\n'
    code = {Path("main.tf"): (MAIN % call + named).encode()}
    one, other = ({**footprints(load_module(tmp_path, {**code, Path("t.tftpl"): text}))} for text in (b"a", b"b"))
    found = {".".join(path) for path in differences({**one}, {**other})}
    assert found == ({"r.a.x", "r.b.x", "r.z.x"} if shows else {"r.z.x"})


@pytest.mark.parametrize(
    "expression",
    [
        "r.many[local.key].id",
        "[r.many[local.key].id]",
        "r.some[local.number].id",
        "[for x in [r.many[local.key]] : x.id][0]",
    ],
)
def test_another_key_of_a_reference_shows(expression: str, tmp_path: Path) -> None:
    code = f"""locals {{
  key    = "a"
  number = 0
}}
resource "r" "many" {{
  for_each = toset(["a", "b"])
}}
resource "r" "some" {{
  count = 2
}}
resource "r" "user" {{
  x = {expression}
}}
"""
    after = code.replace('= "a"', '= "b"').replace("= 0", "= 1")
    assert {path.split(".x")[0] for path in _changed(tmp_path, code, after)} == {"r.user"}
    assert _changed(tmp_path, code, code.replace("[local.key]", '["a"]').replace("[local.number]", "[0]")) == set()


@pytest.mark.parametrize(
    ("reference", "follows"),
    [
        ('r.many["a"].x', True),
        ("r.many[local.key].x", True),
        ('module.many["a"].x', True),
        ("r.some[0].x", True),
        ('r.some["0"].x', True),
        ("r.many[aws_vpc.v.id].x", True),
        ('r.many["b"].x', False),
        ('module.many["b"].x', False),
        ("r.some[1].x", False),
    ],
)
def test_a_reference_by_key_follows_that_instance_alone(reference: str, follows: bool, tmp_path: Path) -> None:
    """Another instance may change, or go, without a change of what refers to this one."""
    (tmp_path / "m").mkdir()
    (tmp_path / "m/main.tf").write_text(
        'variable "v" {}\nresource "r" "own" {}\noutput "x" {\n  value = "${r.own.id}-${var.v}"\n}\n'
    )
    code = f"""locals {{
  key  = "a"
  many = {{ a = 1, b = 2 }}
  some = [1, 2]
}}
resource "r" "many" {{
  for_each = local.many
  x        = "${{aws_vpc.v.id}}-${{each.value}}"
}}
resource "r" "some" {{
  count = length(local.some)
  x     = "${{aws_vpc.v.id}}-${{local.some[count.index]}}"
}}
module "many" {{
  for_each = local.many
  source   = "./m"
  v        = each.value
}}
resource "r" "user" {{
  x = {reference}
}}
"""
    changed = _changed(tmp_path, code, code.replace("a = 1", "a = 7").replace("[1, 2]", "[7, 2]"))
    assert ("r.user.x" in changed) == follows
    assert 'r.many["a"].x' in changed
    if "aws_vpc" not in reference:
        gone = _changed(tmp_path, code, code.replace("{ a = 1, b = 2 }", "{ b = 2 }").replace("[1, 2]", "[]"))
        assert ("r.user.x" in gone) == (follows or "some" in reference)


def test_conditions_and_lifecycle_do_not_count(tmp_path: Path) -> None:
    block = 'resource "r" "c" {\n  lifecycle {\n    precondition {\n      condition = var.v > 0\n    }\n  }\n}\n'
    before = MAIN % "2" + block
    assert _changed(tmp_path, before, before.replace("default = 1", "default = 7")) == set()


@pytest.mark.parametrize(
    ("before", "after", "paths"),
    [
        ({"a": 1}, {"a": True}, {"a"}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, {"a.c"}),
        ({"a": None}, {"a": {"b": 1}}, {"a.b"}),
        ({}, {"a": None}, {"a"}),
        ({"a": [1, 2]}, {"a": [1, 3]}, {"a.1"}),
        ({"a": [1]}, {"a": [1, 3]}, {"a"}),
        ({"a": 1}, {"a": 1.0}, set()),
    ],
)
def test_differences(before: Footprint, after: Footprint, paths: set[str]) -> None:
    assert {".".join(path) for path in differences(before, after)} == paths


@pytest.mark.parametrize(
    ("path", "steps", "value"),
    [
        ("block.x", ("block", "0", "x"), 1),
        ("tags.a.b", ("tags", "a.b"), 2),
        ("two.1.x", ("two", "1", "x"), 4),
        ("two.x", ("two", "x"), None),
        ("none.x", ("none", "x"), None),
    ],
)
def test_a_path_is_located(path: str, steps: tuple[str, ...], value: Footprint) -> None:
    tree: Footprint = {"block": [{"x": 1}], "tags": {"a.b": 2}, "two": [{"x": 3}, {"x": 4}]}
    assert locate(tree, AttributePath(path)) == (steps, value)


def test_an_attribute_of_another_resource_does_not_stand_for_all_of_it(tmp_path: Path) -> None:
    code = 'resource "r" "a" {\n  x = 1\n  y = 1\n}\nresource "r" "b" {\n  name = "${r.a.x}-${aws_vpc.v.id}"\n}\n'
    assert _changed(tmp_path, code, code.replace("y = 1", "y = 2")) == {"r.a.y"}
    assert _changed(tmp_path, code, code.replace("x = 1", "x = 2")) == {"r.a.x", "r.b.name"}


def test_a_resource_as_the_keys_of_another_is_followed(tmp_path: Path) -> None:
    code = (
        'resource "r" "a" {\n  for_each = toset(["k"])\n  x = 1\n}\n'
        'resource "r" "b" {\n  for_each = r.a\n  name = each.value.x\n}\n'
    )
    assert _changed(tmp_path, code, code.replace("x = 1", "x = 2")) == {'r.a["k"].x', 'r.b["k"].name'}


@pytest.mark.parametrize(
    "reference", ["r.a[*].x", "[for each in r.a : each.x]", "r.a.*.x", "[for n, each in r.a : each.x]"]
)
def test_an_attribute_of_every_instance_is_followed(reference: str, tmp_path: Path) -> None:
    code = f'resource "r" "a" {{\n  count = 1\n  x = 1\n  y = 1\n}}\nresource "r" "b" {{\n  all = {reference}\n}}\n'
    assert _changed(tmp_path, code, code.replace("y = 1", "y = 2")) == {"r.a[0].y"}
    assert _changed(tmp_path, code, code.replace("x = 1", "x = 2")) == {"r.a[0].x", "r.b.all.0"}


def test_a_chain_of_names_that_are_used_twice_is_followed_once(tmp_path: Path) -> None:
    def chain(size: int, end: str = "${r.a.id}-1") -> str:
        names = "".join(
            f'  x{number} = "${{local.x{number - 1}}}-${{local.x{number - 1}}}"\n' for number in range(1, size)
        )
        return f'locals {{\n  x0 = "{end}"\n{names}}}\nresource "r" "a" {{}}\nresource "r" "b" {{\n  x = local.x{size - 1}\n}}\n'

    def make(size: int) -> Callable[[], object]:
        module = load_module(tmp_path, {Path("main.tf"): chain(size).encode()})
        return lambda: footprints(module)

    assert_linear(make, 10)
    assert _changed(tmp_path, chain(30), chain(30, "${r.a.id}-2")) == {"r.b.x"}
    assert _changed(tmp_path, chain(30), chain(30)) == set()


def test_names_in_a_circle_are_told_apart(tmp_path: Path) -> None:
    code = 'locals {\n  a = [local.b, r.x.id]\n  b = [local.a, NUMBER]\n}\nresource "r" "x" {\n  y = local.a\n  z = local.b\n}\n'
    one, two = (code.replace("NUMBER", number) for number in "12")
    assert {path[:5] for path in _changed(tmp_path, one, two)} == {"r.x.y", "r.x.z"}


CODE = b'locals {\n  x = [templatefile("${path.module}/a.t", {}), templatefile("${path.module}/b.t", {})]\n}\n'


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ('file("a.t")', ["a.t"]),
        ('core::filemd5("./b.t")', ["b.t"]),
        ('templatefile("${path.module}/a.t", { x = aws_x.y.z })', ["a.t"]),
        ("file(aws_x.y.z)", ["a.t", "b.t"]),
        ('file("c.t")', []),
        ("upper(aws_x.y.z)", []),
        ("timestamp()", []),
        ("aws_x.y.z", []),
    ],
)
def test_which_templates_an_expression_may_read(expression: str, names: list[str], tmp_path: Path) -> None:
    module = load_module(tmp_path, {Path("main.tf"): CODE, Path("a.t"): b"a", Path("b.t"): b"b"})
    found = templates_read_by(parse_expression(expression), EvaluationScope(module=module))
    assert [name for name, _ in found] == names
    assert templates_read_by(parse_expression(expression), EvaluationScope()) == ()


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [("5432", 5432, True), (5432, "5432", True), ("true", True, True), ("1", True, False), ("5432", 5433, False)],
)
def test_what_terraform_converts_to_the_type_of_the_attribute_is_no_difference(
    before: Footprint, after: Footprint, *, same: bool
) -> None:
    assert list(differences({"port": before}, {"port": after})) == ([] if same else [("port",)])
