"""Which lists a query is served by. What is found by them: tests/ports/test_record_search.py."""

import pytest
from sqlalchemy import Connection

from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.ledger.ask import record_lists
from gateway.ledger.ask.merged import SortedList
from gateway.ledger.ledger import SqlLedger
from tests.kit.many_records import append_many


async def lists(ledger: SqlLedger, query: RecordQuery) -> list[SortedList] | None:
    """The lists of a query."""
    return await ledger.query(lambda session: record_lists._lists(session, query))


async def test_a_question_about_nothing_in_particular_has_no_list(ledger: SqlLedger) -> None:
    await append_many(ledger, 50)
    assert await lists(ledger, RecordQuery()) is None


async def test_nothing_is_read_of_an_actor_who_did_nothing_such(ledger: SqlLedger) -> None:
    await append_many(ledger, 50)
    assert await lists(ledger, RecordQuery(actor="ana", stage=Stage.APPROVED)) == []
    assert await lists(ledger, RecordQuery(resource="aws_sqs", actor="nobody")) == []


async def test_there_is_a_list_for_each_kind_that_fits(ledger: SqlLedger) -> None:
    await append_many(ledger, 600)
    found = await lists(ledger, RecordQuery(actor="ana", verdict="deny"))
    assert found is not None
    assert len(found) == 5
    assert {each.equal["actor"] for each in found} == {"ana"}
    assert {each.equal["verdict"] for each in found} == {"deny"}


async def test_there_is_a_list_for_each_of_few_resources(ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    await append_many(ledger, 50)
    found = await lists(ledger, RecordQuery(resource="aws_sqs_queue", actor="ana"))
    assert found is not None
    assert [each.equal["address"] for each in found] == [f"aws_sqs_queue.q{number}" for number in range(4)]
    assert {each.tested["actor"] for each in found} == {"ana"}
    monkeypatch.setattr(record_lists, "FEW_ADDRESSES", 3)
    many = await lists(ledger, RecordQuery(resource="aws_sqs_queue", actor="ana"))
    assert many is not None
    assert {each.table for each in many} == {"records"}


async def test_each_page_goes_on_where_the_last_one_ended(ledger: SqlLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    await append_many(ledger, 100)
    monkeypatch.setattr(record_lists, "READ_AT_ONCE", 10)

    def read(connection: Connection) -> list[list[int]]:
        return list(record_lists.pages(connection, RecordQuery(actor="ana"), 3) or ())

    pages = await ledger._query_reader.read(read)
    assert [len(page) for page in pages][:4] == [3, 6, 10, 10]
    every = [seq for page in pages for seq in page]
    assert every == sorted(set(every), reverse=True)
