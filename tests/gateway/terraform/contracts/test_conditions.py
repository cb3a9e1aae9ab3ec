"""Conditions of contracts and of the code; the latter as the plan would evaluate them once the change is written into the code."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from gateway.core.model.contract import Bound
from gateway.core.model.json import Json
from gateway.terraform.contracts.conditions import CodeConditions
from gateway.terraform.stack_code import load_code

CODE = """
variable "size" {
  default = 4

  validation {
    condition     = var.size <= var.most
    error_message = "At most ${var.most}, not ${var.size}."
  }
}

variable "most" {
  default = 10
}

variable "unset" {}

locals {
  passed = var.size
}

resource "aws_x" "direct" {
  size = var.size

  lifecycle {
    precondition {
      condition     = var.size >= 2
      error_message = "Two at least."
    }
    postcondition {
      condition     = self.size % 2 == 0
      error_message = "Even, please."
    }
  }
}

resource "aws_x" "computed" {
  size = var.size * 2
  via  = local.passed
}

resource "aws_x" "unknown" {
  name = "n"

  lifecycle {
    precondition {
      condition     = var.unset
      error_message = "Set it."
    }
    precondition {
      condition     = data.aws_ami.a.free
      error_message = "The image is taken."
    }
    precondition {
      condition     = "neither"
      error_message = "x"
    }
  }
}

module "inner" {
  source = "./inner"
  amount = var.size
}
"""
INNER = """
variable "amount" {
  validation {
    condition     = var.amount > 0
    error_message = "More than none."
  }
}

resource "aws_x" "deep" {
  size = var.amount
}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "inner").mkdir()
    (tmp_path / "main.tf").write_text(CODE)
    (tmp_path / "inner" / "main.tf").write_text(INNER)
    return tmp_path


def no_state(_module: str, _names: Iterable[str]) -> Mapping[str, Json]:
    return {}


def code_bounds(root: Path, address: str, after: Mapping[str, Json]) -> tuple[Bound, ...]:
    return CodeConditions(no_state).of(load_code(root).instance(address))(after)


def shown(bounds: Iterable[Bound]) -> list[tuple[str, Json, str]]:
    """Attribute, whether it holds, and the message, which is only evaluated for a condition that does not hold."""
    return [(bound.attribute, bound.limit, bound.message) for bound in bounds]


def test_a_variable_that_feeds_an_attribute_is_evaluated_with_the_new_value(root: Path) -> None:
    assert shown(code_bounds(root, "aws_x.direct", {"size": 11})) == [
        ("size", False, "At most 10, not 11."),
        ("", True, ""),
        ("", False, "Even, please."),
    ]
    assert shown(code_bounds(root, "aws_x.direct", {"size": 1}))[1] == ("", False, "Two at least.")
    assert code_bounds(root, "aws_x.direct", {"size": 4})[0].source == "main.tf:6"


def test_an_absent_attribute_is_not_evaluated(root: Path) -> None:
    assert shown(code_bounds(root, "aws_x.direct", {"other": 1}))[0] == ("", True, "")


def test_a_variable_that_feeds_through_anything_else_does_not_count(root: Path) -> None:
    assert code_bounds(root, "aws_x.computed", {"size": 99, "via": 99}) == ()


def test_arguments_are_followed_up_to_the_root(root: Path) -> None:
    assert shown(code_bounds(root, "module.inner.aws_x.deep", {"size": 11})) == [
        ("size", True, ""),
        ("size", False, "At most 10, not 11."),
    ]
    assert shown(code_bounds(root, "module.inner.aws_x.deep", {"size": 0}))[0] == ("size", False, "More than none.")


def test_what_cannot_be_evaluated_says_why(root: Path) -> None:
    unset, data, neither = code_bounds(root, "aws_x.unknown", {"name": "m"})

    assert "var.unset" in unset.unknown
    assert "data" in data.unknown
    assert "neither true nor false" in neither.unknown


def test_what_the_state_knows_is_known(root: Path) -> None:
    def roots(module: str, names: Iterable[str]) -> Mapping[str, Json]:
        assert module == ""
        return {"data": {"aws_ami": {"a": {"free": False}}}} if "data" in names else {}

    _, data, _ = CodeConditions(roots).of(load_code(root).instance("aws_x.unknown"))({})

    assert (data.limit, data.unknown, data.message) == (False, "", "The image is taken.")


def test_no_instance_has_no_conditions() -> None:
    assert CodeConditions(no_state).of(None)({"size": 99}) == ()
