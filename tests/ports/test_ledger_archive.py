"""Retention: old records leave the database as signed files, and nothing is lost or altered unseen, on every database."""

import asyncio
import gzip
import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, String, func, select, text, update
from sqlalchemy.engine import make_url

from gateway.core.errors import LedgerBroken, LedgerUnavailable, SettingsInvalid
from gateway.core.failpoints import Point
from gateway.core.model.approval import HoldState
from gateway.core.model.inbound import Refusal
from gateway.core.model.verdict import Verdict
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.ledger.archive.archiving import Archived, archive_records
from gateway.ledger.archive.files import ArchiveFiles
from gateway.ledger.ask.exports import begin_export, start_since
from gateway.ledger.chain.archived import archives
from gateway.ledger.chain.checkpoint import CheckpointFile
from gateway.ledger.chain.hashes import START
from gateway.ledger.chain.verification import Verification, verify_ledger, verify_tables
from gateway.ledger.ledger import SqlLedger, open_ledger
from gateway.ledger.store.database import Store, open_store
from gateway.ledger.store.statements import Session
from gateway.ledger.store.tables import ARCHIVE_PARTS, ARCHIVES, RECORDS
from tests.kit import nouns
from tests.kit.forked import ran
from tests.kit.history import HUMAN, History, effect
from tests.kit.stores import KEYS, Cluster
from tests.ports import archive_child

LATER = datetime(2026, 6, 1, tzinfo=UTC)
"""After everything that the history writes."""


@dataclass
class Scene:
    """A ledger with a history, and where it is archived to."""

    url: str
    store: Store
    file: CheckpointFile
    to: Path
    ids: dict[str, str]

    def archive(self, before: datetime = LATER) -> Archived:
        return archive_records(self.store, KEYS, self.file, to=self.to, before=before, now=LATER)

    def verify(self, *, files: bool = False) -> Verification:
        given = ArchiveFiles([self.to], KEYS.chain, KEYS.signing.public_key()) if files else None
        return verify_ledger(self.store, KEYS.chain, self.file, given)

    def write(self, *, more: int = 0) -> None:
        """Another history, or some refusals."""
        _write(self.url, self.file.path, more)

    def count(self) -> int:
        with self.store.connect() as connection:
            return int(connection.execute(select(func.count()).select_from(RECORDS)).scalar_one())

    def sql(self, *statements: str) -> None:
        """Change the database as its owner can, past the triggers."""
        with self.store.connect(writes=True) as connection:
            connection.begin()
            for statement in (*_dropped(connection), *statements):
                connection.execute(text(statement))
            connection.commit()


def _dropped(connection: Connection) -> list[str]:
    if connection.dialect.name == "sqlite":
        return [
            f"DROP TRIGGER IF EXISTS {table}_refuse_{act}"
            for table in ("records", "record_resources")
            for act in ("update", "delete")
        ]
    return [f"ALTER TABLE {table} DISABLE TRIGGER USER" for table in ("records", "record_resources")]


def _write(url: str, checkpoint: Path, more: int) -> dict[str, str]:
    async def write() -> dict[str, str]:
        async with open_ledger(url, KEYS, checkpoint) as ledger:
            if more:
                for number in range(more):
                    refusal = Refusal(
                        at=LATER, reason=f"stranger {number}", code="not_authenticated", peer=f"10.0.0.{number}"
                    )
                    await ledger.record_refusal(refusal)
                return {}
            history = History(ledger)
            await history.write()
            return history.ids

    return asyncio.run(write())


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def written(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path, dict[str, str], Callable[[Path], str]]:
    """The URL of a ledger with a history, its checkpoint, the ids in it, and what copies it for a test with this directory."""
    directory = tmp_path_factory.mktemp("written")
    if request.param == "sqlite":
        url = f"sqlite:///{directory / 'ledger.db'}"
    else:
        cluster: Cluster = request.getfixturevalue("postgres")
        url = cluster.new_ledger()

    def copied(to: Path) -> str:
        if request.param == "sqlite":
            shutil.copy(directory / "ledger.db", to / "ledger.db")
            return f"sqlite:///{to / 'ledger.db'}"
        return cluster.new_database(str(make_url(url).database))

    return url, directory / "checkpoint", _write(url, directory / "checkpoint", 0), copied


