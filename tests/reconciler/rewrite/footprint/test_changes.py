"""After an edit only what it can reach is evaluated, and the answer is that of evaluating everything."""

import random
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from gateway.core.errors import CodeInvalid
from gateway.terraform.config.edit_reach import AllDefinitions, all_definitions, module_after_edit
from gateway.terraform.config.module import Module, load_module
from gateway.terraform.lang.hcl import parse
from reconciler.rewrite.footprint.changes import block_keys, footprint_changes, parts_of
from reconciler.rewrite.footprint.values import differences
from tests.kit.footprints import footprints
from tests.kit.growth import work

FILES = {
    "main.tf": """
variable "env" {
  default = "prod"
}
variable "sizes" {
  type    = map(object({ size = number, owner = optional(string, "nobody") }))
  default = {}
}
locals {
  prefix = "shop-${var.env}"
  tags   = merge({ Owner = "a", Env = var.env }, var.extra)
  big    = { for name, each in var.sizes : name => each.size if each.size > 3 }
  mixed  = { a = { id = aws_vpc.main.id, size = 1 }, b = { id = aws_vpc.main.id, size = 2 }, c = { id = "x", size = 3 } }
  shared = module.many["a"].size + module.one.size
}
variable "extra" {
  type    = map(string)
  default = { More = "yes" }
}
resource "aws_vpc" "main" {
  cidr = "10.0.0.0/8"
  tags = local.tags
}
resource "aws_queue" "each" {
  for_each = local.mixed
  name     = "${local.prefix}-${each.key}"
  vpc      = each.value.id
  size     = each.value.size
}
resource "aws_queue" "big" {
  for_each = local.big
  delay    = each.value
}
resource "aws_queue" "count" {
  count = var.env == "prod" ? 2 : 1
  name  = "${local.prefix}-${count.index}"
  other = aws_queue.each["a"].vpc
}
resource "aws_queue" "unknown" {
  for_each = toset(aws_vpc.main.subnets)
  size     = local.shared
}
resource "aws_queue" "blocks" {
  dynamic "rule" {
    for_each = local.big
    content {
      port = rule.value
      text = "${aws_vpc.main.id}-${var # a comment within
        .env}"
    }
  }
  rule {
    port = 80
  }
}
data "aws_ami" "this" {
  owner = local.prefix
}
provider "aws" {
  region = var.env == "prod" ? "eu-west-1" : "eu-north-1"
}
module "one" {
  source = "./modules/part"
  size   = 5
  owner  = local.tags.Owner
}
module "many" {
  source   = "./modules/part"
  for_each = local.mixed
  size     = each.value.size
  id       = each.value.id
  peer     = module.one.name
}
module "counted" {
  source = "./modules/outer"
  count  = 2
  factor = count.index + 1
}
module "remote" {
  source = "registry/remote/aws"
  size   = local.shared
}
""",
    "terraform.tfvars": """
sizes = {
  small = { size = 1 }
  large = { size = 7, owner = "b" }
  huge  = { size = 9 }
}
""",
    "main_override.tf": """
resource "aws_vpc" "main" {
  enabled = local.prefix
}
variable "env" {
  default = "test"
}
locals {
  prefix = "late-${var.env}"
}
module "one" {
  size = 4
}
resource "aws_queue" "each" {
  size = 9
}
""",
    "modules/part/main.tf": """
variable "size" {
  type = number
}
variable "owner" {
  default = "nobody"
}
variable "id" {
  default = null
}
variable "peer" {
  default = ""
}
locals {
  double = var.size * 2
  label  = try(coalesce(var.id, "none"), "none")
}
resource "aws_queue" "this" {
  count = var.size > 2 ? 2 : 1
  size  = local.double
  name  = "${var.owner}-${local.label}"
  vpc   = var.id
  peer  = var.peer
}
output "size" {
  value = local.double
}
output "name" {
  value = "${aws_queue.this[0].arn}-${var.owner}"
}
""",
    "modules/outer/main.tf": """
variable "factor" {
  type = number
}
module "inner" {
  source   = "../part"
  for_each = { for n in range(var.factor) : "n${n}" => n + 1 }
  size     = each.value * var.factor
}
resource "aws_queue" "sum" {
  size = sum([for part in module.inner : part.size])
}
""",
}
ROUNDS = 40
TOKEN = re.compile(r'\b\d+\b|"[a-z-]+"|\b(?:var|local)\.[a-z]+|\btrue\b')


def _sources() -> dict[Path, bytes]:
    return {Path(name): text.encode() for name, text in FILES.items()}


def _edits(sources: Mapping[Path, bytes], chance: random.Random) -> Iterator[dict[Path, bytes]]:
    """Random edits of one file, or of several at once."""
    while True:
        paths = chance.sample(sorted(sources), chance.choice([1, 1, 1, 2, 3]))
        yield {path: _edited(sources[path].decode(), chance).encode() for path in paths}


