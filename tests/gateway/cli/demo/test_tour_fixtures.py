"""The tour says what it waits for, whatever that is: an answer, the reconciler, or terraform."""

from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from gateway.cli.demo import tour_fixtures
from gateway.cli.demo.credentials import SavedCredentials, SavedKey
from gateway.cli.demo.tour_fixtures import TourFixtures, in_thread
from gateway.core.settings import ReconcileSettings, Settings
from gateway.core.waiting import waiting


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first word comes at once."""
    monkeypatch.setattr(tour_fixtures, "waiting", partial(waiting, every=0.01))


def _fixtures(home: Path, terraform: str = "terraform") -> TourFixtures:
    key = SavedKey(id="SNTL1", secret="s", actor="pipeline")
    credentials = SavedCredentials(url="http://127.0.0.1:1", region="us-east-1", keys={"pipeline": key})
    settings = Settings(reconcile=ReconcileSettings(terraform=terraform))
    return TourFixtures(home=home, credentials=credentials, settings=settings, out=Console(file=StringIO()))


async def test_a_wait_for_an_answer_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    told: list[str] = []

    def call() -> None:
        while not told:
            told.extend(capsys.readouterr().err.split("\n")[:-1])

    await in_thread(call)
    assert told[0].startswith("Waiting for Sentinel's answer: ")


async def test_a_wait_for_the_reconciler_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told: list[str] = []

    async def records(self: TourFixtures, mutation: str) -> list[dict[str, Any]]:
        told.extend(capsys.readouterr().err.split("\n")[:-1])
        return [{"stage": "reconciled", "body": {"commit": "c0ffee"}}] if told else []

    monkeypatch.setattr(TourFixtures, "mutation_records", records)
    body = await _fixtures(tmp_path).reconciliation_of("mut_1")
    assert body == {"commit": "c0ffee"}
    assert told[0].startswith("Waiting for the reconciler, which proves the change")


async def test_a_run_of_terraform_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slow = tmp_path / "terraform"
    slow.write_text("#!/bin/sh\nsleep 0.3\n")
    slow.chmod(0o755)
    (tmp_path / "stack").mkdir()
    code, _ = await _fixtures(tmp_path, terraform=str(slow)).terraform("plan")
    assert code == 0
    assert "Running terraform plan through Sentinel: " in capsys.readouterr().err