@pytest.fixture
def scene(written: tuple[str, Path, dict[str, str], Callable[[Path], str]], tmp_path: Path) -> Iterator[Scene]:
    _, checkpoint, ids, copied = written
    url = copied(tmp_path)
    shutil.copy(checkpoint, tmp_path / "checkpoint")
    store = open_store(url)
    yield Scene(url, store, CheckpointFile(tmp_path / "checkpoint", KEYS.signing), tmp_path / "archives", ids)
    store.close()


def test_old_records_leave_and_the_ledger_verifies_with_and_without_their_files(scene: Scene) -> None:
    before = scene.verify()
    done = scene.archive()
    assert (done.first, done.last) == (1, before.records - 1)
    assert done.directory == scene.to / f"sentinel-archive-{1:012d}-{done.last:012d}"
    assert (
        done.held_back
        == f"Records up to {before.records} are old enough, yet the newest record stays, which the next one names."
    )
    assert done.removed > 10
    assert scene.count() == before.records - done.removed == done.stayed + 1
    for files in (False, True):
        after = scene.verify(files=files)
        assert (after.records, after.rows, after.checkpoint) == (before.records, before.rows, before.checkpoint)
        assert (after.archived, after.stayed, after.from_files) == (done.last, done.stayed, files)


def test_the_ledger_goes_on_and_is_archived_again(scene: Scene) -> None:
    first = scene.archive()
    scene.write(more=3)
    count = scene.verify().records
    second = scene.archive(LATER + timedelta(days=1))
    assert (second.first, second.last) == (first.last + 1, count - 1)
    assert scene.verify().rows == scene.verify(files=True).rows
    shutil.rmtree(first.directory or scene.to)
    # Those of one archive are verified by themselves.
    found = scene.verify(files=True)
    assert (found.from_files, len(found.files)) == (False, 1)


def test_what_is_still_needed_stays(scene: Scene) -> None:
    done = scene.archive()

    async def ask(ledger: SqlLedger) -> None:
        records = await ledger.records(RecordQuery(limit=1_000))
        there = {record.mutation_id for record in records}
        claims = {claim.mutation_id for claim in await ledger.claims(open_only=False) if claim.ended_at is None}
        held = {
            hold.mutation_id
            for state in (HoldState.OPEN, HoldState.APPROVED)
            for hold in await ledger.holds(state=state)
        }
        assert claims
        assert held
        needed = {"in doubt", "in flight", "left", "open plan", "stop"}
        assert claims | held | {scene.ids[name] for name in needed} <= there
        assert done.stayed < done.last
        stages = {record.stage for record in records}
        assert Stage.TURNED_AWAY not in stages
        assert Stage.REJECTED in stages

    asyncio.run(_with(scene, ask))


def test_decisions_go_on_where_they_stood(scene: Scene) -> None:
    """What was open before is settled, approved, released and put back after: and all of it still follows from the records."""
    scene.archive()

    async def act(ledger: SqlLedger) -> None:
        for name in ("in doubt", "left"):
            await ledger.settle_by_hand(scene.ids[name], approver=HUMAN, at=LATER, carried_out=True, reason="I looked.")
        [hold, *_] = await ledger.holds()
        await ledger.reject(hold.mutation_id, approver=HUMAN, reason="No.", at=LATER)
        claims = [each for each in await ledger.claims(open_only=False) if each.ended_at is None and not each.unsettled]
        for claim in claims[:3]:
            await ledger.release(claim.mutation_id, caller=HUMAN, at=LATER)
        await ledger.expire(LATER + timedelta(days=400))
        change = nouns.mutation(effect(9, "anew"))
        await ledger.record_decision(
            change, nouns.facts(*nouns.subjects(change.effects), now=LATER), nouns.decision(Verdict.ALLOW)
        )

    asyncio.run(_with(scene, act))
    assert scene.verify().rows == scene.verify(files=True).rows
    again = scene.archive(LATER + timedelta(days=900))
    assert again.last > again.first
    assert scene.verify().rows == scene.verify(files=True).rows


async def _with(scene: Scene, act: object) -> None:
    async with open_ledger(scene.url, KEYS, scene.file.path) as ledger:
        await act(ledger)  # type: ignore[operator]


