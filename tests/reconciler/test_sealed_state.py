"""Who may write the tables of DBOS runs no code in the reconciler, and makes up neither a result nor an error of a workflow."""

import asyncio
import base64
import pickle
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from dbos import DBOS

from reconciler.sealed_state import NAME, SealedSerializer, StateForged
from reconciler.workflows import durable

KEY = b"a key for tests"
SEALER = SealedSerializer(KEY)


def test_what_was_sealed_is_read() -> None:
    for value in (None, {"a": [1, "x"]}, ("shop", "mut_1", 0), ValueError("no")):
        assert repr(SEALER.deserialize(SEALER.serialize(value))) == repr(value)


def _pickled(value: object) -> str:
    return base64.b64encode(pickle.dumps(value)).decode()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "%",
        _pickled("x"),
        base64.b64encode(bytes(32) + pickle.dumps("x")).decode(),
        SealedSerializer(b"another key").serialize("x"),
        SEALER.serialize("x")[:-4],
    ],
)
def test_nothing_else_is(text: str) -> None:
    with pytest.raises(StateForged):
        SEALER.deserialize(text)


class Evil:
    """Unpickled, it makes a file."""

    def __init__(self, mark: Path) -> None:
        self._mark = mark

    def __reduce__(self) -> Any:
        return Path.touch, (self._mark,)


def _plant(database: Path, inputs: str, form: str | None, number: int) -> None:
    """A workflow that waits to be resumed, as somebody with the database writes it."""
    now = int(time.time() * 1000)
    row = {
        "workflow_uuid": f"evil-{number}",
        "status": "PENDING",
        "name": "write_back",
        "executor_id": "reconciler",
        "application_version": "sentinel-2",
        "inputs": inputs,
        "serialization": form,
        "created_at": now,
        "updated_at": now,
        "recovery_attempts": 0,
        "priority": 0,
    }
    with closing(sqlite3.connect(database)) as connection, connection:
        names, places = ",".join(row), ",".join("?" * len(row))
        connection.execute(f"INSERT INTO workflow_status ({names}) VALUES ({places})", list(row.values()))  # noqa: S608  names of ours


def _statuses(database: Path) -> list[tuple[str]]:
    with closing(sqlite3.connect(database)) as connection, connection:
        return connection.execute("SELECT status FROM workflow_status").fetchall()


async def test_no_form_of_a_planted_row_runs_code(tmp_path: Path) -> None:
    database, mark = tmp_path / "workflows.db", tmp_path / "ran"
    url = f"sqlite:///{database}"
    async with durable({}, database=url, key=KEY, poll_seconds=0.05):
        pass
    evil = {"args": (Evil(mark),), "kwargs": {}}
    for number, form in enumerate(("py_pickle", None, NAME, "portable_json")):
        _plant(database, _pickled(evil), form, number)
    async with durable({}, database=url, key=KEY, poll_seconds=0.05):
        for number in range(4):
            with suppress(Exception):  # whatever DBOS makes of a row that it cannot read
                await DBOS.resume_workflow_async(f"evil-{number}")
        async with asyncio.timeout(300):
            while {status for (status,) in _statuses(database)} - {"ERROR", "SUCCESS"}:  # noqa: ASYNC110  what DBOS's threads do
                await asyncio.sleep(0.05)
    assert not mark.exists()
