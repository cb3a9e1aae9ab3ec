"""`sentinel migrate` brings the ledger's schema to this version, before the programs of this version start."""

from typing import TYPE_CHECKING, Annotated

import typer

from gateway.cli.config import config_file, settings_or_exit
from gateway.cli.options import Config, Json
from gateway.cli.output import console, fail, show_json
from gateway.core.errors import SentinelError

if TYPE_CHECKING:
    from gateway.core.settings import Settings


_Finish = Annotated[
    bool,
    typer.Option(
        "--finish",
        help="No program of an earlier version uses the ledger any more: from their next start on, gateways store what earlier ones cannot read.",
    ),
]


def migrate(*, finish: _Finish = False, config: Config = None, as_json: Json = False) -> None:
    """Bring the ledger's schema to the one of this version. The gateway does the same when it starts: this is for a step of its own in a deployment.

    It waits for transactions that run, and migrates all or nothing. A ledger of a newer version is left as it is, with exit code 1.

    With --finish, records and attempts take less room from the next start of each gateway on, and indexes that only earlier versions use are removed. A ledger that this version made needs no such step. It is
    refused, with exit code 1, while a gateway of an earlier version lives.
    """
    from gateway.core.settings import without_password

    settings = settings_or_exit(config_file(config), as_json=as_json)
    try:
        before, after = _migrate(settings)
        finished = _finish(settings) if finish else None
    except SentinelError as error:
        fail(error, as_json=as_json)
    if as_json:
        show_json({"before": before or None, "after": after, **({"finished": finished} if finish else {})})
        return
    where = without_password(settings.ledger_url)
    if before == after:
        console.print(f"The ledger {where} has the schema of this version already ({after}).", markup=False)
    else:
        console.print(f"The ledger {where} was migrated from {before or 'nothing'} to {after}.", markup=False)
    if finish:
        now = (
            "Each gateway stores records in the short form from its next start on."
            if finished
            else "Gateways store records in the short form already."
        )
        console.print(now, markup=False)


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


def _finish(settings: "Settings") -> bool:
    """Let gateways store what this version reads; False if they may already. Raises `errors.LedgerUnavailable`."""
    from gateway.core.times import SystemClock
    from gateway.ledger.store.database import open_store, unavailable
    from gateway.ledger.store.generations import allow_all
    from gateway.ledger.store.statements import Session

    store = open_store(settings.ledger_url)
    try:
        with store.connect(writes=True) as connection, unavailable():
            store.lock(connection)
            changed = allow_all(Session(connection), SystemClock().now())
            connection.commit()
    finally:
        store.close()
    return changed
