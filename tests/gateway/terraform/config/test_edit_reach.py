"""Definitions of a directory, and the names in them."""

from pathlib import Path

import pytest

from gateway.core.errors import CodeInvalid
from gateway.terraform.config.edit_reach import all_definitions, definitions, module_after_edit
from gateway.terraform.config.module import Module, load_module
from gateway.terraform.config.source import load_sources
from gateway.terraform.lang.hcl import parse

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
        now = definitions(load_sources(tmp_path, overlay | given, {})["."], earlier)
        return set(now.changed_since(earlier))

    earlier = definitions(load_sources(tmp_path, {Path("main.tf"): MAIN.encode(), Path("m/main.tf"): b""}, {})["."])
    assert set(earlier.users["local.l"]) == {"output.o", "keys.a.b", "body.module.m", "argument.m.size"}
    assert read(MAIN) == set()
    assert read("# more\n" + MAIN) == set()
    assert read(MAIN.replace("default = 1", "default = 2")) == {"var.v"}
    assert read(MAIN, "v = 3\n") == {"var.v"}
    assert read(MAIN.replace("count = local.l", "count = 1")) == {"keys.a.b", "body.a.b"}
    assert read(MAIN.replace("size   = local.l", "size   = 1")) == {"body.module.m", "argument.m.size"}
    assert read(MAIN.replace('output "o"', 'output "p"')) == {"output.o", "output.p"}


FILES = {
    Path("main.tf"): b"""locals {
  a = 1
  b = local.a + 1
  c = 5
  d = module.m.size
}
module "m" {
  source = "./m"
  size   = local.b
}
module "n" {
  source = "./m"
  size   = local.c
}
""",
    Path("m/main.tf"): b'variable "size" {}\noutput "size" {\n  value = var.size * 2\n}\n',
}


@pytest.fixture
def before(tmp_path: Path) -> Module:
    """The code above, with every value evaluated."""
    module = load_module(tmp_path, FILES)
    for each in module.modules():
        for name in each.source.locals:
            each.local(name)
        each.own_outputs()
    return module


def _changed(before: Module, path: str, old: bytes, new: bytes) -> Module | None:
    now = parse(Path(path), FILES[Path(path)].replace(old, new))
    found = module_after_edit(before, all_definitions(before), {now.path: now})
    return None if found is None else found[0]


def test_only_what_an_edit_reaches_is_evaluated_again(before: Module) -> None:
    after = _changed(before, "main.tf", b"a = 1", b"a = 3")
    assert after is not None
    assert after.carried is not None
    assert after.carried.outdated[""] >= {"local.a", "local.b", "local.d", "module.m"}
    assert set(after.evaluated) == {"local.c"}
    assert set(after.children("n")[None].evaluated) == {"var.size", "output.size"}
    assert after.local("d") == 8
    assert before.local("d") == 4


def test_an_edit_of_a_module_reaches_all_its_calls(before: Module) -> None:
    after = _changed(before, "m/main.tf", b"* 2", b"* 3")
    assert after is not None
    assert after.local("d") == 6
    assert after.children("n")[None].own_outputs() == {"size": 15}


@pytest.mark.parametrize(("old", "new"), [(b"./m", b"./other"), (b'module "n"', b'module "o"')])
def test_an_edit_that_changes_which_modules_there_are_is_read_whole(before: Module, old: bytes, new: bytes) -> None:
    assert _changed(before, "main.tf", old, new) is None


def test_a_file_of_another_directory_is_read_whole(before: Module) -> None:
    other = parse(Path("other/main.tf"), b"")
    assert module_after_edit(before, all_definitions(before), {other.path: other}) is None


def test_a_new_file_is_read(before: Module) -> None:
    more = parse(Path("more.tf"), b"locals {\n  e = local.c\n}\n")
    found = module_after_edit(before, all_definitions(before), {more.path: more})
    assert found is not None
    assert found[0].local("e") == 5


def test_files_of_several_directories_are_changed_together(before: Module) -> None:
    module = parse(
        Path("m/main.tf"), FILES[Path("m/main.tf")].replace(b"size * 2", b"size * var.by") + b'variable "by" {}\n'
    )
    root = parse(Path("main.tf"), FILES[Path("main.tf")].replace(b"local.b\n", b"local.b\n  by = 5\n"))
    found = module_after_edit(before, all_definitions(before), {module.path: module, root.path: root})
    assert found is not None
    assert found[0].local("d") == 10
    assert found[0].evaluated["local.a"] == 1


def test_what_is_declared_twice_is_refused(before: Module) -> None:
    with pytest.raises(CodeInvalid, match=r"local a is already declared at main\.tf:2"):
        _changed(before, "main.tf", b"b = local.a + 1", b"}\nlocals {\n  a = 2\n  b = 1")
