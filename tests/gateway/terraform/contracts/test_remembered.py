"""What is remembered of an expression is what it comes to: nothing that tells two values apart is lost."""

from decimal import Decimal
from pathlib import Path

import pytest

from gateway.core.model.json import Json
from gateway.terraform.contracts.remembered import Remembered, key_of
from tests.kit.stacks import Source, load


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {"a": None}),
        ({"a": 1}, {"a": True}),
        ({"a": 0}, {"a": False}),
        ({"a": 1}, {"a": "1"}),
        ({"a": 5}, {"a": 6}),
    ],
)
def test_values_that_differ_have_other_keys(one: dict[str, Json], other: dict[str, Json]) -> None:
    assert key_of([(one, "a")]) != key_of([(other, "a")])
    assert key_of([(one, "a")]) == key_of([(dict(one), "a")])


@pytest.mark.parametrize("value", [1.0, Decimal("1.5"), [], {}, ["a"], "x" * 257])
def test_what_is_not_plain_is_evaluated_each_time(value: Json) -> None:
    assert key_of([({"a": value}, "a")]) is None
    known: Remembered[int] = Remembered()
    outcomes = iter(range(3))
    assert [known.once(None, lambda: next(outcomes)) for _ in range(3)] == [0, 1, 2]
    assert not known


def test_as_many_are_kept_as_are_useful() -> None:
    known: Remembered[int] = Remembered()
    assert [known.once((number,), lambda number=number: number) for number in range(100)] == list(range(100))  # type: ignore[misc]
    assert known.once((1,), lambda: -1) == 1
    assert known.once((99,), lambda: -1) == -1
    assert len(known) == 32


CODE = """
variable "most" {
  type    = number
  default = 5
  validation {
    condition     = var.most < local.limit
    error_message = "No more than ${local.limit}, not ${var.most}."
  }
}

locals {
  limit = 10
}

resource "aws_sqs_queue" "q" {
  name        = "q"
  max_message_size = var.most

  lifecycle {
    precondition {
      condition     = var.most > 1 && self.delay_seconds != 7
      error_message = "Too few: ${var.most}."
    }
  }
}
"""
CONTRACT = """
contract "q" {
  owner = "team"

  resource "aws_sqs_queue" "q" {
    managed_by_agent = true

    attribute "delay_seconds" {
      min = before.delay_seconds
      max = self.receive_wait_time_seconds
    }
  }
}
"""


def test_bounds_follow_every_value_that_they_refer_to(tmp_path: Path) -> None:
    """Each change is judged by a contract that has judged others before, and by one that has judged nothing."""
    (tmp_path / "main.tf").write_text(CODE)
    (tmp_path / "q.sentinel.hcl").write_text(CONTRACT)
    changes: list[tuple[dict[str, Json], dict[str, Json]]] = [
        (
            {"max_message_size": most, "delay_seconds": delay, "receive_wait_time_seconds": wait},
            {"delay_seconds": before},
        )
        for most in (1, 5, 20, True)
        for delay in (0, 7)
        for wait in (3, 4, None)
        for before in (0, 2)
    ]
    used = load(Source(path=tmp_path)).all[0].contract("aws_sqs_queue.q")
    for after, before in (*changes, *changes):
        fresh = load(Source(path=tmp_path)).all[0].contract("aws_sqs_queue.q") if after["delay_seconds"] == 7 else None
        found = used.evaluate(after, before)
        assert fresh is None or found == fresh.evaluate(after, before)
        limits = {bound.name: bound.limit for bound in found if bound.attribute == "delay_seconds"}
        assert limits == {"min": before["delay_seconds"], "max": after["receive_wait_time_seconds"]}
