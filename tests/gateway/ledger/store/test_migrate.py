"""Migrations run once, and the newest one is the one that the code names. What they make: tests/ports/test_schema.py."""

from pathlib import Path

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, text

from gateway.core.errors import LedgerUnavailable
from gateway.ledger.store.migrate import HEAD, configuration, migrate, schema_version


def test_the_code_names_the_newest_migration() -> None:
    assert ScriptDirectory.from_config(configuration()).get_current_head() == HEAD


def test_running_it_again_changes_nothing(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'ledger.db'}")
    with engine.begin() as connection:
        assert schema_version(connection) == ""
        migrate(connection)
        assert schema_version(connection) == HEAD
        made = connection.execute(text("SELECT sql FROM sqlite_master ORDER BY name")).all()
        migrate(connection)
        assert connection.execute(text("SELECT sql FROM sqlite_master ORDER BY name")).all() == made
    engine.dispose()


def test_an_unknown_revision_is_refused(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'ledger.db'}")
    with engine.begin() as connection:
        migrate(connection)
        connection.execute(text("UPDATE alembic_version SET version_num = 'v9999'"))
        with pytest.raises(LedgerUnavailable, match="v9999"):
            migrate(connection)
    engine.dispose()
