"""`sentinel verify` and `sentinel config`."""

import asyncio
import shutil
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gateway.ledger.ledger import open_ledger
from gateway.model.refusal import Refusal
from gateway.settings import Settings

Document = Callable[..., tuple[int, Any]]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of five records."""
    path = tmp_path_factory.mktemp("ledger") / "ledger.db"

    async def write() -> None:
        async with open_ledger(f"sqlite:///{path}") as ledger:
            for number in range(5):
                refusal = Refusal(
                    at=datetime.now(UTC),
                    reason=f"stranger {number}",
                    code="not_authenticated",
                    peer=f"10.0.0.{number}",
                )
                await ledger.record_refusal(refusal)

    asyncio.run(write())
    return path


@pytest.fixture
def ledger(written: Path, elsewhere: Path) -> Path:
    """A copy to tamper with, where the default settings look for it."""
    copy = elsewhere / Settings().data / "ledger.db"
    copy.parent.mkdir()
    shutil.copy(written, copy)
    return copy


def tamper(ledger: Path, *statements: str) -> None:
    """Run SQL on the ledger as anyone with the file can, after dropping the triggers."""
    connection = sqlite3.connect(ledger)
    triggers = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
    assert triggers
    for (name,) in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        assert connection.execute(statement).rowcount == 1
    connection.commit()
    connection.close()


def test_an_intact_chain(ledger: Path, document: Document, sentinel: Callable[..., Any]) -> None:
    assert document("verify") == (0, {"verified": 5})
    assert sentinel("verify").stdout == "The chain is intact: 5 record(s) verified.\n"


TAMPERED = {
    "an edited record": ("UPDATE records SET body = replace(body, 'stranger 2', 'friend 2') WHERE seq = 3", "Record 3 was changed"),
    "another actor": ("UPDATE records SET actor = 'ana' WHERE seq = 1", "Record 1 was changed"),
    "a missing record": ("DELETE FROM records WHERE seq = 2", "Record 2 is missing"),
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
    (elsewhere / ".sentinel" / "ledger.db").write_text("not a database at all, but long enough to be read as one" * 20)
    code, reply = document("verify")
    assert (code, reply["code"]) == (1, "ledger_unavailable")


def test_config_says_what_is_in_force_and_from_where(
    elsewhere: Path, document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    (elsewhere / "sentinel.toml").write_text("[server]\nport = 9000\n")
    monkeypatch.setenv("SENTINEL_MODE", "observe")
    code, reply = document("config")
    assert (code, reply["file"]) == (0, "sentinel.toml")
    assert reply["settings"]["server.port"] == {"value": 9000, "from": "file", "variable": "SENTINEL_SERVER__PORT"}
    assert reply["settings"]["mode"] == {"value": "observe", "from": "environment", "variable": "SENTINEL_MODE"}
    assert reply["settings"]["account"]["from"] == "default"


def test_config_as_a_table(elsewhere: Path, sentinel: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTINEL_ACCOUNT", "[red]1[/red]")
    shown = sentinel("config").stdout
    assert shown.startswith("Settings file: none")
    line = next(line for line in shown.splitlines() if line.startswith("account"))
    assert line.split() == ["account", "[red]1[/red]", "environment", "SENTINEL_ACCOUNT"]


SECRETS = {
    "SENTINEL_MASTER_KEY": "do-not-show-me-do-not-show-me-do-not",
    "SENTINEL_RECONCILE__KEY_SECRET": "do-not-show-me",
    "SENTINEL_LEDGER": "postgresql+psycopg://sentinel:do-not-show-me@db:5432/ledger",
    "SENTINEL_POLICY__OPA_URL": "https://u:do-not-show-me@opa.example/v1",
}


def test_config_shows_no_secret(
    sentinel: Callable[..., Any], document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    reply = document("config")[1]
    assert "do-not-show-me" not in sentinel("config").stdout + str(reply)
    assert reply["settings"]["ledger"]["value"] == "postgresql+psycopg://sentinel:***@db:5432/ledger"
    assert reply["settings"]["master_key"]["from"] == "environment"


def test_a_password_in_the_query_is_masked(document: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "SENTINEL_LEDGER", "postgresql+psycopg://db/ledger?user=u&password=do-not-show-me&sslmode=require"
    )
    shown = document("config")[1]["settings"]["ledger"]["value"]
    assert shown == "postgresql+psycopg://db/ledger?user=u&password=***&sslmode=require"
