"""A long plan, a long call of its session, and both together: the cost is their sum, never their product; what is too much is refused."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from gateway.core.derived_rows import Confidence, Origin
from gateway.core.errors import Malformed
from gateway.core.model.masking import PER_RUN
from gateway.plans.document import read_plan
from gateway.plans.row_match import by_rows
from gateway.plans.untold_values import with_untold
from tests.gateway.plans.test_row_match import C, change, row, session_call, source
from tests.kit.growth import LINEAR, work

WEAK = row(C, confidence=Confidence.TYPE, origin=Origin.MODEL)
NAMED = row(C, identity={"names": source("name")})


def match(*rows: Any, **members: Any) -> None:
    """Match a call, and find what it gives that the plan does not tell."""
    asked = session_call(*rows, **members)
    found = by_rows(asked)
    assert found.uses, found.objection
    with_untold(asked, found, PER_RUN)


def many_free(size: int) -> None:
    """Many parameters that a plan with many untold attributes has to be searched for."""
    free = frozenset(f"attribute_{number}" for number in range(size))
    match(WEAK, changes=(change(free=free),), Rules=[{"Other": str(number)} for number in range(size)])


def many_values(size: int) -> None:
    """Many delicate parameters that have to be among many planned values."""
    values = {f"v{number}": f"value-{number}" for number in range(size)}
    match(WEAK, changes=(change(values=values),), Rules=[{"AccessPolicy": f"value-{number}"} for number in range(size)])


def many_names(size: int) -> None:
    """A call that names every resource of the plan, the last one first."""
    planned = tuple(change(f"r{number}", values={"name": f"n{number}"}) for number in range(size))
    match(NAMED, changes=planned, names=[f"n{number}" for number in reversed(range(size))])


def long_lists(size: int) -> None:
    """A list that is given in another order than it is planned."""
    listed = [f"item-{number}" for number in range(size)]
    planned = (change(values={"things": listed}),)
    match(row(C, attributes={"things": source("things")}), changes=planned, things=listed[::-1])


@pytest.mark.parametrize("cost", [many_free, many_values, many_names, long_lists])
def test_a_call_against_a_plan_costs_their_sum(cost: Callable[[int], None]) -> None:
    cost(10)
    small, large = work(lambda: cost(400)), work(lambda: cost(800))
    assert large <= small * LINEAR


def plan(size: int, **after: Any) -> bytes:
    """A plan that creates queues."""
    entries = [
        {
            "address": f"aws_sqs_queue.q{number}", "type": "aws_sqs_queue", "mode": "managed",
            "change": {"actions": ["create"], "before": None, "after": {"name": f"n{number}", **after}},
        }
        for number in range(size)
    ]  # fmt: skip
    return json.dumps({"format_version": "1.2", "resource_changes": entries}).encode()


def test_a_plan_is_read_in_the_time_of_its_size() -> None:
    read_plan(plan(1))
    small, large = plan(150), plan(300)
    assert work(lambda: read_plan(large)) <= work(lambda: read_plan(small)) * LINEAR


@pytest.mark.parametrize(
    "source",
    [
        plan(1_000),
        plan(1, policy="x" * 300_000),
        plan(1, tags={str(number): "v" for number in range(2_000)}),
        b'{"format_version": "1.2", "a": ' + b"[" * 100_000,
    ],
)
def test_what_is_too_much_is_refused_with_a_sentence(source: bytes) -> None:
    with pytest.raises(Malformed, match=r"\.$"):
        read_plan(source)


def test_a_call_that_names_more_than_the_plan_changes_is_not_searched_for() -> None:
    planned = (change(values={"name": "app"}),)
    asked = session_call(NAMED, changes=planned, names=["app", *map(str, range(10_000))])
    assert "names more aws_ecr_repository than the plan changes" in by_rows(asked).objection
