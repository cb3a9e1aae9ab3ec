"""The drill: back up a ledger, lose it, restore it into an empty place, verify it, and go on. On SQLite and on PostgreSQL."""

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gateway.core.errors import LedgerBroken, LedgerUnavailable, SettingsInvalid
from gateway.core.model.inbound import Refusal
from gateway.core.ports import RecordQuery
from gateway.ledger.backup import MASTER_KEY, BackupPlace, back_up, restore
from gateway.ledger.chain.checkpoint import FILE_NAME as CHECKPOINT
from gateway.ledger.chain.checkpoint import CheckpointFile
from gateway.ledger.ledger import open_ledger
from gateway.ledger.ledger_keys import ledger_keys
from gateway.ledger.signed_directory import MANIFEST
from tests.kit.history import History
from tests.kit.stores import KEYS, postgres

__all__ = ["postgres"]

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def new_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], str]]:
    """URLs of empty places."""
    if request.param == "sqlite":
        yield lambda: f"sqlite:///{tmp_path / datetime.now(UTC).strftime('%f%S')}/ledger.db"
        return
    cluster = request.getfixturevalue("postgres")
    yield cluster.new_database


@pytest.fixture
def place(new_url: Callable[[], str], tmp_path: Path) -> BackupPlace:
    return BackupPlace(url=new_url(), checkpoint=tmp_path / "elsewhere" / "checkpoint", master_key=None, keys=KEYS)


async def _written(place: BackupPlace, *, history: bool = True, more: int = 0) -> int:
    """Fill the ledger; the number of its records."""
    async with open_ledger(place.url, place.keys, place.checkpoint) as ledger:
        if history:
            await History(ledger).write()
        for number in range(more):
            await ledger.record_refusal(
                Refusal(at=NOW, reason=f"stranger {number}", code="not_authenticated", peer="10.0.0.1")
            )
        [last] = await ledger.records(RecordQuery(limit=1))
    return last.seq


async def test_the_drill(place: BackupPlace, new_url: Callable[[], str], tmp_path: Path) -> None:
    count = await _written(place)
    made = back_up(place, tmp_path / "backups", NOW)
    assert made.directory == tmp_path / "backups" / "sentinel-20260301T120000Z"
    assert made.records == count
    # Everything is lost: database and checkpoint.
    empty = replace(place, url=new_url(), checkpoint=tmp_path / "new" / "checkpoint")
    done = restore(empty, made.directory)
    assert done.records == count
    assert done.checkpoint is not None
    assert done.checkpoint.size == count
    assert sum(done.rows.values()) > 20
    # And it goes on: the chain, and a checkpoint over it.
    assert await _written(empty, history=False, more=3) == count + 3
    signed = CheckpointFile(empty.checkpoint, KEYS.signing).read()
    assert signed is not None
    assert signed.size == count + 3


async def test_only_the_database_is_lost(place: BackupPlace, new_url: Callable[[], str], tmp_path: Path) -> None:
    count = await _written(place)
    made = back_up(place, tmp_path / "backups", NOW)
    assert restore(replace(place, url=new_url()), made.directory).records == count


async def test_a_backup_older_than_the_checkpoint_is_refused(
    place: BackupPlace, new_url: Callable[[], str], tmp_path: Path
) -> None:
    count = await _written(place)
    made = back_up(place, tmp_path / "backups", NOW)
    await _written(place, history=False, more=2)
    empty = replace(place, url=new_url())
    with pytest.raises(LedgerBroken) as refused:
        restore(empty, made.directory)
    assert str(refused.value).startswith(
        f"This backup ends at record {count}, but the checkpoint {place.checkpoint} was signed over {count + 2} records: records {count + 1} to "
        f"{count + 2} would be lost. Nothing was changed. Restore a newer backup."
    )
    # The place is still empty, and takes a newer one.
    newer = back_up(place, tmp_path / "backups", NOW + timedelta(hours=1))
    assert restore(empty, newer.directory).records == count + 2


async def test_old_files_put_back_by_hand_do_not_start(tmp_path: Path) -> None:
    """What `restore` refuses, the gateway refuses too."""
    place = BackupPlace(url=f"sqlite:///{tmp_path}/a/ledger.db", checkpoint=tmp_path / "ck", master_key=None, keys=KEYS)
    await _written(place, history=False, more=3)
    made = back_up(place, tmp_path / "backups", NOW)
    await _written(place, history=False, more=2)
    shutil.copy(made.directory / "ledger.db", tmp_path / "a" / "ledger.db")
    with pytest.raises(LedgerBroken, match="Record 5 is missing from the ledger"):
        await _written(place, history=False)


