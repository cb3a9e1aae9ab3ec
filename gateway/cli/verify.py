"""`sentinel verify` and `sentinel config`: is the ledger's chain whole, and which settings are in force."""

from pathlib import Path
from typing import Annotated, Any

import typer

from gateway.cli.output import console, run, show_json, show_pairs
from gateway.cli.settings import settings_or_exit
from gateway.settings import CONFIG_FILE, Settings

Config = Annotated[Path | None, typer.Option("--config", help="Settings file; default sentinel.toml here.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def verify(*, config: Config = None, as_json: Json = False) -> None:
    """Check the hash chain over every record. Exit code 1 names the first record that does not fit."""
    count = run(_verify(settings_or_exit(config)), as_json=as_json)
    if as_json:
        show_json({"verified": count})
    else:
        console.print(f"The chain is whole: {count} record(s) verified.")


async def _verify(settings: Settings) -> int:
    from gateway.ledger.ledger import open_ledger

    async with open_ledger(settings.ledger_url) as ledger:
        return await ledger.verify()


def config(*, config: Config = None, as_json: Json = False) -> None:
    """Show every setting in force. Secrets are masked."""
    settings = settings_or_exit(config)
    source = str(config or (CONFIG_FILE if Path(CONFIG_FILE).is_file() else "no file"))
    document = settings.model_dump(mode="json")
    if as_json:
        show_json(
            {
                "file": source,
                "settings": document,
                "set": sorted(_names(settings.model_dump(mode="json", exclude_unset=True))),
            }
        )
        return
    given = _names(settings.model_dump(mode="json", exclude_unset=True))
    console.print(f"Settings from {source} and SENTINEL_… variables; the rest are defaults.")
    show_pairs({name: f"{value}{'' if name in given else '  (default)'}" for name, value in _flat(document).items()})


def _flat(document: Any, prefix: str = "") -> dict[str, Any]:
    if not isinstance(document, dict) or not document:
        return {prefix: document}
    return {
        name: value
        for key, item in document.items()
        for name, value in _flat(item, f"{prefix}.{key}" if prefix else key).items()
    }


def _names(document: dict[str, Any]) -> set[str]:
    return set(_flat(document))
