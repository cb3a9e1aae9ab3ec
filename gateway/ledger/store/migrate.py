"""Migrates a database to the current schema when it is opened."""

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect, text

from gateway.core.errors import LedgerUnavailable

if TYPE_CHECKING:
    from alembic.config import Config

HEAD = "v0008"
"""The newest revision, so that opening a current database loads no migration."""


def schema_version(connection: Connection) -> str:
    """The schema revision of a database; empty for a new one."""
    if not inspect(connection).has_table("alembic_version"):
        return ""
    return str(connection.execute(text("SELECT version_num FROM alembic_version")).scalar() or "")


def migrate(connection: Connection) -> None:
    """Run the missing migrations in the connection's transaction. The caller holds the write lock and commits.

    Raises `errors.LedgerUnavailable` if the database was created by a newer version of Sentinel.
    """
    version = schema_version(connection)
    if version == HEAD:
        return
    # Alembic takes longer to import than most commands to run.
    from alembic import command  # noqa: PLC0415
    from alembic.util.exc import CommandError  # noqa: PLC0415

    try:
        command.upgrade(configuration(connection), "head")
    except CommandError as error:
        message = (
            f"The ledger's schema has revision {version}, which this version of Sentinel does not know (its newest is {HEAD}). "
            "Nothing was changed; run the version of Sentinel that migrated it, or a newer one."
        )
        raise LedgerUnavailable(message) from error


def configuration(connection: Connection | None = None) -> "Config":
    """Alembic's configuration for the packaged migrations."""
    from alembic.config import Config  # noqa: PLC0415  see `migrate`

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
