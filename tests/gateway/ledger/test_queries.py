"""Queries give the same answer whether few or many records match."""

from typing import Any

import pytest

from gateway.ledger import queries
from gateway.ports import RecordQuery


@pytest.mark.parametrize("few", [1, 5_000], ids=["many matches", "few matches"])
async def test_both_ways_of_matching_a_prefix_agree(scene: Any, monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    monkeypatch.setattr(queries, "_FEW", few)
    for number, name in enumerate(("a", "ab", "b", "é", "a")):
        await scene.execute(scene.mutation(attribute=f"x{number}", address=f"aws_lb.{name}"))
    for prefix, count in {
        "aws_lb.a": 3,
        "aws_lb.é": 1,
        "aws_lb": 5,
        "aws": 5,
        "lb": 0,
        "aws_lb._": 0,
        "AWS": 0,
    }.items():
        assert len(await scene.ledger.records(RecordQuery(resource=prefix))) == count, prefix


async def test_claims_are_listed_by_resource_and_actor(scene: Any) -> None:
    one, *_ = await scene.execute(scene.mutation(attribute="a", actor="x"))
    two, *_ = await scene.execute(scene.mutation(attribute="b", actor="y"))
    assert {claim.id for claim in await scene.ledger.claims(address="aws_sqs_queue.orders")} == {one.id, two.id}
    assert [claim.id for claim in await scene.ledger.claims(actor="y")] == [two.id]
    assert [claim.id for claim in await scene.ledger.claims(mutation_id=one.mutation_id)] == [one.id]
    assert await scene.ledger.claims(address="aws_lb.other") == ()
