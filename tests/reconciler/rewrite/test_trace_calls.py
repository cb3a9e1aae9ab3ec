"""Which argument of a function holds the value."""

from pathlib import Path

import pytest

from gateway.terraform.config.module import load_module
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
        ("tolist([1])", "x", ["list"]),
        ("tostring(5)", "x", ["literal"]),
        ("merge({ a = 1 }, { a = 2 })", "x.a", ["literal"]),
        ("merge({ a = 1 }, { b = 2 })", "x.a", ["literal", "entry"]),
        ("merge({ a = 1 }, { b = 2 })", "x.c", ["entry", "entry"]),
        ("merge(var.m, local.none, { b = 2 })", "x.k", ["refused", "entry"]),
        ("merge(var.m)", "x.new", ["entry"]),
        ('lookup(var.m, "k", 5)', "x", ["literal"]),
        ('lookup(var.m, "z", 5)', "x", ["entry", "literal"]),
        ("try(var.m.z, 5)", "x", ["entry", "literal"]),
        ("coalesce(null, 5, 6)", "x", ["literal"]),
        ("try(aws_vpc.x.id, 5)", "x", ["refused"]),
        ("upper(var.m.k)", "x", ["refused"]),
        ("merge([{ a = 1 }]...)", "x.a", ["refused"]),
        ("var.m.k * 2", "x", ["literal"]),
        ("2 * var.m.k", "x", ["literal"]),
        ("var.m.k * var.m.k", "x", ["literal", "literal"]),
        ("var.m.k * aws_vpc.x.n", "x", ["refused", "refused"]),
        ("2 * 3", "x", ["refused"]),
        ("var.m.k % 2", "x", ["refused"]),
        ("var.m.k > 2", "x", ["refused"]),
    ],
)
def test_the_places_in_their_order(expression: str, path: str, kinds: list[str], tmp_path: Path) -> None:
    module = load_module(tmp_path, {Path("main.tf"): CODE.format(expression=expression).encode()})
    assert [place.kind for place in traces(module, "r.a", path)] == kinds
