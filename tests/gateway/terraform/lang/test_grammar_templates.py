"""Directives and markers of templates become expressions; the values are held to Terraform in test_evaluate.py and test_templates.py."""

from pathlib import Path

import pytest

from gateway.terraform.lang import expression as e
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import parse


def _parts(text: str) -> tuple[str | e.Expression, ...]:
    document = parse(Path("main.tf"), f"x = <<EOT\n{text}EOT\n".encode())
    found = read_attribute(document, document.attributes(document.root)["x"])
    assert isinstance(found, e.Template), found
    return found.parts


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("a ${x} b\n", ["a ", " b\n"]),
        ("a ${~ x ~} b\n", ["a", "b\n"]),
        ("a\n  ${~ x ~}  \n  b\n", ["a\n", "  b\n"]),
        ("${~ x ~}\n\n", ["\n"]),
        ("a $${x} %%{y}\n", ["a ${x} %{y}\n"]),
        ("a %{~ if x ~} b %{~ endif ~} c\n", ["a", "c\n"]),
    ],
)
def test_a_marker_strips_one_line_beside_it(text: str, texts: list[str]) -> None:
    assert [part for part in _parts(text) if isinstance(part, str) and part] == texts


def test_directives_are_conditionals_and_joined_lists() -> None:
    loop, switch, _ = _parts("%{ for k, v in m ~} ${k} %{ endfor }%{ if a }b%{ else ~}  c%{ endif }\n")
    assert isinstance(loop, e.FunctionCall)
    assert loop.name == "join"
    rows = loop.arguments[1]
    assert isinstance(rows, e.For)
    assert rows.names == ("k", "v")
    assert isinstance(rows.value, e.Template)
    assert [part for part in rows.value.parts if isinstance(part, str)] == ["", " "]
    assert isinstance(switch, e.Conditional)
    assert [part.parts for part in (switch.then, switch.otherwise) if isinstance(part, e.Template)] == [("b",), ("c",)]


@pytest.mark.parametrize("text", ["$$${x}\n", "%%%{ if a }b%{ endif }\n"])
def test_what_is_not_certain_is_not_read(text: str) -> None:
    document = parse(Path("main.tf"), f"x = <<EOT\n{text}EOT\n".encode())
    assert isinstance(read_attribute(document, document.attributes(document.root)["x"]), e.Unsupported)
