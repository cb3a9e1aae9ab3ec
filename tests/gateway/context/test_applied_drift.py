"""What Sentinel applied and the code does not declare, of resources that a stack still has."""

import pytest

from gateway.context.applied_drift import MOST_APPLIED, DriftQuery, applied_drift
from gateway.terraform.stacks import Stacks
from tests.kit.context_reader import ContextLedgerDouble, applied
from tests.kit.doubles import AGENT
from tests.kit.stacks import GROUP, KAFKA, Source, load


@pytest.fixture(scope="module")
def stacks() -> Stacks:
    return load(Source(path=KAFKA))


async def test_only_what_the_code_does_not_declare_is_drift(stacks: Stacks) -> None:
    declared = stacks.declared_value(GROUP, "desired_capacity")
    values = [
        applied("*", None),
        applied("desired_capacity", declared),
        applied("max_size", 9, branch="sentinel/kafka", commit="c0ffee"),
        applied("delay", 1, "aws_sqs_queue.gone"),
    ]
    [found], more = await applied_drift(stacks, ContextLedgerDouble(values=values), DriftQuery())
    assert not more
    assert found.to_json(AGENT) == {
        "cause": "applied",
        "since": "2026-11-21T00:00:00Z",
        "stack": "kafka",
        "address": GROUP,
        "attribute": "max_size",
        "live": 9,
        "declared": 16,
        "sensitive": False,
        "origin": {"mutation_id": "mut_1"},
        "proposal": {"branch": "sentinel/kafka", "commit": "c0ffee"},
    }
    assert (await applied_drift(stacks, ContextLedgerDouble(values=values), DriftQuery(stack="other")))[0] == []


async def test_a_long_list_is_cut_and_says_so(stacks: Stacks) -> None:
    values = [applied(f"tag.{number:05}", number) for number in range(2_500)]
    found, more = await applied_drift(stacks, ContextLedgerDouble(values=values), DriftQuery())
    assert (len(found), more) == (MOST_APPLIED, True)
