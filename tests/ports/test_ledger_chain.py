"""Tampering, on every store: the triggers refuse it, and once they are dropped, verification finds the first changed record."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import DBAPIError

from gateway.core.errors import LedgerBroken, LedgerUnavailable
from gateway.core.records.record import Stage
from gateway.ledger.ledger import SqlLedger, open_ledger
from gateway.ledger.store.transaction import Transaction
from tests.kit.bodies import sample_record
from tests.kit.stores import KEYS

COUNT = 20


@contextmanager
def raw(url: str) -> Iterator[Connection]:
    """A connection that bypasses the ledger."""
    engine = create_engine(url)
    try:
        with engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


def disarm(connection: Connection) -> None:
    """Drop the triggers, as the database's owner can."""
    if connection.dialect.name == "sqlite":
        for act in ("update", "delete"):
            connection.execute(text(f"DROP TRIGGER records_refuse_{act}"))
    else:
        connection.execute(text("ALTER TABLE records DISABLE TRIGGER USER"))


async def fill(ledger: SqlLedger) -> None:
    """Twenty records."""

    def work(transaction: Transaction) -> None:
        for number in range(COUNT):
            record = sample_record(
                stage=Stage.DECIDED,
                at=datetime(2026, 3, 1, tzinfo=UTC),
                actor=f"a{number}",
                body={"n": number, "é": "ü"},
            )
            transaction.append(record, resources=[("aws_lb.front", "tags")])

    await ledger.write(work)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE records SET actor = 'x' WHERE seq = 3",
        "DELETE FROM records WHERE seq = 3",
        "DELETE FROM record_resources",
        "UPDATE record_resources SET address = 'x'",
    ],
)
async def test_records_can_be_neither_changed_nor_deleted(store_url: str, statement: str) -> None:
    async with open_ledger(store_url, KEYS) as ledger:
        await fill(ledger)
        with pytest.raises(DBAPIError, match="append-only"), raw(store_url) as connection:
            connection.execute(text(statement))
        assert await ledger.verify() == COUNT


_COPY = (
    "INSERT INTO records SELECT {seq}, version, stage, at, mutation_id, actor, stack, intent, motivation, verdict, key_id, "
    "body, previous, hash, has_evidence, left_over FROM records WHERE seq = {of}"
)


@pytest.mark.parametrize(
    ("statements", "seq"),
    [
        *(
            ([f"UPDATE records SET {name} = '{value}' WHERE seq = 7"], 7)  # noqa: S608  the table is below
            for name, value in {
                "stage": "settled",
                "at": "2026-03-02T00:00:00.000000Z",
                "mutation_id": "mut_x",
                "actor": "eve",
                "stack": "other",
                "intent": "cost",
                "motivation": "routine",
                "verdict": "allow",
                "key_id": "SNTLEVE",
                "has_evidence": "1",
                "left_over": "1",
                "body": "{}",
                "hash": "0" * 64,
                "version": "2",
            }.items()
        ),
        (["UPDATE records SET previous = hash WHERE seq = 7"], 7),
        (["DELETE FROM records WHERE seq = 1"], 1),
        (["DELETE FROM records WHERE seq = 7"], 7),
        (["DELETE FROM records WHERE seq BETWEEN 7 AND 12"], 7),
        (["DELETE FROM records WHERE seq BETWEEN 7 AND 12", "UPDATE records SET seq = seq - 6 WHERE seq = 13"], 7),
        ([_COPY.format(seq=0, of=1)], 0),
        ([_COPY.format(seq=21, of=20)], 21),
        (
            [
                "UPDATE records SET seq = 99 WHERE seq = 7",
                "UPDATE records SET seq = 7 WHERE seq = 8",
                "UPDATE records SET seq = 8 WHERE seq = 99",
            ],
            7,
        ),
    ],
)
async def test_tampering_is_found_and_the_record_is_named(store_url: str, statements: list[str], seq: int) -> None:
    async with open_ledger(store_url, KEYS) as ledger:
        await fill(ledger)
        with raw(store_url) as connection:
            disarm(connection)
            for statement in statements:
                connection.execute(text(statement))
        with pytest.raises(LedgerBroken, match=rf"^Record {seq} "):
            await ledger.verify()


async def test_a_tail_cut_off_is_found_where_an_attempt_names_it(store_url: str) -> None:
    async with open_ledger(store_url, KEYS) as ledger:
        await fill(ledger)
        with raw(store_url) as connection:
            disarm(connection)
            connection.execute(text("DELETE FROM records WHERE seq > 15"))
            connection.execute(
                text(
                    "INSERT INTO attempts (mutation_id, seq, actor, stack, call_digest, decided_at, state, request_id, reason, "
                    "owner, left_at) VALUES ('mut_a', 20, 'a', '', '', '', 'applied', '', '', '', '')"
                )
            )
        with pytest.raises(LedgerBroken, match=r"^Record 16 "):
            await ledger.verify()


async def test_a_store_of_a_newer_sentinel_is_left_alone(store_url: str) -> None:
    async with open_ledger(store_url, KEYS):
        pass
    with raw(store_url) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = 'v9999'"))
    with pytest.raises(LedgerUnavailable, match="v9999"):
        await SqlLedger.open(store_url, KEYS)


async def test_work_that_fails_does_not_affect_other_work_in_its_batch(ledger: SqlLedger) -> None:
    def bad(transaction: Transaction) -> None:
        transaction.append(sample_record(stage=Stage.DECIDED, at=datetime(2026, 3, 1, tzinfo=UTC)))
        transaction.command("SELECT * FROM nowhere")

    ends = await asyncio.gather(
        *(ledger.write(bad) if number % 2 else fill(ledger) for number in range(6)), return_exceptions=True
    )
    assert [type(end) for end in ends] == [type(None), LedgerUnavailable] * 3
    assert await ledger.verify() == 3 * COUNT
