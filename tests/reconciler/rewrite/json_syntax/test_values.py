"""What the HCL of a document declares, as JSON code says it."""

from pathlib import Path

import pytest

from gateway.core.model.json import Json
from gateway.terraform.json_syntax.shapes import FILE
from gateway.terraform.lang.hcl import parse
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.rewrite.json_syntax.values import DeclaredBody, declared_body


def _body(source: str) -> DeclaredBody:
    document = parse(Path("x.tf.json"), source.encode())
    return declared_body(document, document.root, FILE)


def _local(text: str) -> Json:
    (body,) = _body(f"locals {{\n  a = {text}\n}}\n").blocks["locals",]
    return body.attributes["a"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"a\\n\\"b\\" $${x}"', 'a\n"b" $${x}'),
        ('"${var.x}"', "${var.x}"),
        ("var.x", "${var.x}"),
        ('"a-${f("b")}"', 'a-${f("b")}'),
        ('f("b")', '${f("b")}'),
        ("(1 + 2)", "${(1 + 2)}"),
        ("-5", -5),
        ("2.5", 2.5),
        ("null", None),
        ("[1, true, var.x]", [1, True, "${var.x}"]),
        ('{ a = 1, "b c" = "${var.y}", (var.k) = 3, 4 = 5 }', {"a": 1, "b c": "${var.y}", "${var.k}": 3, "4": 5}),
        ("<<EOT\na $${x}\nEOT\n", "a $${x}\n"),
    ],
)
def test_values_have_their_json_form(text: str, value: Json) -> None:
    assert _local(text) == value


def test_what_json_has_no_form_for_is_refused() -> None:
    with pytest.raises(CannotEdit, match="no heredocs"):
        _local("<<EOT\na ${x} b\nEOT\n")
    with pytest.raises(CannotEdit, match="takes no expression here"):
        _body('variable "v" {\n  default = f(1)\n}\n')
    with pytest.raises(CannotEdit, match="`setting` Sentinel does not know"):
        _body('resource "other_type" "x" {\n  setting {\n  }\n}\n')


def test_texts_and_references_are_written_as_they_are_read() -> None:
    body = _body(
        'variable "v" {\n  default = "$${x}"\n  type = list(string)\n}\nimport {\n  to = a.b\n  id = "$${i}"\n}\n'
    )
    assert body.blocks["variable", "v"][0].attributes == {"default": "${x}", "type": "list(string)"}
    assert body.blocks["import",][0].attributes == {"to": "a.b", "id": "$${i}"}


def test_bodies_are_the_same_whatever_their_order() -> None:
    one = _body("locals {\n  a = 1\n  b = 2\n}\nmoved {\n  from = a.b\n}\n")
    assert one.key == _body("moved {\n  from = a.b\n}\nlocals {\n  b = 2\n  a = 1\n}\n").key
    assert one.key != _body("locals {\n  a = 1\n}\nlocals {\n  b = 2\n}\nmoved {\n  from = a.b\n}\n").key
