"""The book knows from the ledger which mutations wait to be written back."""

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


async def _book(ledger: SqlLedger) -> Backlog:
    book = Backlog(stack="shop")
    await book.read(ledger)
    return book


def _ids(book: Backlog) -> list[str]:
    return [applied.id for applied in book.pending()]


async def test_applied_and_not_reconciled_is_pending_in_the_order_of_the_ledger(
    ledger: SqlLedger, applied: Apply
) -> None:
    first, second = [await applied((QUEUE.format(name), "delay_seconds", 0, 1)) for name in "ab"]
    open_one = await applied((QUEUE.format("c"), "delay_seconds", 0, 1), settle=False)
    book = await _book(ledger)
    assert _ids(book) == [first, second]
    assert open_one in book.decided
    assert book.decided[first].settled_at >= book.decided[first].at

    await ledger.record_reconciliation(first, at=datetime.now(UTC), body={"commit": "c0ffee"})
    await book.read(ledger)
    assert _ids(book) == [second]
    assert first not in book.decided


async def test_what_was_left_is_not_pending_and_still_explains_a_difference(ledger: SqlLedger, applied: Apply) -> None:
    mutation = await applied((QUEUE.format("a"), "tags.owner", "x", "y"))
    await ledger.record_reconciliation(mutation, at=datetime.now(UTC), body={"left": [{"reason": "no"}]})
    other = await applied((QUEUE.format("b"), "delay_seconds", 0, 1))
    book = await _book(ledger)
    assert _ids(book) == [other]
    without = book.decided[other]
    assert mutation in book.explain(ResourceChange(address=QUEUE.format("a"), attribute="tags.owner"), without)
    assert mutation in book.explain(ResourceChange(address=QUEUE.format("a"), attribute="*"), without)
    assert not book.explain(ResourceChange(address=QUEUE.format("a"), attribute="name"), without)
    assert not book.explain(ResourceChange(address=QUEUE.format("b"), attribute="delay_seconds"), without)


async def test_other_stacks_are_not_ours(ledger: SqlLedger, applied: Apply) -> None:
    await applied((QUEUE.format("a"), "delay_seconds", 0, 1))
    book = Backlog(stack="other")
    await book.read(ledger)
    assert not book.decided


async def test_the_later_of_two_overtakes(ledger: SqlLedger, applied: Apply) -> None:
    first = await applied((QUEUE.format("a"), "delay_seconds", 0, 1))
    second = await applied((QUEUE.format("b"), "delay_seconds", 0, 1))
    book = await _book(ledger)
    assert book.overtaken(book.decided[first]) == {(QUEUE.format("b"), "delay_seconds"): second}
    assert book.overtaken(book.decided[second]) == {}


async def test_a_record_that_cannot_be_read_keeps_nobody_back(ledger: SqlLedger, applied: Apply) -> None:
    good = await applied((QUEUE.format("a"), "delay_seconds", 0, 1))
    (record,) = await ledger.records(RecordQuery(stage=Stage.DECIDED))
    book = Backlog(stack="shop")
    bodies: list[dict[str, Any]] = [
        {"decision": {"carried_out": True}},
        {"decision": 5},
        {"decision": {"carried_out": True}, "call": 3},
    ]
    for body in bodies:
        book._take(Record(stage=Stage.DECIDED, at=record.at, mutation_id="mut_bad", stack="shop", body=body, seq=9))
    await book.read(ledger)
    assert _ids(book) == [good]


async def test_who_approved_is_known(ledger: SqlLedger) -> None:
    book = Backlog(stack="shop")
    body = {"approval": "apr_1"}
    book._take(Record(stage=Stage.APPROVED, at=datetime.now(UTC), mutation_id="mut_0", actor="ada", body=body))
    assert book.approvers == {"apr_1": "ada"}