@pytest.mark.slow
@pytest.mark.parametrize(
    "point", [Point.ARCHIVE_WRITTEN, Point.ARCHIVE_NAMED, Point.ARCHIVE_STORED, Point.RECORDS_REMOVED]
)
def test_a_process_killed_between_two_steps_loses_nothing(
    scene: Scene, point: Point, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = scene.verify()
    child = (archive_child.__name__, scene.url, str(scene.file.path), str(scene.to), point)
    killed = ran(*child, environment=os.environ)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    for files in (False, True)[: 2 if point >= Point.ARCHIVE_STORED else 1]:
        assert scene.verify(files=files).rows == before.rows
    scene.write(more=2)
    monkeypatch.setattr("gateway.ledger.archive.archiving._AT_ONCE", 7)
    done = scene.archive(LATER + timedelta(days=1))
    assert scene.count() == before.records + 2 - done.removed - (
        0 if point < Point.RECORDS_REMOVED else _gone(scene, done)
    )
    for files in (False, True):
        assert scene.verify(files=files).rows == before.rows


def _gone(scene: Scene, done: Archived) -> int:
    """What the killed process had removed already."""
    return done.last - done.stayed - done.removed


TAMPERS = {
    "an archived record that stays is removed": (
        "DELETE FROM record_resources WHERE seq = (SELECT min(seq) FROM records)",
        "DELETE FROM records WHERE seq = (SELECT min(seq) FROM records)",
        "had to stay because something later needs it",
    ),
    "one is changed": ("UPDATE records SET actor = 'mallory' WHERE seq = (SELECT min(seq) FROM records)", "was changed after it was written"),
    "a settled attempt of an archived record is changed": (
        "UPDATE attempts SET request_id = 'forged' WHERE mutation_id = (SELECT min(mutation_id) FROM attempts WHERE state = 'applied')",
        "A row of attempts that follows from archived records was changed",
    ),
    "an ended claim of one is removed": (
        "DELETE FROM claims WHERE id = (SELECT min(id) FROM claims WHERE ended_at IS NOT NULL AND unsettled = 0)",
        "A row of claims",
    ),
    "an open claim of one is changed": ("UPDATE claims SET actor = 'mallory' WHERE ended_at IS NULL", "of claims was changed past Sentinel"),
    "a row is inserted": (
        "INSERT INTO stops (id, scope, name, by, reason, at, ended_by) VALUES ('stp_x', 'all', '', 'mallory', 'x', '2026', '')",
        "of stops",
    ),
    "the archive is forgotten": ("DELETE FROM archives", "Record .* is missing from the ledger"),
    "the archive is moved on": ("UPDATE archives SET last = last + 1", "row .* of archives was changed past Sentinel"),
    "what it left behind is changed": ("UPDATE archive_parts SET content = (SELECT reply_body FROM attempts WHERE reply_body IS NOT NULL LIMIT 1)", "rows of archive_parts"),
    "what it left behind is removed": ("DELETE FROM archive_parts", "rows of archive_parts"),
}  # fmt: skip


@pytest.mark.parametrize("how", TAMPERS)
def test_tampering_is_found_without_the_files(scene: Scene, how: str) -> None:
    scene.archive()
    *statements, said = TAMPERS[how]
    scene.sql(*statements)
    with pytest.raises(LedgerBroken, match=said):
        scene.verify()


def test_every_column_of_an_archive_is_checked(scene: Scene) -> None:
    scene.archive()
    for column in ARCHIVES.columns:
        with scene.store.connect(writes=True) as connection:
            connection.begin()
            other = ARCHIVES.c[column.name] + ("1" if isinstance(column.type, String) else 1)
            connection.execute(update(ARCHIVES).values({column.name: other}))
            with pytest.raises(LedgerBroken, match="changed past Sentinel"):
                verify_tables(Session(connection), KEYS.chain, None)
            connection.rollback()


def test_the_files_name_the_row(scene: Scene) -> None:
    scene.archive()
    scene.sql(*TAMPERS["a settled attempt of an archived record is changed"][:-1])
    with pytest.raises(LedgerBroken, match=r"The row mut_\w+ of attempts was changed past Sentinel: its `request_id`"):
        scene.verify(files=True)


def test_altered_files_are_refused(scene: Scene) -> None:
    directory = scene.archive().directory
    assert directory is not None
    [file] = directory.glob("records-*.gz")
    content = gzip.decompress(file.read_bytes())
    file.write_bytes(gzip.compress(content.replace(b"agent", b"agenT", 1)))
    with pytest.raises(
        LedgerBroken, match=rf"^{file} is missing or is not the file that was written for this archive\."
    ):
        scene.verify(files=True)
    manifest = directory / "manifest.json"
    said = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**said, "last": said["last"] - 1}))
    with pytest.raises(LedgerBroken, match="was changed, or made with another master key"):
        scene.verify(files=True)
    manifest.unlink()
    with pytest.raises(SettingsInvalid, match="There is no complete archive in"):
        scene.verify(files=True)
    # The ledger itself stands without them.
    assert scene.verify().archived


