"""From an attribute to its place, with a chain a human can follow."""

from pathlib import Path

import pytest

from gateway.terraform.config.module import Module, load_module
from gateway.terraform.lang.values import Unknown
from reconciler.rewrite.trace import trace, traces

MAIN = b"""variable "hours" {
  default = 2
}

locals {
  tags = { owner = "me" }
}

resource "aws_sqs_queue" "a" {
  seconds = var.hours * 3600
  literal = 5
  half    = 100 / var.hours
  rest    = 10 - var.hours
  tags    = merge(local.tags, { Name = "a" })
  size    = lookup({}, "size", 9)
  other   = aws_vpc.x.id
  zero    = var.hours * 0
}
"""


@pytest.fixture
def module(tmp_path: Path) -> Module:
    """The code above, with a file of values."""
    return load_module(tmp_path, {Path("main.tf"): MAIN, Path("terraform.tfvars"): b"# sized\nhours = 5\n"})


def test_the_chain_is_readable(module: Module) -> None:
    found = trace(module, "aws_sqs_queue.a", "seconds")
    assert found.kind == "literal"
    assert found.document is not None
    assert found.document.path == Path("terraform.tfvars")
    assert found.chain == (
        "main.tf:10 aws_sqs_queue.a.seconds = var.hours * 3600",
        "main.tf:10 turned round: var.hours * 3600",
        "terraform.tfvars:2 hours = 5",
    )


@pytest.mark.parametrize(
    ("path", "wanted", "written"),
    [("seconds", 7200, 2), ("half", 25, 4), ("rest", 3, 7), ("literal", "x", "x")],
)
def test_a_calculation_is_turned_round_exactly(path: str, wanted: int, written: int, module: Module) -> None:
    assert trace(module, "aws_sqs_queue.a", path).convert(wanted) == written


@pytest.mark.parametrize("wanted", [5000, "x", None, True])
def test_what_no_whole_number_reaches_is_unknown(wanted: int, module: Module) -> None:
    with pytest.raises(Unknown):
        trace(module, "aws_sqs_queue.a", "seconds").convert(wanted)


def test_the_likeliest_place_comes_first_and_others_follow(module: Module) -> None:
    assert [place.kind for place in traces(module, "aws_sqs_queue.a", "tags.owner")] == ["literal", "entry"]
    assert [place.kind for place in traces(module, "aws_sqs_queue.a", "size")] == ["entry", "literal"]
    assert [(place.kind, place.key) for place in traces(module, "aws_sqs_queue.a", "absent")] == [
        ("attribute", "absent")
    ]


@pytest.mark.parametrize(
    ("address", "path", "reason"),
    [
        ("aws_sqs_queue.none", "x", "declares no aws_sqs_queue.none"),
        ("aws_sqs_queue.a", "other", "another object"),
        ("aws_sqs_queue.a", "zero", "factor is zero"),
        ("aws_sqs_queue.a", "block.x", "a block is not added"),
        ("aws_sqs_queue.a", "literal.x", "not followed"),
    ],
)
def test_a_refusal_says_why(address: str, path: str, reason: str, module: Module) -> None:
    found = trace(module, address, path)
    assert found.kind == "refused"
    assert reason in found.refused
