"""Records for exports: verified, in order, each with the decision that it belongs to."""

from pathlib import Path

import pytest
from sqlalchemy import text

from gateway.errors import LedgerBroken
from gateway.ledger import exported
from gateway.ledger.chain import START
from gateway.ledger.exported import exported_records
from gateway.ledger.rows import ChainEndRow
from gateway.ledger.statements import Session
from gateway.ledger.store import open_store
from gateway.model.record import Stage
from tests.gateway.ledger.conftest import Scene
from tests.kit.exported import FAR, records_of
from tests.kit.sealed import KEYS


async def _file(scene: Scene, tmp_path: Path) -> str:
    """Three mutations, decided and settled."""
    for value in range(3):
        await scene.execute(scene.mutation(value, f"a{value}"))
    return f"sqlite:///{tmp_path / 'scene.db'}"


@pytest.mark.parametrize("page", [1, 2, 500])
async def test_an_outcome_knows_its_decision_across_pages(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    monkeypatch.setattr(exported, "_PAGE", page)
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