def _edited(text: str, chance: random.Random) -> str:
    """The text with another literal or name, a line more, a line less, or a comment."""
    lines = text.split("\n")
    at = chance.randrange(len(lines))
    match chance.randrange(6):
        case 0 | 1 | 2:
            token = chance.choice(list(TOKEN.finditer(text)))
            other = chance.choice(["1", "4", "8", '"x"', '"prod"', "null", "var.env", "var.size", "local.prefix"])
            return text[: token.start()] + other + text[token.end() :]
        case 3:
            return "\n".join([*lines[:at], *lines[at + 1 :]])
        case 4:
            new = chance.choice(["size = 3", "owner = var.env", "# note", "  d = { size = 9 }", "id = local.prefix"])
            return "\n".join([*lines[:at], new, *lines[at:]])
    return f"# a first line\n{text}"


def _seen(before: Module, after: Module) -> set[tuple[str, ...]]:
    """Every difference between two versions, as the guard sees it."""
    found: set[tuple[str, ...]] = set()
    for change in footprint_changes(before, after):
        if change.before is None or change.after is None:
            found.add((change.address,))
        else:
            paths = differences(dict(change.before), dict(change.after))
            found.update((change.address, *path) for path in paths)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 6))])
def test_the_guard_sees_what_evaluating_everything_shows(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)  # noqa: S311  edits, not secrets
    sources = _sources()
    before = load_module(tmp_path, sources)
    known: AllDefinitions = all_definitions(before)
    done = seen = 0
    for files in _edits(sources, chance):
        try:
            whole = load_module(tmp_path, {**sources, **files})
        except CodeInvalid:
            continue
        changed = module_after_edit(before, known, {path: parse(path, content) for path, content in files.items()})
        if changed is None:
            continue
        after, definitions = changed
        expected = _seen(load_module(tmp_path, sources), whole)
        found = _seen(before, after)
        assert found == expected, files
        if chance.random() < 0.5:  # an edit that is made: later ones start from it, with what it carried over
            assert after.carried is not None
            after.carried.release()
            assert footprints(after) == footprints(whole)
            before, known, sources = after, definitions, {**sources, **files}
        seen += bool(found)
        done += 1
        if done == ROUNDS:
            break
    assert seen > ROUNDS / 4


def test_an_edit_costs_what_it_reaches(tmp_path: Path) -> None:
    def evaluated(size: int) -> int:
        blocks = "".join(f'resource "a" "r{n}" {{\n  x = {n}\n  y = "${{var.v}}-{n}"\n}}\n' for n in range(size))
        text = f'variable "v" {{\n  default = 1\n}}\n{blocks}'
        before = load_module(tmp_path, {Path("main.tf"): text.encode()})
        changed = module_after_edit(
            before,
            all_definitions(before),
            {Path("main.tf"): parse(Path("main.tf"), text.replace("x = 3\n", "x = 9\n").encode())},
        )
        assert changed is not None
        return work(lambda: list(footprint_changes(before, changed[0])))

    footprints_of_one, footprints_of_many = evaluated(50), evaluated(200)
    assert footprints_of_many < 6 * footprints_of_one
    assert len(list(_growing(tmp_path, 200))) == 1


def _growing(root: Path, size: int) -> Iterator[str]:
    """The addresses whose footprints are made again after one literal of many was changed."""
    blocks = "".join(f'resource "a" "r{n}" {{\n  x = {n}\n  y = local.l\n}}\n' for n in range(size))
    text = f"locals {{\n  l = aws_vpc.x.id\n}}\n{blocks}"
    before = load_module(root, {Path("main.tf"): text.encode()})
    after = module_after_edit(
        before,
        all_definitions(before),
        {Path("main.tf"): parse(Path("main.tf"), text.replace("x = 7\n", "x = 9\n").encode())},
    )
    assert after is not None
    for change in footprint_changes(before, after[0]):
        if not change.address.startswith("?"):
            yield change.address


def test_one_entry_of_a_map_reaches_one_instance(tmp_path: Path) -> None:
    entries = "".join(f"    k{n} = {{ size = {n}, vpc = aws_vpc.x.id }}\n" for n in range(40))
    text = (
        f"locals {{\n  m = {{\n{entries}  }}\n}}\n"
        'resource "a" "r" {\n  for_each = local.m\n  size = each.value.size\n  vpc = each.value.vpc\n}\n'
        'module "m" {\n  source = "./m"\n  for_each = local.m\n  size = each.value.size\n}\n'
    )
    sources = {
        Path("main.tf"): text.encode(),
        Path("m/main.tf"): b'variable "size" {}\nresource "a" "b" {\n  x = var.size\n}\n',
    }
    before = load_module(tmp_path, sources)
    after = module_after_edit(
        before,
        all_definitions(before),
        {Path("main.tf"): parse(Path("main.tf"), text.replace("size = 7,", "size = 70,").encode())},
    )
    assert after is not None
    found = {each.address for each in footprint_changes(before, after[0]) if not each.address.startswith("?")}
    assert found == {'a.r["k7"]', 'module.m["k7"].a.b'}


