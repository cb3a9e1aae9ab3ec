"""Migrations run once, and the newest one is the one that the code names."""

from pathlib import Path

import pytest
from alembic import command
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


def test_holds_and_approvals_of_the_first_schema_are_kept_and_bound_to_nothing(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'ledger.db'}")
    with engine.begin() as connection:
        command.upgrade(configuration(connection), "v0001")
        connection.execute(text("INSERT INTO holds VALUES ('mut_1', 'now', 'a', '', 's', 'd', '{}', 'open')"))
        connection.execute(
            text("INSERT INTO approvals VALUES ('apr_1', 'mut_1', 'a', 'd', 'ana', 'now', 'then', 'open', '')")
        )
        migrate(connection)
        for table in ("holds", "approvals"):
            assert connection.execute(text(f"SELECT binding FROM {table}")).all() == [("",)]  # noqa: S608
    engine.dispose()


def test_claims_of_before_know_their_motivation(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'ledger.db'}")
    columns = "id, mutation_id, address, attribute, value, actor, kind, motive, since, unsettled"
    with engine.begin() as connection:
        command.upgrade(configuration(connection), "v0008")
        for claim, motive in (("clm_1", '{"intent":"cost","motivation":"budget"}'), ("clm_2", None)):
            values = "(:id, 'mut_1', 'a', :id, '6', 'agent', 'agent', :motive, 'now', 0)"
            connection.execute(text(f"INSERT INTO claims ({columns}) VALUES {values}"), {"id": claim, "motive": motive})  # noqa: S608
        migrate(connection)
        found = connection.execute(text("SELECT id, motivation FROM claims ORDER BY id")).all()
        assert found == [("clm_1", "budget"), ("clm_2", "")]
    engine.dispose()
