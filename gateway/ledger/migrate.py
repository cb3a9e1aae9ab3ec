"""Brings a store's schema up to date when it is opened."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util.exc import CommandError
from sqlalchemy import Connection, inspect, text

from gateway.errors import LedgerUnavailable

HEAD = "v0001"
"""The newest step; compared on opening without loading the steps."""


def schema_version(connection: Connection) -> str:
    """The step that a store is at, empty for a new one."""
    if not inspect(connection).has_table("alembic_version"):
        return ""
    return str(connection.execute(text("SELECT version_num FROM alembic_version")).scalar() or "")


def migrate(connection: Connection) -> None:
    """Run the missing steps in the connection's transaction, which the caller has locked against other processes and commits.

    Raises `errors.LedgerUnavailable` where the store was made by a newer Sentinel.
    """
    version = schema_version(connection)
    if version == HEAD:
        return
    try:
        command.upgrade(configuration(connection), "head")
    except CommandError as error:
        message = (
            f"The ledger's schema is at step {version}, which this version of Sentinel does not know (its newest is {HEAD}). "
            "Nothing was changed; run the version that made it, or a newer one."
        )
        raise LedgerUnavailable(message) from error


def configuration(connection: Connection | None = None) -> Config:
    """Alembic's configuration for the packaged steps."""
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
