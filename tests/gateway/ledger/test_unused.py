"""Whether a ledger was written to yet is told without its keys, and telling changes nothing."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.errors import LedgerUnavailable, SettingsInvalid
from gateway.ledger.ledger import open_ledger
from gateway.ledger.unused import is_unused
from gateway.model.record import Record, Stage
from tests.kit.sealed import KEYS

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def test_a_ledger_that_is_not_there_is_unused_and_stays_absent(tmp_path: Path) -> None:
    assert is_unused(f"sqlite:///{tmp_path / 'none' / 'ledger.db'}")
    assert list(tmp_path.iterdir()) == []


async def test_an_opened_ledger_is_unused_until_something_is_written(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    async with open_ledger(url, KEYS) as ledger:
        assert is_unused(url)
        await ledger.write(lambda transaction: transaction.append(Record(stage=Stage.TURNED_AWAY, at=NOW)))
    assert not is_unused(url)


def test_a_database_that_cannot_be_read_or_is_of_another_kind_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "ledger.db").write_text("This is no database, and it is longer than a page header would be." * 30)
    with pytest.raises(LedgerUnavailable):
        is_unused(f"sqlite:///{tmp_path / 'ledger.db'}")
    with pytest.raises(SettingsInvalid):
        is_unused("mysql://somewhere/else")
