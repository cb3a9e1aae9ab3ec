"""`sentinel verify`."""

import asyncio
import shutil
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gateway.core.model.inbound import Refusal
from gateway.core.settings import Settings
from gateway.identity.master_key import master_key
from gateway.ledger.chain.checkpoint import FILE_NAME
from gateway.ledger.sealed_ledger import open_sealed_ledger

Document = Callable[..., tuple[int, Any]]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data directory of a ledger of five records."""
    data = tmp_path_factory.mktemp("data")

    async def write() -> None:
        async with open_sealed_ledger(Settings(data=data)) as ledger:
            for number in range(5):
                refusal = Refusal(
                    at=datetime.now(UTC),
                    reason=f"stranger {number}",
                    code="not_authenticated",
                    peer=f"10.0.0.{number}",
                )
                await ledger.record_refusal(refusal)

    asyncio.run(write())
    return data


@pytest.fixture
def ledger(written: Path, elsewhere: Path) -> Path:
    """A copy to tamper with, where the default settings look for it."""
    copy = elsewhere / Settings().data
    shutil.copytree(written, copy)
    return copy / "ledger.db"


def tamper(ledger: Path, *statements: str) -> None:
    """Run SQL on the ledger as anyone with the file can, without the triggers, which are there again afterwards."""
    connection = sqlite3.connect(ledger)
    triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    assert triggers
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        assert connection.execute(statement).rowcount == 1
    for _, made in triggers:
        connection.execute(made)
    connection.commit()
    connection.close()


def test_an_intact_chain(ledger: Path, document: Document, sentinel: Callable[..., Any]) -> None:
    tables = "keys attempts claims holds approvals applied_values spent_signatures signals time_boxes stops budgets plan_sessions plan_uses"
    rows = dict.fromkeys(tables.split(), 0)
    archive = {"archived": 0, "archived_in_database": 0, "archives": [], "from_archives": False}
    assert document("verify") == (0, {"verified": 5, "checkpoint": 5, "rows": rows, **archive})
    said = sentinel("verify").stdout.splitlines()
    assert said[0] == "The ledger is intact: 5 record(s) verified."
    assert said[1].startswith("Every row follows from the records: 0 of keys, 0 of attempts, ")
    assert said[2] == "The ledger agrees with the checkpoint that was signed over 5 record(s)."


def test_without_a_checkpoint_it_says_what_would_not_show(
    ledger: Path, document: Document, sentinel: Callable[..., Any]
) -> None:
    (ledger.parent / FILE_NAME).unlink()
    code, said = document("verify")
    assert (code, said["checkpoint"]) == (3, None)
    done = sentinel("verify")
    assert (done.exit_code, done.stdout.startswith("What is in the ledger is intact: 5")) == (3, True)
    assert "removed from the end would not show" in done.stdout


def test_an_emptied_ledger_without_its_checkpoint_is_not_called_intact(ledger: Path, document: Document) -> None:
    """The attack: empty every table and remove the checkpoint; monitoring that looks at the exit code saw nothing."""
    (ledger.parent / FILE_NAME).unlink()
    connection = sqlite3.connect(ledger)
    triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("DELETE FROM records")
    for _, made in triggers:
        connection.execute(made)
    connection.commit()
    connection.close()
    code, said = document("verify")
    assert (code, said.get("verified"), said.get("checkpoint")) == (3, 0, None)


def test_without_the_master_key_nothing_is_verified(ledger: Path, document: Document) -> None:
    (ledger.parent / "master.key").unlink()
    code, problem = document("verify")
    assert (code, problem["code"]) == (1, "settings_invalid")
    assert not (ledger.parent / "master.key").exists()


def test_the_checkpoint_can_lie_elsewhere(
    ledger: Path, document: Document, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (ledger.parent / FILE_NAME).rename(tmp_path / "signed")
    monkeypatch.setenv("SENTINEL_CHECKPOINTS", str(tmp_path / "signed"))
    assert document("verify")[1]["checkpoint"] == 5


TAMPERED = {
    "an edited record": ("UPDATE records SET body = replace(body, 'stranger 2', 'friend 2') WHERE seq = 3", "Record 3 or its list of resources was changed"),
    "another actor": ("UPDATE records SET actor = 'ana' WHERE seq = 1", "Record 1 or its list of resources was changed"),
    "a missing record": ("DELETE FROM records WHERE seq = 2", "Record 2 is missing"),
    "a missing end": ("DELETE FROM records WHERE seq = 5", "Record 5 is missing"),
    "a strange key": (
        "INSERT INTO keys VALUES ('SNTL2', 'eve', 'human', '[]', '', '', '', NULL, NULL, NULL, 0, NULL)",
        "The row SNTL2 of keys was written past Sentinel",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("statement", "message"), TAMPERED.values(), ids=TAMPERED)
def test_a_tampered_ledger_ends_with_1_and_names_the_first_bad_record(
    statement: str, message: str, ledger: Path, document: Document, sentinel: Callable[..., Any]
) -> None:
    tamper(ledger, statement)
    done = sentinel("verify")
    assert (done.exit_code, done.stdout) == (1, "")
    assert message in done.stderr
    code, problem = document("verify")
    assert (code, problem["code"]) == (1, "ledger_broken")


def test_a_missing_ledger_is_an_error(document: Document, elsewhere: Path) -> None:
    code, reply = document("verify")
    assert (code, reply["code"]) == (1, "not_found")
    assert list(elsewhere.iterdir()) == []


def test_a_file_that_is_not_a_ledger(document: Document, elsewhere: Path) -> None:
    (elsewhere / ".sentinel").mkdir()
    master_key("", elsewhere / ".sentinel")
    (elsewhere / ".sentinel" / "ledger.db").write_text("not a database at all, but long enough to be read as one" * 20)
    code, reply = document("verify")
    assert (code, reply["code"]) == (1, "ledger_unavailable")
