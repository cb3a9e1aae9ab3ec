"""The PostgreSQL of `sentinel up --postgres`: made once, found again, and never two ledgers in one home."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.cli.demo.own_postgresql import has_postgresql, own_postgresql
from gateway.cli.demo.up import _with_ledger
from gateway.cli.demo.workspace import CannotStart, Workspace, write_config
from gateway.core.model.inbound import Refusal
from gateway.core.settings import read_settings
from gateway.core.times import SystemClock
from gateway.ledger.ledger import open_ledger
from tests.kit.stores import KEYS


@pytest.fixture
def home() -> Iterator[Path]:
    """A directory that the user `postgres` can reach, which pytest's are not for root."""
    with tempfile.TemporaryDirectory(prefix="sentinel-home-") as directory:
        yield Path(directory)


@pytest.mark.postgres
async def test_the_ledger_is_there_at_the_next_start(home: Path) -> None:
    refusal = Refusal(at=SystemClock().now(), reason="stranger", code="not_authenticated", peer="10.0.0.1")
    for number in (1, 2):
        with own_postgresql(home) as url:
            async with open_ledger(url, KEYS) as ledger:
                await ledger.record_refusal(refusal)
                assert await ledger.verify() == number
    # A killed start leaves its server running.
    left = own_postgresql(home)
    left.__enter__()
    with own_postgresql(home) as url:
        async with open_ledger(url, KEYS) as ledger:
            assert await ledger.verify() == 2
    with pytest.raises(CannotStart, match="PostgreSQL's pg_ctl failed"):
        left.__exit__(None, None, None)  # it was ended by the next start


@pytest.mark.postgres
def test_a_home_with_postgresql_keeps_to_it(home: Path) -> None:
    for postgres in (True, False):
        with _with_ledger(Workspace(root=home, port=1, simulated_port=0), postgres=postgres) as workspace:
            write_config(workspace, reconciler=None, policies=None)
            assert read_settings(workspace.config).ledger_url == workspace.ledger
            assert workspace.ledger.startswith("postgresql+psycopg://sentinel@/sentinel?host=")
    assert has_postgresql(home)


def test_a_home_with_sqlite_is_not_changed(home: Path) -> None:
    (home / "data").mkdir()
    (home / "data" / "ledger.db").touch()
    workspace = Workspace(root=home, port=1, simulated_port=0)
    with pytest.raises(CannotStart, match=r"in SQLite\. Say --fresh"), _with_ledger(workspace, postgres=True):
        pass
    with _with_ledger(workspace, postgres=False) as same:
        assert same == workspace


def test_without_its_programs_a_sentence_says_what_to_install(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "glob", lambda *_: iter(()))
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(CannotStart, match=r"is not installed\. Install PostgreSQL"), own_postgresql(home):
        pass
