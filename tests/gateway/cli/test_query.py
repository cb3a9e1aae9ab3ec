"""`sentinel query`: rows as a table or a document, and a sentence for what is refused."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.cli.conftest import Run
from tests.kit.exports import write_history

Document = Callable[..., tuple[int, Any]]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data directory of a ledger with every stage."""
    data = tmp_path_factory.mktemp("data")
    asyncio.run(write_history(f"sqlite:///{data / 'ledger.db'}"))
    return data


@pytest.fixture(autouse=True)
def settings(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTINEL_DATA", str(data))


def test_rows_are_a_document(document: Document) -> None:
    code, found = document("query", "SELECT actor, count(*) AS n FROM mutations GROUP BY actor ORDER BY n DESC LIMIT 1")
    assert code == 0
    assert found["columns"] == ["actor", "n"]
    assert found["rows"][0][0] == "agent"
    assert found["more"] is False


def test_rows_are_a_table_and_what_is_cut_is_told(sentinel: Run) -> None:
    done = sentinel("query", "SELECT mutation, why FROM mutations", "--rows", "2")
    assert done.exit_code == 0
    assert done.stdout.count("mut_") == 2
    assert "more rows than these 2" in done.stderr


def test_what_is_refused_is_a_sentence(document: Document) -> None:
    code, problem = document("query", "SELECT * FROM keys")
    assert (code, problem["code"]) == (1, "malformed")
    assert "nothing else" in problem["detail"]


def test_without_a_ledger_none_is_made(document: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTINEL_DATA", str(tmp_path))
    assert document("query", "SELECT 1 AS a")[0] == 1
    assert list(tmp_path.iterdir()) == []
