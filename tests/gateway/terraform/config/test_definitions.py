"""Definitions of a directory, and the names in them."""

from pathlib import Path

import pytest

from gateway.terraform.config.definitions import definitions
from gateway.terraform.config.source import load_sources

MAIN = """
variable "v" {
  default = 1
}
locals {
  l = var.v
}
output "o" {
  value = local.l
}
resource "a" "b" {
  count = local.l
  x     = module.m.o
  c {
    y = data.d.e.id
  }
}
data "d" "e" {
  z = a.b[0].x
}
module "m" {
  source = "./m"
  count  = var.v
  size   = local.l
}
provider "p" {
  region = var.v
}
"""


def _definitions(root: Path, text: str, values: str = "") -> dict[str, set[str]]:
    overlay = {Path("main.tf"): text.encode(), Path("m/main.tf"): b"", Path("terraform.tfvars"): values.encode()}
    found = definitions(load_sources(root, overlay, {})["."])
    return {key: set(defined.names) for key, defined in found.by_key.items()}


def test_each_definition_has_the_names_in_it(tmp_path: Path) -> None:
    assert _definitions(tmp_path, MAIN) == {
        "var.v": set(),
        "local.l": {"var.v"},
        "output.o": {"local.l"},
        "keys.a.b": {"local.l"},
        "body.a.b": {"module.m", "m.o", "data.d", "d.e", "e.id"},
        "data.d.e": {"a.b"},
        "keys.module.m": {"var.v"},
        "body.module.m": {"var.v", "local.l"},
        "argument.m.size": {"local.l"},
        "provider.0": {"var.v"},
    }


@pytest.mark.parametrize(
    "expression",
    [
        "var.v",
        "var . v",
        "(var\n  .v)",
        "(var # why\n  .v)",
        "(var // why\n  # and why\n .v)",
        "(var. # why\n  v)",
        "var/* why */.v",
        "var./* why */v",
        '"${var.v}"',
        "<<EOT\n${var.v}\nEOT\n",
        "upper(var.v)",
        "x[var.v]",
        '"%{ if var.v }a%{ endif }"',
        "-var.v",
        "[for x in y : var.v]",
        'x["http://a"] + var.v',
    ],
)
def test_a_name_is_found_however_it_is_written(expression: str, tmp_path: Path) -> None:
    found = _definitions(tmp_path, f"{MAIN}locals {{\n  z = {expression}\n}}\n")
    assert "var.v" in found["local.z"]


def test_users_and_changes(tmp_path: Path) -> None:
    def read(text: str, values: str = "") -> set[str]:
        overlay = {Path("main.tf"): text.encode(), Path("m/main.tf"): b""}
        given = {Path("terraform.tfvars"): values.encode()} if values else {}
        now = definitions(load_sources(tmp_path, overlay | given, {})["."], before)
        return set(now.changed_since(before))

    before = definitions(load_sources(tmp_path, {Path("main.tf"): MAIN.encode(), Path("m/main.tf"): b""}, {})["."])
    assert set(before.users["local.l"]) == {"output.o", "keys.a.b", "body.module.m", "argument.m.size"}
    assert read(MAIN) == set()
    assert read("# more\n" + MAIN) == set()
    assert read(MAIN.replace("default = 1", "default = 2")) == {"var.v"}
    assert read(MAIN, "v = 3\n") == {"var.v"}
    assert read(MAIN.replace("count = local.l", "count = 1")) == {"keys.a.b", "body.a.b"}
    assert read(MAIN.replace("size   = local.l", "size   = 1")) == {"body.module.m", "argument.m.size"}
    assert read(MAIN.replace('output "o"', 'output "p"')) == {"output.o", "output.p"}
