"""`sentinel archive`: retention. Old records leave the ledger's database as signed files."""

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from gateway.cli.config import config_file, require_ledger, settings_or_exit
from gateway.cli.options import Config, Json, time_of
from gateway.cli.output import console, fail, log_to_stderr, show_json
from gateway.core.errors import Malformed, SentinelError

if TYPE_CHECKING:
    from gateway.core.settings import Settings
    from gateway.ledger.archive.archiving import Archived

_LEAST: Final = timedelta(days=7)
"""What is younger is still looked at every day, and a signature of it may be spent."""


def archive(
    *,
    directory: Annotated[Path, typer.Argument(help="Where the archive is put, in a directory of its own.")],
    older_than: Annotated[
        str, typer.Option(help="The age from which records are archived (365d), or a time. 7 days at least.")
    ] = "365d",
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Archive old records: they leave the database as signed files, and `sentinel verify` passes with and without these.

    The gateways may run meanwhile. The whole ledger is verified first, and no record is removed before its files were read back. What later decisions
    or the reconciler may need stays in the database too: open claims, holds, approvals, calls in doubt, changes that are not in the code. Run it again
    after a crash: it goes on. Copy the files elsewhere; nothing of Sentinel reads them but `sentinel verify --archive`.
    """
    settings = settings_or_exit(config_file(config), as_json=as_json)
    try:
        done = _archive(settings, directory, older_than)
    except SentinelError as error:
        fail(error, as_json=as_json)
    if as_json:
        show_json(_to_json(done))
        return
    if done.directory is None:
        console.print(
            "No record was archived: none is old enough." if not done.held_back else "No record was archived."
        )
    else:
        console.print(f"Records {done.first} to {done.last} are in {done.directory}.", markup=False)
    if done.removed:
        console.print(
            f"{done.removed} record(s) left the database. {done.stayed} archived record(s) stay in it, because something may need them."
        )
    if done.held_back:
        console.print(done.held_back, markup=False)


def _to_json(done: "Archived") -> dict[str, Any]:
    return {
        "directory": str(done.directory) if done.directory is not None else None,
        "first": done.first or None,
        "last": done.last or None,
        "removed": done.removed,
        "stayed": done.stayed,
        "held_back": done.held_back or None,
    }


def _archive(settings: "Settings", directory: Path, older_than: str) -> "Archived":
    log_to_stderr()
    from gateway.core.times import SystemClock
    from gateway.ledger.archive.archiving import archive_records
    from gateway.ledger.chain.checkpoint import CheckpointFile
    from gateway.ledger.ledger_keys import checkpoint_path, ledger_keys, master_key_of
    from gateway.ledger.store.database import open_store

    require_ledger(settings)
    now, before = SystemClock().now(), time_of(older_than)
    if before is None or before > now - _LEAST:
        raise Malformed(
            "Records younger than 7 days are not archived. Nothing was changed. Say --older-than 7d or more."
        )
    keys = ledger_keys(master_key_of(settings, create=False))
    file = CheckpointFile(checkpoint_path(settings), keys.signing)
    store = open_store(settings.ledger_url)
    try:
        return archive_records(store, keys, file, to=directory, before=before, now=now)
    finally:
        store.close()
