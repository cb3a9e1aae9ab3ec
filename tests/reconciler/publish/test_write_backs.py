"""A write-back's story comes from its own records, also if it corrects an earlier one."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime

from gateway.core.ports import RecordQuery
from gateway.core.records.record import Record, Stage
from gateway.ledger.ledger import SqlLedger
from reconciler.changes.backlog import Backlog
from reconciler.publish.write_backs import WriteBacks
from tests.kit.bodies import written_back

Apply = Callable[..., Awaitable[str]]
NOW = datetime(2026, 1, 2, tzinfo=UTC)


async def test_a_story_joins_who_wanted_it_with_what_was_written(ledger: SqlLedger, applied: Apply) -> None:
    mutation = await applied(("aws_sqs_queue.a", "delay_seconds", 0, 1))
    await ledger.record_reconciliation(
        mutation, at=NOW, body=written_back({"left": [{"address": "a.b", "attribute": "c"}]})
    )
    [left] = await ledger.records(RecordQuery(stage=Stage.RECONCILED))
    await ledger.record_reconciliation(
        mutation, at=NOW, body=written_back({"commit": "c1", "files": ["a.tf"], "corrects": left.seq})
    )
    stories = WriteBacks(queries=ledger, backlog=Backlog(stack="shop"))
    await stories.backlog.read(ledger)

    story = await stories.of(f"{mutation}@{left.seq}")
    assert (story.commit, story.files) == ("c1", ("a.tf",))
    assert story.applied is not None
    assert (story.applied.actor, story.applied.text) == ("agent-scaler", "lag grows")
    assert set(stories.commits) == {"c1"}
    first = await stories.of(mutation)
    assert (first.commit, first.files) == ("", ())


async def test_a_record_that_cannot_be_read_gives_a_story_without_it(ledger: SqlLedger, applied: Apply) -> None:
    mutation = await applied(("aws_sqs_queue.a", "delay_seconds", 0, 1))

    class Torn:
        async def records(self, query: RecordQuery) -> list[Record]:
            return [replace(record, body=written_back({})) for record in await ledger.records(query)]

    story = await WriteBacks(queries=Torn(), backlog=Backlog(stack="shop")).of(mutation)  # type: ignore[arg-type]
    assert story.applied is None
    assert (await WriteBacks(queries=ledger, backlog=Backlog(stack="shop")).of("mut_unknown")).applied is None