def test_an_edit_of_one_argument_does_not_evaluate_the_others(tmp_path: Path) -> None:
    def evaluated(arguments: int) -> int:
        others = "".join(f'  x{n} = "${{var.v}}-{n}-${{each.key}}"\n' for n in range(arguments))
        block = f'resource "a" "r" {{\n  for_each = toset([for n in range(30) : "k${{n}}"])\n{others}  size = 7\n}}\n'
        text = f'variable "v" {{\n  default = 1\n}}\n{block}'
        before = load_module(tmp_path, {Path("main.tf"): text.encode()})
        now = parse(Path("main.tf"), text.replace("size = 7", "size = 9").encode())
        changed = module_after_edit(before, all_definitions(before), {now.path: now})
        assert changed is not None
        found = [each for each in footprint_changes(before, changed[0]) if not each.address.startswith("?")]
        assert {(each.before or {}).get("size") for each in found} == {7}
        assert len(found) == 30
        changed = module_after_edit(before, all_definitions(before), {now.path: now})
        assert changed is not None
        return work(lambda: list(footprint_changes(before, changed[0])))

    assert evaluated(40) < 1.5 * evaluated(2)


def test_what_each_value_of_a_call_reaches_is_seen_after_a_later_edit(tmp_path: Path) -> None:
    """The first edit changes `each.value` of one call, which no name inside the module tells; the second edit reaches nothing of it."""
    sources = {
        Path("main.tf"): b"locals {\n  m = { a = 1, b = 2 }\n  z = 1\n}\n"
        b'module "m" {\n  source = "./m"\n  for_each = local.m\n  size = each.value\n}\n',
        Path("m/main.tf"): b'variable "size" {}\nmodule "n" {\n  source = "../n"\n  size = var.size\n}\n',
        Path("n/main.tf"): b'variable "size" {}\nresource "a" "b" {\n  x = var.size\n}\n',
    }
    first = load_module(tmp_path, sources)
    known = all_definitions(first)
    edits = []
    text, here = sources[Path("main.tf")], first
    for old, new in ((b"b = 2", b"b = 3"), (b"z = 1", b"z = 2")):
        text = text.replace(old, new)
        changed = module_after_edit(here, known, {Path("main.tf"): parse(Path("main.tf"), text)})
        assert changed is not None
        here, known = changed
        list(here.modules())
        edits.append(here.carried)
    found = {
        each.address: (each.before, each.after)
        for each in footprint_changes(first, here, edits)
        if each.before != each.after
    }
    assert found == {'module.m["b"].module.n.a.b': ({"x": 2}, {"x": 3})}


CODE = """
resource "a_b" "c" {
  for_each = toset(["x", "y"])
  name     = each.key
  provider = a.other
}
resource "a_b" "unknown" {
  count = a_b.c["x"].size
}
data "a_d" "e" {
  name = 1
}
provider "a" {
  region = "eu"
}
module "here" {
  source = "./m"
}
module "remote" {
  source = "registry/remote/aws"
}
"""
FILES_OF_PARTS = {
    Path("main.tf"): CODE.encode(),
    Path("m/main.tf"): b'resource "a_b" "inner" {}\n',
    Path("main_override.tf"): b'resource "a_b" "c" {\n  size = 3\n}\noutput "o" {\n  value = 1\n}\n',
}


def _root(directory: Path) -> Module:
    return load_module(directory, FILES_OF_PARTS)


def test_every_block_has_its_parts(tmp_path: Path) -> None:
    root = _root(tmp_path)
    found = {keys[0]: [part.address for part in parts_of(root, keys)] for keys in block_keys(root)}
    assert found == {
        "body.a_b.c": ['a_b.c["x"]', 'a_b.c["y"]', "?a_b.c"],
        "body.a_b.unknown": ["?a_b.unknown"],
        "data.a_d.e": ["?data.a_d.e"],
        "provider.0": ["?provider 0"],
        "body.module.here": [],
        "body.module.remote": ["?module.remote"],
        "override.0.1": ["?override 0.1"],
    }


def test_a_block_that_the_module_lacks_has_none(tmp_path: Path) -> None:
    root = _root(tmp_path)
    for keys in (
        ("body.a_b.z",),
        ("data.z.z",),
        ("provider.1",),
        ("body.module.z",),
        ("override.0.0",),
        ("override.0.2",),
        ("override.1.0",),
    ):
        assert list(parts_of(root, keys)) == []


def test_the_footprints_of_a_stack_are_those_of_all_its_modules(tmp_path: Path) -> None:
    found = footprints(_root(tmp_path))
    assert found['a_b.c["x"]'] == {"name": "x", "size": 3}
    assert set(found["?a_b.c"]) == {"provider"}
    assert found["module.here.a_b.inner"] == {}
    assert found["?override 0.1"] == {"value": 1}
