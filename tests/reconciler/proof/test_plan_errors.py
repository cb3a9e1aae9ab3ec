"""Errors of a plan are told apart by the object, the block and the argument that they name."""

from pathlib import Path

import pytest

from reconciler.model import Edit, Edited, Wanted
from reconciler.proof.plan_errors import refused_by_plan

BY_OBJECT = """Proof plan_clean does not hold: `terraform plan` failed, and nothing was written. It said:

Error: expected delay_seconds to be in the range (0 - 900), got 5000

  with module.jobs["a"].aws_sqs_queue.this,
  on jobs/main.tf line 3, in resource "aws_sqs_queue" "this":
   3:   delay_seconds = var.delay
"""
BY_BLOCK = """Error: Invalid value

  on main.tf line 9, in resource "aws_sqs_queue" "b":
   9:   delay_seconds = 5000
"""
BY_VARIABLE = """Error: Invalid value for variable

  on variables.tf line 1, in variable "days":
   1: variable "days" {

At most 10 days.
"""
BY_ARGUMENT = """Error: Unsuitable value type

  on main.tf line 4, in module "jobs":
   4:   days = var.days
"""
WANTED = {
    "a": ('module.jobs["a"].aws_sqs_queue.this', "delay_seconds"),
    "a tags": ('module.jobs["a"].aws_sqs_queue.this', "tags.owner"),
    "b": ("aws_sqs_queue.b[0]", "delay_seconds"),
    "b name": ("aws_sqs_queue.b[0]", "name"),
    "days": ("aws_cloudwatch_log_group.l", "retention_in_days"),
}


def _edited() -> Edited:
    chains = {"days": ("main.tf:3 retention_in_days = var.days", "variables.tf:2 default of var.days = 7")}
    return Edited(
        edits=tuple(
            Edit(
                path=Path("main.tf"), start=0, end=0, old=b"", new=b"",
                wanted=Wanted(address=address, attribute=attribute, value=1), chain=chains.get(name, ()),
            )
            for name, (address, attribute) in WANTED.items()
        )
    )  # fmt: skip


@pytest.mark.parametrize(
    ("output", "names"),
    [
        (BY_OBJECT, ["a"]),
        (BY_OBJECT.replace("   3:   delay_seconds = var.delay\n", ""), ["a", "a tags"]),
        (BY_BLOCK, ["b"]),
        (BY_VARIABLE, ["days"]),
        (BY_ARGUMENT, ["days"]),
        (BY_OBJECT + "\n" + BY_VARIABLE, ["a", "days"]),
        ("Error: timeout while waiting for plugin to start\n", []),
        ("", []),
    ],
)
def test_the_values_that_an_error_is_about(output: str, names: list[str]) -> None:
    refused = refused_by_plan(output, _edited())
    assert [left.wanted.key for left in refused] == [WANTED[name] for name in names]


def test_each_reason_has_its_own_error_alone() -> None:
    first, second = refused_by_plan(BY_OBJECT + "\n" + BY_VARIABLE, _edited())
    assert "range (0 - 900)" in first.reason
    assert "range" not in second.reason
    assert "At most 10 days." in second.reason
