"""A new variable looks as its siblings do."""

from pathlib import Path

import pytest

from gateway.core.model.json import Json
from gateway.terraform.config.module import load_module
from reconciler.rewrite.editors.variable import Variable, add_variable, document_of, type_of

PLAIN = 'variable "a" {\n  type = string\n}\n'
DESCRIBED = 'variable "a" {\n  description = "A."\n  type        = string\n}\n'
BLOCK = """variable "size" {
  description = "The size of aws_x.a."
  type        = number
  default     = 5
}
"""
NEW = Variable(name="size", type="number", default="5", about="size of aws_x.a")


def _after(files: dict[str, str], other: str = "main.tf") -> tuple[str, str]:
    module = load_module(Path("/nowhere"), {Path(name): text.encode() for name, text in files.items()})
    document, splice = add_variable(module.source, NEW, module.source.documents[Path(other)])
    return document.path.name, splice.apply(document.source).decode()


def test_it_follows_the_last_variable() -> None:
    files = {"main.tf": "locals {}\n", "variables.tf": PLAIN + "\nlocals {}\n"}
    name, text = _after(files)
    assert name == "variables.tf"
    assert text == f"{PLAIN}\n{BLOCK}\nlocals {{}}\n"


def test_blank_lines_are_around_it() -> None:
    assert _after({"main.tf": f"{PLAIN}locals {{}}\n"})[1] == f"{PLAIN}\n{BLOCK}\nlocals {{}}\n"
    assert _after({"main.tf": PLAIN})[1] == f"{PLAIN}\n{BLOCK}"


def test_it_has_a_description_even_if_the_others_have_none() -> None:
    for others in (PLAIN, DESCRIBED):
        assert BLOCK in _after({"main.tf": others})[1]


@pytest.mark.parametrize("code", ["locals {}\n", "locals {}"])
def test_without_others_it_ends_the_file(code: str) -> None:
    assert _after({"main.tf": code})[1] == f"locals {{}}\n\n{BLOCK}"


def test_the_file_with_most_variables_is_theirs() -> None:
    files = {"main.tf": PLAIN, "v.tf": PLAIN.replace('"a"', '"b"') + PLAIN.replace('"a"', '"c"')}
    module = load_module(Path("/nowhere"), {Path(name): text.encode() for name, text in files.items()})
    assert document_of(module.source, module.source.documents[Path("main.tf")]).path == Path("v.tf")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, "bool"),
        (1, "number"),
        ("a", "string"),
        (["a"], "list(string)"),
        ({"a": 1}, "map(number)"),
        ({"a": 1, "b": "x"}, "any"),
        ([{"id": "a", "on": True}], "list(object({ id = string, on = bool }))"),
        ([{"id": "a"}, {"on": True}], "any"),
        (None, "any"),
    ],
)
def test_the_type_of_a_value(value: Json, expected: str) -> None:
    assert type_of(value) == expected
