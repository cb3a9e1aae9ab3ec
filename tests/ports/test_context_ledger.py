"""What agents are told of a resource is read from both databases alike."""

from datetime import UTC, datetime, timedelta

from gateway.context.ports import ContextLedger, HistoryQuery
from gateway.core.model.mutation import EffectAction
from gateway.ledger.ledger import SqlLedger
from tests.kit.mutations import record_mutation
from tests.kit.nouns import effect

GROUP = "aws_autoscaling_group.web"


async def test_the_context_of_a_resource(ledger: SqlLedger) -> None:
    made = await record_mutation(
        ledger, [(effect(GROUP, "desired_capacity", 6), 4), (effect(GROUP, "tags.a", "x"), "y")]
    )
    await record_mutation(ledger, [(effect("aws_lb.web", "*", None, action=EffectAction.DELETE), None)])
    context: ContextLedger = ledger
    now = datetime.now(UTC)
    found = await context.known(addresses=[GROUP], others=["aws_lb.web"], now=now, flips_from=now - timedelta(hours=1))
    assert sorted((claim.address, claim.attribute) for claim in found.claims) == [
        (GROUP, "desired_capacity"),
        (GROUP, "tags.a"),
        ("aws_lb.web", "*"),
    ]
    assert {name: value.value for name, value in found.values.items()} == {"desired_capacity": 6, "tags.a": "x"}
    assert {change.mutation_id for change in found.changes.values()} == {made.id}


async def test_the_history_of_a_resource(ledger: SqlLedger) -> None:
    made = await record_mutation(ledger, [(effect(GROUP, "tags.a", "x"), "y"), (effect(GROUP, "size", 2), 1)])
    context = ledger
    for attribute in ("", "tags", "tags.a", "tags.a.b"):
        [entry] = await context.history(HistoryQuery(addresses=[GROUP], attribute=attribute))
        assert (entry.mutation_id, entry.outcome) == (made.id, "applied")
    assert await context.history(HistoryQuery(addresses=[GROUP], attribute="tag")) == []
    assert await context.history(HistoryQuery(addresses=[GROUP], before_seq=entry.seq)) == []


async def test_the_applied_values_page_by_page(ledger: SqlLedger) -> None:
    await record_mutation(ledger, [(effect(GROUP, name, 1), 0) for name in ("a", "b", "c")])
    context = ledger
    first = await context.applied(after=("", ""), limit=2)
    assert [each.attribute for each in first] == ["a", "b"]
    assert [each.attribute for each in await context.applied(after=(GROUP, "b"), limit=2)] == ["c"]
