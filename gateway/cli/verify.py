"""`sentinel verify` checks the ledger."""

from typing import TYPE_CHECKING, Any

from gateway.cli.config import config_file, require_ledger, settings_or_exit
from gateway.cli.options import Config, Json
from gateway.cli.output import console, run, show_json
from gateway.core.settings import Settings

if TYPE_CHECKING:
    from gateway.ledger.chain.verification import Verification


def verify(*, config: Config = None, as_json: Json = False) -> None:
    """Verify the ledger: the keyed chain of records, the last signed checkpoint, and the tables that follow from the records.

    Exit code 1 if anything was changed past Sentinel, with a sentence about the first record or row that does not fit.
    """
    settings = settings_or_exit(config_file(config), as_json=as_json)
    done = run(_verify(settings), as_json=as_json)
    if as_json:
        show_json(_verification_to_json(done))
        return
    console.print(f"The ledger is intact: {done.records} record(s) verified.")
    for line in _details(done):
        console.print(line)


def _details(done: "Verification") -> list[str]:
    """What was checked beside the chain, a sentence each."""
    rows = ", ".join(f"{count} of {name}" for name, count in done.rows.items())
    lines = [f"Every row follows from the records: {rows}."]
    if done.checkpoint is None:
        lines.append("There is no checkpoint, so records that were removed from the end would not show.")
    else:
        lines.append(f"The ledger agrees with the checkpoint that was signed over {done.checkpoint.size} record(s).")
    return lines


def _verification_to_json(done: "Verification") -> dict[str, Any]:
    return {
        "verified": done.records,
        "checkpoint": done.checkpoint.size if done.checkpoint is not None else None,
        "rows": dict(done.rows),
    }


async def _verify(settings: Settings) -> "Verification":
    from gateway.ledger.chain.checkpoint import CheckpointFile
    from gateway.ledger.chain.verification import verify_ledger
    from gateway.ledger.sealed_ledger import checkpoint_path, ledger_keys, master_key_of
    from gateway.ledger.store.database import open_store

    require_ledger(settings)
    keys = ledger_keys(master_key_of(settings, create=False))
    # Not through `open_ledger`: that refuses a broken ledger with less to say about it.
    store = open_store(settings.ledger_url)
    try:
        return verify_ledger(store, keys.chain, CheckpointFile(checkpoint_path(settings), keys.signing))
    finally:
        store.close()
