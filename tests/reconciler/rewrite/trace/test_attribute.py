"""From an attribute to its site, with a chain a human can follow."""

from pathlib import Path

import pytest

from gateway.core.model.path import AttributePath
from gateway.terraform.config.module import Module, load_module
from gateway.terraform.lang.values import Unknown
from reconciler.rewrite.trace.attribute import trace_attribute
from reconciler.rewrite.trace.sites import (
    AttributeSite,
    BlocksSite,
    EditSite,
    EntrySite,
    LiteralSite,
    NoSite,
    TracedSite,
)

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


def _traces(module: Module, path: str, address: str = "aws_sqs_queue.a") -> tuple[TracedSite, ...]:
    return trace_attribute(module, address, AttributePath(path))


def _first(module: Module, path: str) -> EditSite:
    """The likeliest site that can be edited."""
    return next(site for site in _traces(module, path) if not isinstance(site, NoSite))


def test_the_chain_is_readable(module: Module) -> None:
    found = _first(module, "seconds")
    assert isinstance(found, LiteralSite)
    assert found.document.path == Path("terraform.tfvars")
    assert found.chain == (
        "main.tf:10 aws_sqs_queue.a.seconds = var.hours * 3600",
        "main.tf:10 inverted: var.hours * 3600",
        "terraform.tfvars:2 hours = 5",
    )


@pytest.mark.parametrize(
    ("path", "wanted", "written"),
    [("seconds", 7200, 2), ("half", 25, 4), ("rest", 3, 7), ("literal", "x", "x")],
)
def test_a_calculation_is_inverted_exactly(path: str, wanted: int, written: int, module: Module) -> None:
    assert _first(module, path).convert(wanted) == written


@pytest.mark.parametrize("wanted", [5000, "x", None, True])
def test_what_no_whole_number_reaches_is_unknown(wanted: int, module: Module) -> None:
    with pytest.raises(Unknown):
        _first(module, "seconds").convert(wanted)


def test_the_likeliest_place_comes_first_and_others_follow(module: Module) -> None:
    assert [type(site) for site in _traces(module, "tags.owner")] == [LiteralSite, EntrySite]
    assert [type(site) for site in _traces(module, "size")] == [EntrySite, LiteralSite]
    absent, blocks = _traces(module, "absent")
    assert isinstance(blocks, BlocksSite)
    assert isinstance(absent, AttributeSite)
    assert absent.path == "absent"


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
    (found, *_) = _traces(module, path, address)
    assert isinstance(found, NoSite)
    assert reason in found.reason


@pytest.mark.parametrize("twice", ["OLD + OLD", "max(OLD, OLD)", "OLD == 1 ? OLD : OLD"])
def test_definitions_that_use_each_other_twice_have_a_limited_number_of_places(tmp_path: Path, twice: str) -> None:
    names = "".join(f"  x{number} = {twice.replace('OLD', f'local.x{number - 1}')}\n" for number in range(1, 40))
    code = f'locals {{\n  x0 = 1\n{names}}}\nresource "a_b" "c" {{\n  d = local.x39\n}}\n'
    module = load_module(tmp_path, {Path("main.tf"): code.encode()})
    assert 0 < len(trace_attribute(module, "a_b.c", AttributePath("d"))) <= 200
