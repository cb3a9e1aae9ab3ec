"""Sorted lists are merged in the database, which reads of each list no more than it must."""

from sqlalchemy import Connection

from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.ledger.ask.merged import SortedList, merged
from gateway.ledger.ledger import SqlLedger
from gateway.ledger.store.statements import SqlValue
from tests.kit.many_records import append_many, fitting

STAGES = (Stage.SETTLED, Stage.RECONCILED)


async def test_lists_are_merged_in_order_between_two_numbers(ledger: SqlLedger) -> None:
    await append_many(ledger, 200)
    every = await ledger.records(RecordQuery(newest_first=False, limit=200))
    lists = [SortedList(table="records", equal={"stage": stage.value}) for stage in STAGES]
    for newest_first in (True, False):
        query = RecordQuery(after_seq=20, before_seq=150, newest_first=newest_first)
        wanted = [seq for seq in range(21, 150) if every[seq - 1].stage in STAGES]
        wanted = wanted[::-1] if newest_first else wanted
        assert await asked(ledger, lists, query, 1_000) == wanted
        assert await asked(ledger, lists, query, 5) == wanted[:5]


async def test_a_record_in_several_lists_is_found_once(ledger: SqlLedger) -> None:
    await append_many(ledger, 100)
    every = await ledger.records(RecordQuery(newest_first=False, limit=100))
    names = ("aws_sqs_queue.q1", "aws_sqs_queue.q2")
    lists = [SortedList(table="record_resources", equal={"address": each}) for each in names]
    wanted = {seq for each in names for seq in fitting(every, RecordQuery(resource=each))}
    assert await asked(ledger, lists, RecordQuery(), 1_000) == sorted(wanted, reverse=True)
    tested = [SortedList(table="record_resources", equal=each.equal, tested={"actor": "ana"}) for each in lists]
    of_ana = [seq for seq in sorted(wanted, reverse=True) if every[seq - 1].actor == "ana"]
    assert await asked(ledger, tested, RecordQuery(), 1_000) == of_ana


async def test_no_lists_have_no_numbers(ledger: SqlLedger) -> None:
    await append_many(ledger, 3)
    assert await asked(ledger, [], RecordQuery(), 10) == []


async def test_texts_and_numbers_are_tested(ledger: SqlLedger) -> None:
    await append_many(ledger, 100)
    every = await ledger.records(RecordQuery(newest_first=False, limit=100))
    asked_for: tuple[dict[str, SqlValue], ...] = (
        {"actor": "ana", "stage": "decided"},
        {"actor": "ana", "stage": "decided", "has_evidence": 0},
    )
    for tested in asked_for:
        found = await asked(ledger, [SortedList(table="records", tested=tested)], RecordQuery(), 1_000)
        query = RecordQuery(actor="ana", stage=Stage.DECIDED, no_evidence="has_evidence" in tested)
        assert found == fitting(every, query)


async def test_there_may_be_more_lists_than_one_statement_takes(ledger: SqlLedger) -> None:
    await append_many(ledger, 100)
    lists = [SortedList(table="records", equal={"seq": number}) for number in (*range(1, 101), *range(50, 1_250))]
    for newest_first in (True, False):
        query = RecordQuery(after_seq=10, newest_first=newest_first)
        wanted = sorted(range(11, 101), reverse=newest_first)
        assert await asked(ledger, lists, query, 1_000) == wanted
        few = await asked(ledger, lists, query, 7)
        assert few == wanted[: len(few)]
        assert few


async def asked(ledger: SqlLedger, lists: list[SortedList], query: RecordQuery, most: int) -> list[int]:
    """What `merged` finds."""

    def ask(connection: Connection) -> list[int]:
        return merged(connection, lists, query, most)

    return await ledger._query_reader.read(ask)
