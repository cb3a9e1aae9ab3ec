"""What an override file says counts, so it is edited there; what it does not say is edited where it stands."""

from pathlib import Path

import pytest

from gateway.core.model.json import Json
from reconciler.model import Edited, Wanted
from reconciler.rewrite.delete import delete_resources
from reconciler.rewrite.value_edits import edit_values

MAIN = """
variable "days" {
  default = 7
}

locals {
  owner = "a"
  level = 1
}

resource "r" "a" {
  delay = 0
  size  = 5
  days  = var.days
  owner = local.owner

  rule {
    port = 80
  }
}

module "m" {
  source = "./m"
  size   = 1
}
"""
OVERRIDE = """# what this account needs otherwise
variable "days" {
  default = 30
}

locals {
  owner = "b"
}

resource "r" "a" {
  delay = 10 # seconds

  rule {
    port = 443
  }
}

module "m" {
  size = 2
}
"""
MODULE = 'variable "size" {}\n\nresource "r" "in" {\n  size = var.size\n}\n'
MAIN_FILE, OVERRIDE_FILE = Path("main.tf"), Path("z_override.tf")


def edited(root: Path, address: str, attribute: str, value: Json) -> Edited:
    (root / "m").mkdir()
    for path, text in ((MAIN_FILE, MAIN), (OVERRIDE_FILE, OVERRIDE), (Path("m/main.tf"), MODULE)):
        (root / path).write_text(text)
    return edit_values(root, [Wanted(address=address, attribute=attribute, value=value)])


EDITS: list[tuple[str, str, Json, str, str]] = [
    ("r.a", "delay", 20, "delay = 10 #", "delay = 20 #"),
    ("r.a", "days", 60, "default = 30", "default = 60"),
    ("r.a", "owner", "c", 'owner = "b"', 'owner = "c"'),
    ("r.a", "rule", [{"port": 8443}], "port = 443", "port = 8443"),
    ("r.a", "rule.0.port", 8443, "port = 443", "port = 8443"),
    ("module.m.r.in", "size", 3, "size = 2", "size = 3"),
]


@pytest.mark.parametrize("edit", EDITS)
def test_what_the_override_file_says(edit: tuple[str, str, Json, str, str], tmp_path: Path) -> None:
    address, attribute, value, old, new = edit
    result = edited(tmp_path, address, attribute, value)
    assert result.left == ()
    assert result.files == {OVERRIDE_FILE: OVERRIDE.replace(old, new).encode()}


@pytest.mark.parametrize(
    ("attribute", "value", "old", "new"),
    [("size", 6, "size  = 5", "size  = 6"), ("name", "n", "local.owner\n", 'local.owner\n  name  = "n"\n')],
)
def test_what_it_does_not_say(attribute: str, value: Json, old: str, new: str, tmp_path: Path) -> None:
    result = edited(tmp_path, "r.a", attribute, value)
    assert result.files == {MAIN_FILE: MAIN.replace(old, new).encode()}


def test_a_value_that_both_have_already_needs_no_edit(tmp_path: Path) -> None:
    assert edited(tmp_path, "r.a", "delay", 10) == Edited()


def test_a_resource_that_is_gone_leaves_both_files(tmp_path: Path) -> None:
    edited(tmp_path, "r.a", "delay", 10)
    result = delete_resources(tmp_path, [Wanted(address="r.a", attribute="", value=None)])
    assert result.left == ()
    assert b'"r" "a"' not in b"".join(result.files.values())
    assert set(result.files) == {MAIN_FILE, OVERRIDE_FILE}


JSON_OVERRIDE = '{\n  "resource": {\n    "r": {\n      "a": { "delay": 10 }\n    }\n  }\n}\n'


def test_an_override_file_in_json(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('resource "r" "a" {\n  delay = 0\n}\n')
    (tmp_path / "override.tf.json").write_text(JSON_OVERRIDE)
    result = edit_values(tmp_path, [Wanted(address="r.a", attribute="delay", value=20)])
    assert result.files == {Path("override.tf.json"): JSON_OVERRIDE.replace("10", "20").encode()}
