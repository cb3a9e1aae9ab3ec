"""What no suggestion may change is everything but values, wherever it stands in a file."""

from pathlib import Path

import pytest

from gateway.terraform.lang.hcl import parse
from reconciler.rewrite.editors.text import CannotEdit
from reconciler.suggest.frozen_parts import check_frozen_parts, open_attributes

CODE = """resource "aws_sqs_queue" "a" {
  name  = "a"
  count = 1
  tags {}
}
variable "b" {
  type    = number
  default = 1
}
"""


@pytest.mark.parametrize(
    ("old", "new", "refused"),
    [
        ('"a"\n', '"b"\n', False),
        ("tags {}", "tags {\n    x = 1\n  }", False),
        ("default = 1", "default = 2", False),
        ("count = 1", "count = 2", True),
        ("number", "string", True),
        ("  tags {}\n", "  tags {}\n  lifecycle {}\n", True),
        ('variable "b"', 'variable "c"', True),
        ('variable "b"', "data.b", True),
        (CODE[CODE.index("variable") :], "", True),
    ],
)
def test_only_values_may_change(old: str, new: str, refused: bool) -> None:
    before = parse(Path("main.tf"), CODE.encode())
    source = CODE.replace(old, new, 1) if new != "data.b" else CODE + 'data "x" "y" {}\n'
    after = parse(Path("main.tf"), source.encode())
    if not refused:
        check_frozen_parts(before, after)
        return
    for one, other in ((before, after), (after, before)):
        with pytest.raises(CannotEdit, match="which is not a value"):
            check_frozen_parts(one, other)


def test_open_are_values_only() -> None:
    document = parse(Path("main.tf"), CODE.encode())
    assert [name for name, _ in open_attributes(document)] == [
        ("resource", "aws_sqs_queue", "a", "name"),
        ("variable", "b", "default"),
    ]
