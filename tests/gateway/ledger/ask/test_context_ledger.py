"""What is known of one resource, in one snapshot; tests/ports asks the same of both databases."""

from datetime import timedelta
from typing import Any

from gateway.core.model.outcome import Failed
from tests.kit.bodies import written_back

QUEUE, OTHER = "aws_sqs_queue.orders", "aws_sqs_queue.other"


async def known(scene: Any) -> Any:
    hour = timedelta(hours=1)
    given = {"addresses": [QUEUE], "others": [OTHER], "now": scene.now, "flips_from": scene.now - hour}
    return await scene.ledger.known(**given)


async def test_nothing_is_known_of_what_nobody_touched(scene: Any) -> None:
    found = await known(scene)
    assert (found.claims, dict(found.values), dict(found.changes), dict(found.flips)) == ((), {}, {}, {})


async def test_claims_of_others_are_known_and_their_values_are_not(scene: Any) -> None:
    await scene.execute(scene.mutation(5))
    await scene.execute(scene.mutation(7, address=OTHER))
    found = await known(scene)
    assert sorted(claim.address for claim in found.claims) == [QUEUE, OTHER]
    assert (found.values["delay"].value, found.values["delay"].at) == (5, scene.now)
    assert (found.changes["delay"].actor, found.changes["delay"].commit) == ("agent", "")


async def test_a_failed_mutation_changed_nothing(scene: Any) -> None:
    await scene.execute(scene.mutation(5, actor="first"))
    [claim] = await scene.ledger.claims()
    await scene.execute(scene.mutation(9, actor="second"), Failed(code="Denied", message="No."), supersedes=(claim.id,))
    found = await known(scene)
    assert (found.changes["delay"].actor, found.values["delay"].value) == ("first", 5)


async def test_applied_values_are_listed_page_by_page(scene: Any) -> None:
    for number in range(5):
        mutation = scene.mutation(number, f"a{number}")
        await scene.execute(mutation)
    await scene.ledger.record_reconciliation(
        mutation.id, at=scene.now, body=written_back({"branch": "b", "commit": "c0ffee"})
    )
    context = scene.ledger
    first = await context.applied(after=("", ""), limit=3)
    rest = await context.applied(after=(first[-1].address, first[-1].attribute), limit=3)
    assert [each.attribute for each in (*first, *rest)] == ["a0", "a1", "a2", "a3", "a4"]
    assert [each.commit for each in rest] == ["", "c0ffee"]
