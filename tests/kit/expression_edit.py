"""Edits a value that an expression makes, for tests of tracing: the code with names to use, and the code after the edit."""

from pathlib import Path

from gateway.core.model.equality import equal
from gateway.core.model.json import Json
from gateway.terraform.config.module import declared, load_module
from reconciler.model import Wanted
from reconciler.rewrite.value_edits import edit_values

NAMES = """variable "name" {
  default = "jobs"
}

variable "hours" {
  default = 2
}

variable "on" {
  default = false
}

variable "items" {
  default = ["a", "b"]
}

variable "ports" {
  default = [80, 443]
}

variable "net" {
  default = 3
}

"""


def edited(root: Path, expression: str, value: Json) -> str:
    """The code after the value was written; that it declares the value is checked. Raises `AssertionError` if it was left."""
    path = Path("main.tf")
    code = f'{NAMES}resource "r" "a" {{\n  x = {expression}\n}}\n'
    result = edit_values(root, [Wanted(address="r.a", attribute="x", value=value)], {path: code.encode()})
    assert not result.left, result.left
    instance = load_module(root, {path: result.files[path]}).instance("r.a")
    assert instance is not None
    assert equal(declared(instance, "x"), value)
    return result.files[path].decode()


def replaced(expression: str, old: str, new: str) -> str:
    """The code of an expression with one text replaced, where it stands first."""
    code = f'{NAMES}resource "r" "a" {{\n  x = {expression}\n}}\n'
    assert old in code
    return code.replace(old, new, 1)
