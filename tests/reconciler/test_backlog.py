"""The backlog reads from the ledger which mutations wait to be written back."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

from gateway.ledger.ledger import SqlLedger
from gateway.model.record import Record, Stage
from gateway.ports import RecordQuery
from reconciler.backlog import Backlog
from reconciler.terraform.plan import ResourceChange

Apply = Callable[..., Awaitable[str]]
QUEUE = "aws_sqs_queue.{}"


async def _backlog(ledger: SqlLedger) -> Backlog:
    backlog = Backlog(stack="shop")
    await backlog.read(ledger)
    return backlog


def _ids(backlog: Backlog) -> list[str]:
    return [applied.id for applied in backlog.pending()]


async def test_applied_and_not_reconciled_is_pending_in_the_order_of_the_ledger(
    ledger: SqlLedger, applied: Apply
) -> None:
    first, second = [await applied((QUEUE.format(name), "delay_seconds", 0, 1)) for name in "ab"]
    open_one = await applied((QUEUE.format("c"), "delay_seconds", 0, 1), settle=False)
    backlog = await _backlog(ledger)
    assert _ids(backlog) == [first, second]
    assert open_one in backlog.decided
    assert backlog.decided[first].settled_at >= backlog.decided[first].at

    await ledger.record_reconciliation(first, at=datetime.now(UTC), body={"commit": "c0ffee"})
    await backlog.read(ledger)
    assert _ids(backlog) == [second]
    assert first not in backlog.decided


async def test_what_was_left_is_not_pending_and_still_explains_a_difference(ledger: SqlLedger, applied: Apply) -> None:
    mutation = await applied((QUEUE.format("a"), "tags.owner", "x", "y"))
    await ledger.record_reconciliation(mutation, at=datetime.now(UTC), body={"left": [{"reason": "no"}]})
    other = await applied((QUEUE.format("b"), "delay_seconds", 0, 1))
    backlog = await _backlog(ledger)
    assert _ids(backlog) == [other]
    without = backlog.decided[other]
    assert mutation in backlog.explain(ResourceChange(address=QUEUE.format("a"), attribute="tags.owner"), without)
    assert mutation in backlog.explain(ResourceChange(address=QUEUE.format("a"), attribute="*"), without)
    assert not backlog.explain(ResourceChange(address=QUEUE.format("a"), attribute="name"), without)
    assert not backlog.explain(ResourceChange(address=QUEUE.format("b"), attribute="delay_seconds"), without)


async def test_other_stacks_are_ignored(ledger: SqlLedger, applied: Apply) -> None:
    await applied((QUEUE.format("a"), "delay_seconds", 0, 1))
    backlog = Backlog(stack="other")
    await backlog.read(ledger)
    assert not backlog.decided


async def test_the_later_of_two_supersedes(ledger: SqlLedger, applied: Apply) -> None:
    first = await applied((QUEUE.format("a"), "delay_seconds", 0, 1))
    second = await applied((QUEUE.format("b"), "delay_seconds", 0, 1))
    backlog = await _backlog(ledger)
    assert backlog.superseded(backlog.decided[first]) == {(QUEUE.format("b"), "delay_seconds"): second}
    assert backlog.superseded(backlog.decided[second]) == {}


async def test_a_record_that_cannot_be_read_does_not_stop_the_others(ledger: SqlLedger, applied: Apply) -> None:
    good = await applied((QUEUE.format("a"), "delay_seconds", 0, 1))
    (record,) = await ledger.records(RecordQuery(stage=Stage.DECIDED))
    backlog = Backlog(stack="shop")
    bodies: list[dict[str, Any]] = [
        {"decision": {"carried_out": True}},
        {"decision": 5},
        {"decision": {"carried_out": True}, "call": 3},
    ]
    for body in bodies:
        backlog._add(Record(stage=Stage.DECIDED, at=record.at, mutation_id="mut_bad", stack="shop", body=body, seq=9))
    await backlog.read(ledger)
    assert _ids(backlog) == [good]


async def test_who_approved_is_known(ledger: SqlLedger) -> None:
    backlog = Backlog(stack="shop")
    body = {"approval": "apr_1"}
    backlog._add(Record(stage=Stage.APPROVED, at=datetime.now(UTC), mutation_id="mut_0", actor="ada", body=body))
    assert backlog.approvers == {"apr_1": "ada"}