async def test_a_place_with_records_is_left_alone(place: BackupPlace, tmp_path: Path) -> None:
    count = await _written(place, history=False, more=2)
    made = back_up(place, tmp_path / "backups", NOW)
    with pytest.raises(SettingsInvalid, match=r"holds records already.* Nothing was changed"):
        restore(place, made.directory)
    assert await _written(place, history=False, more=1) == count + 1


async def test_a_backup_while_others_write(place: BackupPlace, new_url: Callable[[], str], tmp_path: Path) -> None:
    async with open_ledger(place.url, place.keys, place.checkpoint) as ledger:
        await History(ledger).write()
        made = back_up(place, tmp_path / "backups", NOW)
        await ledger.record_refusal(Refusal(at=NOW, reason="later", code="not_authenticated", peer="10.0.0.1"))
    done = restore(replace(place, url=new_url(), checkpoint=tmp_path / "new"), made.directory)
    assert done.records >= made.records


@pytest.fixture
async def made(tmp_path: Path) -> tuple[BackupPlace, Path]:
    """An empty place, and a backup for it."""
    place = BackupPlace(url=f"sqlite:///{tmp_path}/a/ledger.db", checkpoint=tmp_path / "ck", master_key=None, keys=KEYS)
    await _written(place, history=False, more=3)
    backup = back_up(place, tmp_path / "backups", NOW)
    return replace(place, url=f"sqlite:///{tmp_path}/b/ledger.db"), backup.directory


@pytest.mark.parametrize("name", ["ledger.db", CHECKPOINT])
@pytest.mark.parametrize("change", ["edit", "remove"])
async def test_a_changed_backup_is_refused(made: tuple[BackupPlace, Path], name: str, change: str) -> None:
    place, backup = made
    file = backup / name
    if change == "edit":
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
    else:
        file.unlink()
    with pytest.raises(
        LedgerBroken,
        match=f"{name} is missing or is not the file that was written for this backup. Nothing was changed",
    ):
        restore(place, backup)


async def test_a_changed_manifest_is_refused(made: tuple[BackupPlace, Path]) -> None:
    place, backup = made
    content = json.loads((backup / MANIFEST).read_text())
    (backup / MANIFEST).write_text(json.dumps({**content, "records": 99}))
    with pytest.raises(LedgerBroken, match="was changed, or made with another master key"):
        restore(place, backup)
    for text in ("{}", "[]", "no JSON", '{"signature": 1}', json.dumps({**content, "form": 2})):
        (backup / MANIFEST).write_text(text)
        with pytest.raises(LedgerBroken, match="not the manifest of a backup that this Sentinel can read"):
            restore(place, backup)
    (backup / MANIFEST).unlink()
    with pytest.raises(SettingsInvalid, match="There is no complete backup in"):
        restore(place, backup)


async def test_another_master_key_is_refused(made: tuple[BackupPlace, Path]) -> None:
    place, backup = made
    with pytest.raises(LedgerBroken, match="made with another master key"):
        restore(replace(place, keys=ledger_keys(b"x" * 32), checkpoint=backup / "none"), backup)


async def test_a_ledger_that_does_not_verify_makes_no_backup(tmp_path: Path) -> None:
    place = BackupPlace(url=f"sqlite:///{tmp_path}/a/ledger.db", checkpoint=tmp_path / "ck", master_key=None, keys=KEYS)
    await _written(place, history=False, more=3)
    with closing(sqlite3.connect(tmp_path / "a" / "ledger.db")) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("UPDATE records SET actor = 'x' WHERE seq = 2")
        connection.commit()
    with pytest.raises(LedgerBroken, match=r"^Record 2 or its list"):
        back_up(place, tmp_path / "backups", NOW)
    assert list((tmp_path / "backups").iterdir()) == []


async def test_a_place_that_takes_no_files_is_a_sentence(made: tuple[BackupPlace, Path], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    place = BackupPlace(url=f"sqlite:///{tmp_path}/a/ledger.db", checkpoint=tmp_path / "ck", master_key=None, keys=KEYS)
    with pytest.raises(LedgerUnavailable, match=r"cannot be written .* No backup was made"):
        back_up(place, tmp_path / "file", NOW)


async def test_the_master_key_is_copied_only_if_asked(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("m" * 40)
    place = BackupPlace(url=f"sqlite:///{tmp_path}/a/ledger.db", checkpoint=tmp_path / "ck", master_key=None, keys=KEYS)
    await _written(place, history=False, more=1)
    without = back_up(place, tmp_path / "backups", NOW)
    assert MASTER_KEY not in without.files
    with_key = back_up(replace(place, master_key=key), tmp_path / "backups", NOW + timedelta(hours=1))
    copy = with_key.directory / MASTER_KEY
    assert (copy.read_text(), copy.stat().st_mode & 0o777) == ("m" * 40, 0o600)
    assert with_key.directory.stat().st_mode & 0o077 == 0
