"""Claims are listed by what people ask for."""

from typing import Any


async def test_claims_are_listed_by_resource_and_actor(scene: Any) -> None:
    one, *_ = await scene.execute(scene.mutation(attribute="a", actor="x"))
    two, *_ = await scene.execute(scene.mutation(attribute="b", actor="y"))
    assert {claim.id for claim in await scene.ledger.claims(address="aws_sqs_queue.orders")} == {one.id, two.id}
    assert [claim.id for claim in await scene.ledger.claims(actor="y")] == [two.id]
    assert await scene.ledger.claims(address="aws_lb.other") == ()
