"""`sentinel migrate` brings the ledger's schema to this version, before the programs of this version start."""

from typing import TYPE_CHECKING

from gateway.cli.config import config_file, settings_or_exit
from gateway.cli.options import Config, Json
from gateway.cli.output import console, fail, show_json
from gateway.core.errors import SentinelError

if TYPE_CHECKING:
    from gateway.core.settings import Settings


def migrate(*, config: Config = None, as_json: Json = False) -> None:
    """Bring the ledger's schema to the one of this version. The gateway does the same when it starts: this is for a step of its own in a deployment.

    It waits for transactions that run, and migrates all or nothing. A ledger of a newer version is left as it is, with exit code 1.
    """
    from gateway.core.settings import without_password

    settings = settings_or_exit(config_file(config), as_json=as_json)
    try:
        before, after = _migrate(settings)
    except SentinelError as error:
        fail(error, as_json=as_json)
    if as_json:
        show_json({"before": before or None, "after": after})
        return
    where = without_password(settings.ledger_url)
    if before == after:
        console.print(f"The ledger {where} has the schema of this version already ({after}).", markup=False)
    else:
        console.print(f"The ledger {where} was migrated from {before or 'nothing'} to {after}.", markup=False)


def _migrate(settings: "Settings") -> tuple[str, str]:
    """The revisions before and after; the first is empty for a new ledger. Raises as `open_store`."""
    from gateway.ledger.store.database import connect_unprepared, open_store, sqlite_file
    from gateway.ledger.store.migrate import HEAD, schema_version

    file = sqlite_file(settings.ledger_url)
    before = ""
    if file is None or file.is_file():
        with connect_unprepared(settings.ledger_url) as connection:
            before = schema_version(connection)
    open_store(settings.ledger_url).close()
    return before, HEAD
