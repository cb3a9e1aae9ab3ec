"""`sentinel verify` checks the ledger; `sentinel config` shows the settings in force."""

import json
from typing import TYPE_CHECKING, Any

from gateway.cli.options import Config, Json
from gateway.cli.output import console, run, safe, show_json, show_table
from gateway.cli.settings import config_file, environment_variable, flatten, origins, require_ledger, settings_or_exit
from gateway.core.settings import CONFIG_FILE, Settings, without_password
from gateway.core.settings.signals import evidence_rule

if TYPE_CHECKING:
    from gateway.ledger.chain.verification import Verification


def verify(*, config: Config = None, as_json: Json = False) -> None:
    """Verify the ledger: the keyed chain of records, the last signed checkpoint, and the tables that follow from the records.

    Exit code 1 if anything was changed bypassing Sentinel, with a sentence about the first record or row that does not fit.
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
    """The checks beside the chain, a sentence each."""
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


def config(*, config: Config = None, as_json: Json = False) -> None:
    """Show every setting in force and its origin: environment, file or default. Secrets are masked."""
    file = config_file(config)
    settings = settings_or_exit(file, as_json=as_json)
    values = {name: _masked(value) for name, value in flatten(settings.model_dump(mode="json")).items()}
    origin_of = origins(settings, file)
    if as_json:
        settings_to_json = {
            name: {"value": value, "from": origin_of[name], "variable": environment_variable(name)}
            for name, value in values.items()
        }
        rule = evidence_rule(settings.signals)
        show_json({"file": str(file) if file else None, "settings": settings_to_json, "evidence": rule})
        return
    console.print(
        f"Settings file: {safe(str(file)) if file else f'none (there is no {CONFIG_FILE} in this directory)'}"
    )
    rows = [[name, _cell(value), origin_of[name].value, environment_variable(name)] for name, value in values.items()]
    show_table("Settings", ["setting", "value", "from", "environment variable"], rows)
    console.print(safe(evidence_rule(settings.signals)))


def _masked(value: Any) -> Any:
    """The value, with a password in a URL masked."""
    return without_password(value) if isinstance(value, str) else value


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