def test_a_record_that_an_archive_lacks_cannot_be_deleted(scene: Scene) -> None:
    scene.archive()
    scene.write(more=1)
    with scene.store.connect(writes=True) as connection:
        connection.begin()
        with pytest.raises(Exception, match="the ledger is append-only"):
            connection.execute(text("DELETE FROM records WHERE seq = (SELECT max(seq) FROM records)"))
        connection.rollback()


def test_exports_and_checkpoints_hold_records_back(scene: Scene) -> None:
    with scene.store.connect(writes=True) as connection:
        scene.store.lock(connection)
        begin_export(Session(connection), "ocsf /exports", START, "2026")
        connection.commit()
    done = scene.archive()
    assert done.directory is None
    assert "the export to ocsf /exports has come to record 0 only" in done.held_back
    scene.sql("DELETE FROM exports")
    scene.file.path.unlink()
    assert "no checkpoint was signed yet" in scene.archive().held_back


def test_new_exports_begin_after_the_archive(scene: Scene) -> None:
    done = scene.archive()
    with scene.store.connect() as connection:
        assert start_since(Session(connection), "").seq == done.last
        assert start_since(Session(connection), "2020").seq == done.last


def test_nothing_is_old_enough(scene: Scene) -> None:
    done = scene.archive(datetime(2020, 1, 1, tzinfo=UTC))
    assert (done.directory, done.removed, done.held_back) == (None, 0, "")
    assert [path.name for path in scene.to.iterdir()] == [".sentinel-archive.lock"]


def test_a_checkpoint_older_than_the_archive_still_opens_the_ledger(scene: Scene) -> None:
    """Another host's checkpoint may be old: what the archive says was written with the master key, and holds more than it."""
    note = scene.file.path.read_text()
    scene.write(more=3)
    scene.archive(LATER + timedelta(days=1))
    scene.file.path.write_text(note)
    scene.write(more=1)
    assert scene.verify().checkpoint is not None


def test_what_is_in_the_way_stays(scene: Scene) -> None:
    last = scene.verify().records - 1
    there = scene.to / f"sentinel-archive-{1:012d}-{last:012d}"
    there.mkdir(parents=True)
    (there / "notes").write_text("mine")
    with pytest.raises(
        SettingsInvalid, match=r"is there already, and is no archive of this ledger\. Nothing was changed"
    ):
        scene.archive()
    assert (there / "notes").read_text() == "mine"
    with scene.store.connect() as connection:
        assert not archives(Session(connection))


def test_another_run_came_first(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    def first(*_: object) -> None:
        monkeypatch.undo()
        other = Scene(scene.url, scene.store, scene.file, scene.to / "other", scene.ids)
        assert other.archive().removed

    monkeypatch.setattr(
        "gateway.ledger.archive.archiving.failpoint", lambda point: first() if point is Point.ARCHIVE_NAMED else None
    )
    with pytest.raises(LedgerUnavailable, match=r"Another process archived records meanwhile"):
        scene.archive()
    assert scene.verify().archived


def test_another_run_in_the_same_directory_stands_back(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    refused: list[str] = []

    def second(point: Point) -> None:
        if point is Point.ARCHIVE_NAMED and not refused:
            with pytest.raises(LedgerUnavailable, match="Another process is archiving into") as caught:
                scene.archive()
            refused.append(str(caught.value))

    monkeypatch.setattr("gateway.ledger.archive.archiving.failpoint", second)
    assert scene.archive().removed
    assert refused
    assert scene.verify(files=True).archived


def test_only_the_last_archive_has_a_rest(scene: Scene) -> None:
    scene.archive()
    scene.write(more=3)
    scene.archive(LATER + timedelta(days=1))
    with scene.store.connect() as connection:
        first, second = archives(Session(connection))
        assert (first.parts, second.parts) == (
            0,
            connection.execute(select(func.count()).select_from(ARCHIVE_PARTS)).scalar_one(),
        )
