"""The blocks with a footprint of their own, found by the keys of their definitions."""

from pathlib import Path

from gateway.terraform.config.module import Module, load_module
from reconciler.rewrite.footprint.parts import block_keys, parts_of
from tests.kit.footprints import footprints

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
FILES = {
    Path("main.tf"): CODE.encode(),
    Path("m/main.tf"): b'resource "a_b" "inner" {}\n',
    Path("main_override.tf"): b'resource "a_b" "c" {\n  size = 3\n}\n',
}


def _root(directory: Path) -> Module:
    return load_module(directory, FILES)


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
        "override.0.0": ["?override 0.0"],
    }


def test_a_block_that_the_module_lacks_has_none(tmp_path: Path) -> None:
    root = _root(tmp_path)
    for keys in (
        ("body.a_b.z",),
        ("data.z.z",),
        ("provider.1",),
        ("body.module.z",),
        ("override.0.1",),
        ("override.1.0",),
    ):
        assert list(parts_of(root, keys)) == []


def test_the_footprints_of_a_stack_are_those_of_all_its_modules(tmp_path: Path) -> None:
    found = footprints(_root(tmp_path))
    assert found['a_b.c["x"]'] == {"name": "x"}
    assert set(found["?a_b.c"]) == {"provider"}
    assert found["module.here.a_b.inner"] == {}
    assert found["?override 0.0"] == {"size": 3}
