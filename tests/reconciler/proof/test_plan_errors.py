"""Errors of a plan are told apart by the object, the block and the argument that they name."""

from dataclasses import replace
from pathlib import Path

import pytest

from gateway.core.model.json import Json
from reconciler.model import Edit, Edited, Wanted
from reconciler.proof.plan_errors import divided_by_plan, refused_by_plan

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
        (BY_OBJECT.replace("   3:   delay_seconds = var.delay\n", ""), ["a"]),
        (BY_OBJECT.replace("   3:   delay_seconds = var.delay\n", "").replace("delay_seconds", "it"), ["a", "a tags"]),
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


def test_an_empty_value_that_is_refused_is_tried_as_unset() -> None:
    first = _edited().edits[0]
    edited = Edited(edits=(replace(first, wanted=replace(first.wanted, value="")), *_edited().edits[1:]))
    unset, refused = divided_by_plan(BY_OBJECT + "\n" + BY_VARIABLE, edited)
    assert [(want.key, want.value) for want in unset] == [(WANTED["a"], None)]
    assert [left.wanted.key for left in refused] == [WANTED["days"]]


EXCLUDES = """Error: Conflicting configuration arguments

  with aws_launch_template.node,
  on compute.tf line 5, in resource "aws_launch_template" "node":
   5:   update_default_version = true

"update_default_version": conflicts with default_version
"""
MISSES = """Error: "allocated_storage" is required when storage_type is set

  with aws_launch_template.node,
  on compute.tf line 1, in resource "aws_launch_template" "node":
   1: resource "aws_launch_template" "node" {
"""


@pytest.mark.parametrize(
    ("output", "wanted", "refused"),
    [
        (EXCLUDES, {"default_version": None, "instance_type": "m5.large"}, ["default_version"]),
        (EXCLUDES, {"default_version": None, "update_default_version": False}, ["default_version"]),
        (
            EXCLUDES.replace("update_default_version = true", "default_version = 2"),
            {"default_version": None, "instance_type": "m5.large"},
            ["default_version"],
        ),
        (MISSES, {"storage_type": None, "instance_type": "m5.large"}, ["storage_type"]),
        (MISSES, {"tags": None, "instance_type": "m5.large"}, ["tags", "instance_type"]),
    ],
)
def test_only_what_the_text_of_an_error_names_is_refused(
    output: str, wanted: dict[str, Json], refused: list[str]
) -> None:
    """`wanted` are what the code said before, by attribute; None where it said nothing."""
    edits = tuple(
        Edit(
            path=Path("main.tf"), start=0, end=0, old=b"", new=b"",
            wanted=Wanted(address="aws_launch_template.node", attribute=name, value=2, before=before),
        )
        for name, before in wanted.items()
    )  # fmt: skip
    left = refused_by_plan(output, Edited(edits=edits))
    assert [each.wanted.attribute for each in left] == refused


NEW = """resource "aws_sqs_queue" "b" {
  name             = "b"
  max_message_size = 1048576
  delay_seconds    = 5000

  tags = {
    a = "b"
  }
}
"""
BY_SIZE = BY_BLOCK.replace("delay_seconds = 5000", "max_message_size = 1048576")


def _new(text: str = NEW) -> Edited:
    value = {"import_id": "b", "text": text}
    wanted = Wanted(address="aws_sqs_queue.b", attribute="*", value=value)
    return Edited(edits=(Edit(path=Path("main.tf"), start=0, end=0, old=b"", new=b"", wanted=wanted),))


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (BY_BLOCK, NEW.replace("  delay_seconds    = 5000\n", "")),
        (
            BY_BLOCK + "\n" + BY_SIZE,
            'resource "aws_sqs_queue" "b" {\n  name = "b"\n\n  tags = {\n    a = "b"\n  }\n}\n',
        ),
        (BY_SIZE.replace("max_message_size", "name"), NEW.replace('  name             = "b"\n', "")),
    ],
)
def test_a_new_block_is_tried_without_what_is_refused(output: str, text: str) -> None:
    (less,), refused = divided_by_plan(output, _new())
    assert refused == ()
    assert isinstance(less.value, dict)
    assert less.value == {"import_id": "b", "text": text}


@pytest.mark.parametrize(
    "output", [BY_BLOCK.replace("delay_seconds", "other"), BY_BLOCK.replace("   9:   delay_seconds = 5000\n", "")]
)
def test_a_new_block_of_which_no_argument_is_refused_is_left(output: str) -> None:
    unset, refused = divided_by_plan(output, _new())
    assert unset == ()
    assert [left.wanted.address for left in refused] == ["aws_sqs_queue.b"]
