"""`sentinel verify` checks the ledger."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from gateway.cli.config import config_file, require_ledger, settings_or_exit
from gateway.cli.options import Config, Json
from gateway.cli.output import console, log_to_stderr, run, show_json

if TYPE_CHECKING:
    from gateway.core.settings import Settings
    from gateway.ledger.archive.files import ArchiveFiles
    from gateway.ledger.chain.verification import Verification
    from gateway.ledger.ledger_keys import LedgerKeys

WITHOUT_END: Final = 3
"""The exit code if nothing proves where the ledger ends."""


def verify(
    *,
    archive: Annotated[
        list[Path] | None,
        typer.Option(
            help="A directory of `sentinel archive`: its files are verified too. With those of every archive, all tables are derived from the first record on."
        ),
    ] = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Verify the ledger: the keyed chain of records, the last signed checkpoint, and the tables that follow from the records.

    Exit code 1 if anything was changed bypassing Sentinel, with a sentence about the first record or row that does not fit. Exit code 3 if
    what is there is intact and there is no checkpoint, so that nobody can tell what was there: a ledger that was emptied looks like a new one.
    """
    settings = settings_or_exit(config_file(config), as_json=as_json)
    done = run(_verify(settings, archive or []), as_json=as_json)
    if as_json:
        show_json(_verification_to_json(done))
    else:
        what = "The ledger is intact" if done.checkpoint is not None else "What is in the ledger is intact"
        console.print(f"{what}: {done.records - (0 if done.from_files else done.archived)} record(s) verified.")
        for line in _details(done):
            console.print(line)
    if done.checkpoint is None:
        raise typer.Exit(WITHOUT_END)


def _details(done: "Verification") -> list[str]:
    """The checks beside the chain, a sentence each."""
    rows = ", ".join(f"{count} of {name}" for name, count in done.rows.items())
    lines = [f"Every row follows from the records: {rows}.", *_archive_details(done)]
    if done.checkpoint is None:
        lines.append(
            "There is no checkpoint, so records that were removed from the end would not show, be it all of them. Restore the file that "
            "`checkpoints` in the settings names; the gateway signs a new one when it next records something."
        )
    else:
        lines.append(f"The ledger agrees with the checkpoint that was signed over {done.checkpoint.size} record(s).")
    return lines


def _archive_details(done: "Verification") -> list[str]:
    lines = [f"The files of {place} are intact." for place in done.files]
    if done.from_files:
        return [
            *lines,
            f"Records 1 to {done.archived} were read from these files, and the {done.stayed} that are in the database too agree.",
        ]
    if done.archived:
        lines.append(
            f"Records 1 to {done.archived} are archived: the database has {done.stayed} of them, each intact, and what follows from the others is as it "
            "was when they left. --archive with the files of every archive verifies those as well."
        )
    return lines


def _verification_to_json(done: "Verification") -> dict[str, Any]:
    return {
        "verified": done.records,
        "checkpoint": done.checkpoint.size if done.checkpoint is not None else None,
        "rows": dict(done.rows),
        "archived": done.archived,
        "archived_in_database": done.stayed,
        "archives": list(done.files),
        "from_archives": done.from_files,
    }


async def _verify(settings: "Settings", archive: Sequence[Path]) -> "Verification":
    log_to_stderr()
    from gateway.ledger.chain.checkpoint import CheckpointFile
    from gateway.ledger.chain.verification import verify_ledger
    from gateway.ledger.ledger_keys import checkpoint_path, ledger_keys, master_key_of
    from gateway.ledger.store.database import open_store

    require_ledger(settings)
    keys = ledger_keys(master_key_of(settings, create=False))
    # Not through `open_ledger`: that refuses a broken ledger with less to say about it.
    store = open_store(settings.ledger_url)
    try:
        files = _files(archive, keys) if archive else None
        return verify_ledger(store, keys.chain, CheckpointFile(checkpoint_path(settings), keys.signing), files)
    finally:
        store.close()


def _files(archive: Sequence[Path], keys: "LedgerKeys") -> "ArchiveFiles":
    from gateway.ledger.archive.files import ArchiveFiles

    return ArchiveFiles(archive, keys.chain, keys.signing.public_key())
