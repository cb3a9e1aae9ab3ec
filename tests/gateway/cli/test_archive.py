"""`sentinel archive`, and what the commands that read records say afterwards."""

import asyncio
import gzip
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.core.model.inbound import Refusal
from gateway.core.settings import Settings
from gateway.ledger.archive.archiving import Archived, archive_records
from gateway.ledger.chain.checkpoint import CheckpointFile
from gateway.ledger.ledger_keys import checkpoint_path, ledger_keys, master_key_of
from gateway.ledger.sealed_ledger import open_sealed_ledger
from gateway.ledger.store.database import open_store
from tests.kit.gate import ASG, Gate

Document = Callable[..., tuple[int, Any]]
Run = Callable[..., Any]


@pytest.fixture
def old(elsewhere: Path) -> Path:
    """A ledger of five old records and a new one, where the default settings look for it."""

    async def write() -> None:
        async with open_sealed_ledger(Settings(data=elsewhere / Settings().data)) as ledger:
            for number in range(6):
                at = datetime.now(UTC) - timedelta(days=400 if number < 5 else 0)
                refusal = Refusal(at=at, reason="stranger", code="not_authenticated", peer=f"10.0.0.{number}")
                await ledger.record_refusal(refusal)

    asyncio.run(write())
    return elsewhere / Settings().data


def test_old_records_are_archived(old: Path, sentinel: Run, document: Document, tmp_path: Path) -> None:
    code, reply = document("archive", str(tmp_path), "--older-than", "30d")
    directory = Path(reply["directory"])
    assert (code, reply) == (
        0,
        {"directory": str(directory), "first": 1, "last": 5, "removed": 5, "stayed": 0, "held_back": None},
    )
    with closing(sqlite3.connect(old / "ledger.db")) as connection:
        assert connection.execute("SELECT seq FROM records").fetchall() == [(6,)]
    said = sentinel("verify").stdout
    assert "The ledger is intact: 1 record(s) verified." in said
    assert "Records 1 to 5 are archived: the database has 0 of them" in " ".join(said.split())
    code, verified = document("verify", "--archive", str(tmp_path))
    assert (code, verified["verified"], verified["archived"], verified["from_archives"]) == (0, 6, 5, True)
    assert sentinel("archive", str(tmp_path), "--older-than", "30d").stdout.startswith(
        "No record was archived: none is old enough."
    )


def test_an_altered_file_is_named(old: Path, document: Document, tmp_path: Path) -> None:
    _, reply = document("archive", str(tmp_path))
    [file] = Path(reply["directory"]).glob("records-*")
    file.write_bytes(gzip.compress(gzip.decompress(file.read_bytes()).replace(b"stranger", b"somebody")))
    code, refused = document("verify", "--archive", reply["directory"])
    assert code == 1
    assert refused["detail"].startswith(f"{file} is missing or is not the file that was written for this archive.")
    assert old.is_dir()


def test_young_records_and_wrong_places_are_refused(old: Path, document: Document, tmp_path: Path) -> None:
    code, reply = document("archive", str(tmp_path), "--older-than", "6d")
    assert (code, reply["detail"]) == (
        1,
        "Records younger than 7 days are not archived. Nothing was changed. Say --older-than 7d or more.",
    )
    code, reply = document("verify", "--archive", str(old))
    assert (code, reply["detail"].startswith(f"There is no archive in {old}.")) == (1, True)


@pytest.mark.allow_hosts(["127.0.0.1"])
def test_lists_and_answers_say_that_older_records_are_archived(
    gate: Gate, document: Document, sentinel: Run, speak_as: Callable[..., None], tmp_path: Path
) -> None:
    speak_as(gate, "human")
    gate.client("autoscaling").set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=6)
    address = "aws_autoscaling_group.kafka_consumer"
    assert "archived" not in document("records")[1]
    assert "archived" not in document("history", address)[1]
    _, missing = document("explain", "mut_01m7xz6hz9jtmrenb3s98tt6vc")
    assert "that this key may see. `sentinel changes`" in missing["detail"]
    done = _archive(Settings(data=gate.directory / "data"), tmp_path)
    for arguments in (("records",), ("history", address)):
        _, reply = document(*arguments)
        assert reply["archived"]["last"] == done.last
        assert "are archived" in " ".join(sentinel(*arguments).stderr.split())
    assert "archived" not in document("records", "--since", "2999-01-01")[1]
    for arguments in (("explain", "mut_01m7xz6hz9jtmrenb3s98tt6vc"), ("blame", f"{address}.nothing")):
        assert f"Records up to number {done.last} (of " in document(*arguments)[1]["detail"]


def _archive(settings: Settings, to: Path) -> Archived:
    keys = ledger_keys(master_key_of(settings, create=False))
    store, later = open_store(settings.ledger_url), datetime.now(UTC) + timedelta(hours=1)
    try:
        file = CheckpointFile(checkpoint_path(settings), keys.signing)
        return archive_records(store, keys, file, to=to, before=later, now=later)
    finally:
        store.close()
