"""A ledger that does not end as it was left is not opened."""

import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.core.errors import LedgerBroken, LedgerUnavailable, SettingsInvalid
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.ledger.ledger import open_ledger
from gateway.ledger.store.opening import is_unused
from tests.kit.bodies import sample_record
from tests.kit.history import History
from tests.kit.stores import KEYS


def run(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.fixture
async def written(tmp_path: Path) -> str:
    """The URL of a closed ledger with a history and a checkpoint."""
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    async with open_ledger(url, KEYS, tmp_path / "checkpoint") as ledger:
        await History(ledger).write()
    return url


@pytest.mark.parametrize("signed", [False, True])
async def test_a_key_that_was_written_past_sentinel_gets_no_record(tmp_path: Path, signed: bool) -> None:
    """Otherwise a start would make it look issued."""
    url, checkpoint = f"sqlite:///{tmp_path / 'ledger.db'}", tmp_path / "checkpoint" if signed else None
    async with open_ledger(url, KEYS, checkpoint):
        pass
    run(
        tmp_path / "ledger.db",
        "INSERT INTO keys (id, actor, kind, roles, on_behalf_of, created_at, session_of, motive_only) "
        "VALUES ('SNTLX', 'eve', 'human', '[\"approver\"]', '', '', '', 0)",
    )
    async with open_ledger(url, KEYS, checkpoint) as ledger:
        assert not await ledger.records(RecordQuery(stage=Stage.KEY_ISSUED))
        with pytest.raises(LedgerBroken):
            await ledger.verify()


TAMPERS = {
    "tail cut": ["DELETE FROM records WHERE seq > 10"],
    "emptied": ["DELETE FROM records", "DELETE FROM record_resources"],
    "last record changed": ["UPDATE records SET actor = 'eve' WHERE seq = (SELECT max(seq) FROM records)"],
    "last record without its resources": [
        "DELETE FROM record_resources WHERE seq = (SELECT max(seq) FROM records)",
    ],
    "forged at the end": [
        (
            "INSERT INTO records SELECT seq + 1, version, 'approved', at, mutation_id, actor, stack, intent, motivation, verdict, "
            "key_id, body, hash, hash, has_evidence, left_over FROM records WHERE seq = (SELECT max(seq) FROM records)"
        )
    ],
}


@pytest.mark.parametrize("statements", TAMPERS.values(), ids=TAMPERS)
async def test_a_ledger_that_does_not_end_as_it_was_left_is_not_opened(
    written: str, tmp_path: Path, statements: list[str]
) -> None:
    run(tmp_path / "ledger.db", *statements)
    signed = (tmp_path / "checkpoint").read_text()
    for _ in range(2):
        with pytest.raises(LedgerBroken, match=r"^Record \d+ "):
            async with open_ledger(written, KEYS, tmp_path / "checkpoint"):
                pass
    assert (tmp_path / "checkpoint").read_text() == signed


async def test_a_backup_is_opened_once_the_checkpoint_is_moved_away(written: str, tmp_path: Path) -> None:
    run(tmp_path / "ledger.db", "DELETE FROM records WHERE seq > 10", "DELETE FROM record_resources WHERE seq > 10")
    (tmp_path / "checkpoint").rename(tmp_path / "older")
    async with open_ledger(written, KEYS, tmp_path / "checkpoint"):
        pass
    assert (tmp_path / "checkpoint").read_text().splitlines()[1] == "10"


async def test_an_empty_ledger_is_anchored_too(tmp_path: Path) -> None:
    async with open_ledger(f"sqlite:///{tmp_path / 'ledger.db'}", KEYS, tmp_path / "checkpoint"):
        assert (tmp_path / "checkpoint").read_text().splitlines()[1] == "0"


NOW = datetime(2026, 3, 1, tzinfo=UTC)


def test_a_ledger_that_is_not_there_is_unused_and_stays_absent(tmp_path: Path) -> None:
    assert is_unused(f"sqlite:///{tmp_path / 'none' / 'ledger.db'}")
    assert list(tmp_path.iterdir()) == []


async def test_an_opened_ledger_is_unused_until_something_is_written(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    async with open_ledger(url, KEYS) as ledger:
        assert is_unused(url)
        await ledger.write(lambda transaction: transaction.append(sample_record(stage=Stage.TURNED_AWAY, at=NOW)))
    assert not is_unused(url)


def test_a_database_that_cannot_be_read_or_is_of_another_kind_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "ledger.db").write_text("This is no database, and it is longer than a page header would be." * 30)
    with pytest.raises(LedgerUnavailable):
        is_unused(f"sqlite:///{tmp_path / 'ledger.db'}")
    with pytest.raises(SettingsInvalid):
        is_unused("mysql://somewhere/else")
