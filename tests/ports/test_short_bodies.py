"""Bodies that are stored short: every reader sees whole ones, a change shows, and programs of earlier versions never meet them."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from sqlalchemy import text

from gateway.core.errors import LedgerBroken, LedgerUnavailable
from gateway.core.model.outcome import Applied, Reply
from gateway.core.ports import RecordQuery
from gateway.core.records.asked import VERSION
from gateway.core.records.record import Record, Stage
from gateway.ledger.ask.view_query import ask_views
from gateway.ledger.ledger import SqlLedger, open_ledger
from gateway.ledger.store.generations import allow_all
from gateway.ledger.store.tables import FIRST_PREVIOUS
from gateway.ledger.store.transaction import Transaction
from tests.kit import nouns
from tests.kit.bodies import sample_record
from tests.kit.stores import KEYS
from tests.ports.test_ledger import effect, facts, mutation
from tests.ports.test_ledger_chain import raw

COUNT = 60
NOW = datetime(2026, 3, 1, tzinfo=UTC)
SHORT = "SELECT count(*) FROM records WHERE substr(body, 1, 1) = :mark"


def count_short(url: str) -> int:
    with raw(url) as connection:
        return int(connection.execute(text(SHORT), {"mark": "\x01"}).scalar_one())


def _record(number: int) -> Record:
    body = {"requester": f"agent-{number}", "reason": f"100 % é \x01 {number:040}", "door": "cli"}
    return sample_record(
        stage=Stage.REJECTED, at=NOW + timedelta(seconds=number), mutation_id=f"mut_{number}", actor="ann", body=body
    )


async def write(ledger: SqlLedger, count: int = COUNT) -> list[Record]:
    records = [_record(number) for number in range(count)]
    for record in records:
        await ledger.write(partial(Transaction.append, record=record))
    return records


async def test_readers_see_whole_bodies(store_url: str) -> None:
    async with open_ledger(store_url, KEYS) as ledger:
        written = await write(ledger)
        assert count_short(store_url) > COUNT / 2
        read = await ledger.records(RecordQuery(newest_first=False, limit=COUNT))
        assert [each.body for each in read] == [each.body for each in written]
        assert await ledger.verify() == COUNT
    query = "SELECT reason, requester FROM approvals ORDER BY seq"
    rows = ask_views(store_url, query, most=COUNT, seconds=60).rows
    assert rows == tuple((each.body.reason, each.body.requester) for each in written)  # type: ignore[attr-defined]
    async with open_ledger(store_url, KEYS) as again:
        await write(again, 1)
        assert await again.verify() == COUNT + 1


CHANGES = {
    "a value": "UPDATE records SET body = replace(body, 'agent-57', 'agent-58') WHERE seq = 58",
    "fewer values": "UPDATE records SET body = substr(body, 1, 12) WHERE seq = 58",
    "another form": "UPDATE records SET body = replace(body, substr(body, 2, 10), '0123456789') WHERE seq = 58",
    "the text of the forms": "UPDATE forms SET text = replace(text, 'cli', 'api')",
    "no forms": "DELETE FROM forms WHERE key <> ''",
}


@pytest.mark.parametrize("change", CHANGES)
async def test_a_change_of_a_body_or_of_its_form_shows(store_url: str, change: str) -> None:
    async with open_ledger(store_url, KEYS) as ledger:
        await write(ledger)
    with raw(store_url) as connection:
        if connection.dialect.name == "sqlite":
            for trigger in ("records_refuse_update", "forms_refuse_update", "forms_refuse_delete"):
                connection.execute(text(f"DROP TRIGGER {trigger}"))
        else:
            connection.execute(text("ALTER TABLE records DISABLE TRIGGER USER"))
            connection.execute(text("ALTER TABLE forms DISABLE TRIGGER USER"))
        assert connection.execute(text(CHANGES[change])).rowcount
    with pytest.raises(LedgerBroken, match="was changed after it was written"):
        async with open_ledger(store_url, KEYS) as ledger:
            await ledger.verify()


@pytest.mark.parametrize("change", ["UPDATE forms SET text = 'x'", "DELETE FROM forms"])
async def test_forms_can_be_neither_changed_nor_deleted(store_url: str, change: str) -> None:
    async with open_ledger(store_url, KEYS) as ledger:
        await write(ledger)
    with pytest.raises(Exception, match="append-only"), raw(store_url) as connection:
        connection.execute(text(change))


def _as_used_before(url: str) -> None:
    """As a ledger that an earlier version made: nothing says yet that bodies may be short."""
    with raw(url) as connection:
        if connection.dialect.name == "sqlite":
            trigger = connection.execute(
                text("SELECT sql FROM sqlite_master WHERE name = 'forms_refuse_delete'")
            ).scalar_one()
            connection.execute(text("DROP TRIGGER forms_refuse_delete"))
            connection.execute(text("DELETE FROM forms"))
            connection.execute(text(trigger))
        else:
            connection.execute(text("ALTER TABLE forms DISABLE TRIGGER USER"))
            connection.execute(text("DELETE FROM forms"))
            connection.execute(text("ALTER TABLE forms ENABLE TRIGGER USER"))


async def _applied(ledger: SqlLedger, number: int, reply: Reply) -> None:
    change = mutation(effect(number, address=f"aws_autoscaling_group.g{number}"), actor="ann", key=f"k{number}")
    await ledger.record_decision(change, facts(change), nouns.decision())
    await ledger.record_outcome(change, Applied(reply=reply, request_id=f"request-{number}"), NOW)


REPLIES: dict[str, Callable[[int], bytes]] = {
    "XML": lambda n: f'<R xmlns="http://a"><Id>request-{n:030}</Id><S>é %</S></R>'.encode(),
    "JSON": lambda n: f'{{"Id":"request-{n:030}","Size":{n},"Name":"é %1$s"}}'.encode(),
    "lines": lambda n: f"a\n{n}\n".encode(),
    "empty": lambda _: b"",
    "bytes": lambda n: b"\xff" + str(n).encode(),
    "with a null": lambda n: b"\0" + str(n).encode(),
    "with the mark": lambda n: b"\x01" + str(n).encode(),
}


@pytest.mark.parametrize("kind", REPLIES)
async def test_a_repeat_gets_the_reply_as_it_was(store_url: str, kind: str) -> None:
    made = REPLIES[kind]
    async with open_ledger(store_url, KEYS) as ledger:
        for number in range(COUNT):
            body = made(number)
            headers = (("Content-Type", "text/xml"), ("x-amzn-RequestId", f"request-{number:030}"))
            await _applied(ledger, number, Reply(status=200, headers=headers, body=body))
        for number in (0, COUNT - 1):
            found = await ledger.attempt("ann", f"k{number}")
            assert found is not None
            assert isinstance(found.outcome, Applied)
            assert found.outcome.reply.body == made(number)
            assert dict(found.outcome.reply.headers)["x-amzn-RequestId"] == f"request-{number:030}"
        assert await ledger.verify() == 2 * COUNT
    with raw(store_url) as connection:
        short = connection.execute(text("SELECT count(*) FROM attempts WHERE substr(reply_headers, 1, 1) = :m"), {"m": "\x01"})  # fmt: skip
        assert (short.scalar_one() > COUNT / 2) == (kind in ("XML", "JSON", "empty"))
        assert connection.execute(text("SELECT count(*) FROM attempts WHERE owner <> ''")).scalar_one() == 0
        assert connection.execute(text("SELECT count(*) FROM records WHERE previous <> ''")).scalar_one() == 0
        connection.execute(text("UPDATE attempts SET reply_headers = replace(reply_headers, '200', '201') || ' '"))
    async with open_ledger(store_url, KEYS) as ledger:
        with pytest.raises(LedgerBroken, match="`reply` is not what record"):
            await ledger.verify()


async def test_each_record_is_read_with_the_hash_of_the_one_before(store_url: str) -> None:
    async with open_ledger(store_url, KEYS) as ledger:
        await write(ledger, 3)
        read = await ledger.records(RecordQuery(newest_first=False, limit=3))
    assert [each.previous for each in read] == [FIRST_PREVIOUS, *(each.hash for each in read[:2])]


async def _allow(ledger: SqlLedger) -> bool:
    def work(transaction: Transaction) -> bool:
        return allow_all(transaction, NOW)

    return await ledger.write(work)


async def test_bodies_are_whole_until_no_earlier_gateway_lives(store_url: str) -> None:
    async with open_ledger(store_url, KEYS):
        _as_used_before(store_url)
    async with open_ledger(store_url, KEYS) as ledger:
        with raw(store_url) as connection:
            # As a gateway of an earlier version: its statement does not name what it reads.
            connection.execute(
                text("INSERT INTO leases (owner, until) VALUES ('gtw_old', '2026-03-01T00:00:10.000000Z')")
            )
        await ledger.renew_lease(NOW, timedelta(seconds=10))
        await write(ledger)
        await _applied(ledger, 1, Reply(status=200, headers=(), body=b"x"))
        assert ledger.asked_version == 1
        with pytest.raises(LedgerUnavailable, match="A gateway of an earlier version holds"):
            await _allow(ledger)
        assert count_short(store_url) == 0
        with raw(store_url) as connection:
            connection.execute(text("UPDATE leases SET until = '2026-03-01T00:00:00.000000Z' WHERE owner = 'gtw_old'"))
        assert await _allow(ledger)
        assert not await _allow(ledger)
    assert count_short(store_url) == 0
    with raw(store_url) as connection:
        assert connection.execute(text("SELECT count(*) FROM records WHERE previous = ''")).scalar_one() == 0
        stored = connection.execute(text("SELECT reply_headers, reply_body, owner <> '' FROM attempts")).one()
        assert (stored[0], bytes(stored[1]), bool(stored[2])) == ("[]", b"x", True)
    async with open_ledger(store_url, KEYS) as ledger:
        await write(ledger)
        assert count_short(store_url) > COUNT / 2
        assert ledger.asked_version == VERSION
        assert await ledger.verify() == 2 * COUNT + 2
