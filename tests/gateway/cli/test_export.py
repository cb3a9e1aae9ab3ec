"""`sentinel export`: once, kept up to date, and what is missing said as a sentence."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gateway.identity.master_key import FILE_NAME
from tests.gateway.cli.conftest import Run
from tests.kit.exports import write_history
from tests.kit.stores import MASTER

Document = Callable[..., tuple[int, Any]]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data directory of a ledger with every stage."""
    data = tmp_path_factory.mktemp("data")
    asyncio.run(write_history(f"sqlite:///{data / 'ledger.db'}"))
    (data / FILE_NAME).write_text(MASTER.hex())
    return data


@pytest.fixture(autouse=True)
def settings(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTINEL_DATA", str(data))
    monkeypatch.setenv("SENTINEL_MASTER_KEY", MASTER.decode())


def test_lines_are_printed_and_nothing_else(sentinel: Run) -> None:
    done = sentinel("export", "--format", "jsonl", "--since", "2026-01-01T00:00:00Z")
    assert done.exit_code == 0, done.output
    assert [json.loads(line)["seq"] for line in done.stdout.splitlines()][:3] == [1, 2, 3]


def test_a_file_is_written(sentinel: Run, tmp_path: Path) -> None:
    done = sentinel("export", "--format", "csv", "--out", str(tmp_path / "all.csv"))
    assert done.exit_code == 0, done.output
    assert (tmp_path / "all.csv").read_text().startswith("seq,time,stage,")


def test_a_place_is_kept_up_to_date(document: Document, tmp_path: Path) -> None:
    given = ("export", "--format", "ocsf", "--to", str(tmp_path / "out"))
    sink = f"ocsf {tmp_path / 'out'}"
    code, first = document(*given)
    assert (code, first["exported"][sink] > 100) == (0, True)
    assert document(*given) == (0, {"exported": {sink: 0}})
    code, status = document("export", "--status")
    assert (code, [each["left"] for each in status["exports"] if each["sink"] == sink]) == (0, [0])


def test_the_settings_name_what_is_kept_up_to_date(
    document: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SENTINEL_EXPORTS", json.dumps([{"format": "cloudtrail", "to": str(tmp_path / "trail")}]))
    code, done = document("export")
    assert (code, list(done["exported"])) == (0, [f"cloudtrail {tmp_path / 'trail'}"])
    assert list((tmp_path / "trail").rglob("AWSLogs/unknown/CloudTrail/global/2026/03/01/*.json.gz"))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "Name a --format"),
        (("--to", "out"), "--to needs --format"),
        (("--format", "ocsf", "--to", "out", "--until", "1h"), "has no end"),
        (("--format", "ocsf", "--to", "gs://out"), "s3://bucket/prefix"),
        (("--format", "ocsf", "--since", "yesterday"), "neither a time"),
    ],
)
def test_a_mistake_is_a_sentence(document: Document, arguments: tuple[str, ...], says: str) -> None:
    code, problem = document("export", *arguments)
    assert code == 1
    assert says in problem["detail"]


def test_without_a_ledger_none_is_made(document: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTINEL_DATA", str(tmp_path))
    code, problem = document("export", "--format", "jsonl")
    assert (code, problem["code"]) == (1, "not_found")
    assert list(tmp_path.iterdir()) == []
