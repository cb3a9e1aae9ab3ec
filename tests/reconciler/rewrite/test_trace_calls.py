"""Which argument of a function holds the value."""

from pathlib import Path

import pytest

from gateway.model.path import AttributePath
from gateway.terraform.config.module import load_module
from reconciler.rewrite.place import EntryPlace, ListPlace, LiteralPlace, NoPlace, Place
from reconciler.rewrite.trace import traces

CODE = """
variable "m" {{
  default = {{ k = 1 }}
}}
resource "r" "a" {{
  x = {expression}
}}
"""


@pytest.mark.parametrize(
    ("expression", "path", "kinds"),
    [
        ("tolist([1])", "x", [ListPlace]),
        ("tostring(5)", "x", [LiteralPlace]),
        ("merge({ a = 1 }, { a = 2 })", "x.a", [LiteralPlace]),
        ("merge({ a = 1 }, { b = 2 })", "x.a", [LiteralPlace, EntryPlace]),
        ("merge({ a = 1 }, { b = 2 })", "x.c", [EntryPlace, EntryPlace]),
        ("merge(var.m, local.none, { b = 2 })", "x.k", [NoPlace, EntryPlace]),
        ("merge(var.m)", "x.new", [EntryPlace]),
        ('lookup(var.m, "k", 5)', "x", [LiteralPlace]),
        ('lookup(var.m, "z", 5)', "x", [EntryPlace, LiteralPlace]),
        ("try(var.m.z, 5)", "x", [EntryPlace, LiteralPlace]),
        ("coalesce(null, 5, 6)", "x", [LiteralPlace]),
        ("try(aws_vpc.x.id, 5)", "x", [NoPlace]),
        ("upper(var.m.k)", "x", [LiteralPlace]),
        ("merge([{ a = 1 }]...)", "x.a", [NoPlace]),
        ("var.m.k * 2", "x", [LiteralPlace, LiteralPlace]),
        ("2 * var.m.k", "x", [LiteralPlace, LiteralPlace]),
        ("var.m.k * var.m.k", "x", [LiteralPlace, LiteralPlace, LiteralPlace]),
        ("var.m.k * aws_vpc.x.n", "x", [NoPlace, NoPlace]),
        ("2 * 3", "x", [LiteralPlace]),
        ("var.m.k % 2", "x", [NoPlace]),
        ("var.m.k > 2", "x", [NoPlace]),
    ],
)
def test_the_places_in_their_order(expression: str, path: str, kinds: list[type[Place]], tmp_path: Path) -> None:
    module = load_module(tmp_path, {Path("main.tf"): CODE.format(expression=expression).encode()})
    assert [type(place) for place in traces(module, "r.a", AttributePath(path))] == kinds
