"""The instances of a block: one, or one for each index or key."""

from pathlib import Path

import pytest

from gateway.terraform.config.expansion import expand
from gateway.terraform.config.module import load_module
from gateway.terraform.lang.values import Unknown


@pytest.mark.parametrize(
    ("body", "keys"),
    [
        ("", [None]),
        ("count = 2", [0, 1]),
        ('for_each = toset(["b", "a"])', ["a", "b"]),
        ("for_each = { x = 1 }", ["x"]),
    ],
)
def test_the_keys_of_a_block(body: str, keys: list[str | int | None], tmp_path: Path) -> None:
    module = load_module(tmp_path, {Path("main.tf"): f'resource "r" "a" {{\n  {body}\n}}\n'.encode()})
    assert [key for key, _ in expand(module, *module.source.resources["r.a"])] == keys


@pytest.mark.parametrize("body", ["for_each = [1]", "count = var.none", "count = 100000000", "count = 1e9"])
def test_keys_that_are_not_known(body: str, tmp_path: Path) -> None:
    module = load_module(tmp_path, {Path("main.tf"): f'resource "r" "a" {{\n  {body}\n}}\n'.encode()})
    with pytest.raises(Unknown):
        expand(module, *module.source.resources["r.a"])
