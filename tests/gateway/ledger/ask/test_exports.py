"""Where exports stand: begun once, moved by one process, and bounded in what comes next."""

from pathlib import Path

import pytest
from sqlalchemy import text

from gateway.core.errors import LedgerBroken
from gateway.core.records.record import Stage
from gateway.ledger.ask import exports
from gateway.ledger.ask.exports import (
    begin_export,
    end_until,
    exported_records,
    last_record,
    move_export,
    position_of,
    positions,
    range_end,
    start_since,
)
from gateway.ledger.chain.hashes import START
from gateway.ledger.store.database import open_store
from gateway.ledger.store.rows import ChainEndRow
from gateway.ledger.store.statements import Session
from gateway.ledger.store.timestamps import to_text
from tests.gateway.ledger.conftest import NOW, Scene
from tests.kit.exports import FAR, records_of
from tests.kit.stores import KEYS

SINK = "ocsf /somewhere"


async def test_an_export_begins_once_and_each_step_is_one_process_s(scene: Scene) -> None:
    await scene.ledger.write(lambda session: begin_export(session, SINK, ChainEndRow(3, "h"), "now"))
    await scene.ledger.write(lambda session: begin_export(session, SINK, ChainEndRow(9, "x"), "later"))
    was = await scene.ledger.read(lambda session: position_of(session, SINK))
    assert was is not None
    assert was.end == ChainEndRow(3, "h")
    planned = was._replace(planned=8)
    assert await scene.ledger.write(lambda session: move_export(session, was, planned))
    assert not await scene.ledger.write(lambda session: move_export(session, was, planned)), "another one took it"
    assert await scene.ledger.read(positions) == [planned]


async def test_a_range_is_bounded_by_records_and_by_size_and_never_empty(scene: Scene) -> None:
    for value in range(3):
        await scene.execute(scene.mutation(value, f"a{value}"))
    last = (await scene.ledger.read(last_record)).seq
    assert last == 6
    assert await scene.ledger.read(lambda session: range_end(session, 0, most=4, most_characters=10**9)) == 4
    assert await scene.ledger.read(lambda session: range_end(session, 0, most=4, most_characters=1)) == 1
    assert await scene.ledger.read(lambda session: range_end(session, 6, most=4, most_characters=1)) == 6


async def test_an_end_is_the_last_record_from_before_a_time(scene: Scene) -> None:
    await scene.execute(scene.mutation())
    for until, seq in (("", 2), (to_text(NOW), 0), ("2999", 2)):
        assert await scene.ledger.read(lambda session, until=until: end_until(session, until)) == seq  # type: ignore[misc]  # bound early


async def test_a_start_is_the_record_before_a_time(scene: Scene) -> None:
    assert await scene.ledger.read(lambda session: start_since(session, "")) == START
    await scene.execute(scene.mutation())
    assert await scene.ledger.read(lambda session: start_since(session, to_text(NOW))) == START
    end = await scene.ledger.read(last_record)
    assert await scene.ledger.read(lambda session: start_since(session, "2999")) == end


async def _file(scene: Scene, tmp_path: Path) -> str:
    """Three mutations, decided and settled."""
    for value in range(3):
        await scene.execute(scene.mutation(value, f"a{value}"))
    return f"sqlite:///{tmp_path / 'scene.db'}"


@pytest.mark.parametrize("page", [1, 2, 500])
async def test_an_outcome_knows_its_decision_across_pages(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    monkeypatch.setattr(exports, "_PAGE", page)
    store = open_store(await _file(scene, tmp_path))
    records = records_of(store)
    store.close()
    assert [record.row.seq for record in records] == [1, 2, 3, 4, 5, 6]
    for decided, settled in zip(records[::2], records[1::2], strict=True):
        assert settled.row.stage == Stage.SETTLED
        assert settled.decided == decided.body == decided.decided
        assert decided.resources[0][0] == "aws_sqs_queue.orders"


async def test_a_part_begins_and_ends_where_it_is_asked_to(scene: Scene, tmp_path: Path) -> None:
    store = open_store(await _file(scene, tmp_path))
    third = records_of(store)[2].row
    with store.connect() as connection:
        part = exported_records(Session(connection), KEYS.chain, ChainEndRow(third.seq, third.hash), 5)
        assert [record.row.seq for record in part] == [4, 5]
    store.close()


async def test_a_record_that_was_changed_is_not_exported(scene: Scene, tmp_path: Path) -> None:
    store = open_store(await _file(scene, tmp_path))
    with store.connect(writes=True) as connection:
        store.lock(connection)
        connection.execute(text("DROP TRIGGER IF EXISTS records_are_kept"))
        for (name,) in connection.execute(text("SELECT name FROM sqlite_master WHERE type = 'trigger'")).all():
            connection.execute(text(f"DROP TRIGGER {name}"))
        connection.execute(text("UPDATE records SET actor = 'nobody' WHERE seq = 4"))
        with pytest.raises(LedgerBroken, match=r"^Record 4 "):
            list(exported_records(Session(connection), KEYS.chain, START, FAR))
        connection.rollback()
    store.close()
