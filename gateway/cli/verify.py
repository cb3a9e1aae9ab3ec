"""`sentinel verify` and `sentinel config`: is the ledger's chain whole, and which settings are in force."""

import json
import re
from pathlib import Path
from typing import Annotated, Any

import typer

from gateway.cli.output import console, run, safe, show_json, show_table
from gateway.cli.settings import config_file, flat, must_have_ledger, origins, settings_or_exit, variable
from gateway.settings import CONFIG_FILE, Settings

Config = Annotated[
    Path | None,
    typer.Option("--config", help="Settings file; default: sentinel.toml here, else that of the `sentinel up` here."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, errors too.")]

_PASSWORD = re.compile(r"(://[^/:@]*:)[^/]*@|([?&]password=)[^&]*")


def verify(*, config: Config = None, as_json: Json = False) -> None:
    """Check the hash chain over every record of the ledger. Exit code 1 names the first record that does not fit."""
    count = run(_verify(settings_or_exit(config_file(config), as_json=as_json)), as_json=as_json)
    if as_json:
        show_json({"verified": count})
    else:
        console.print(f"The chain is whole: {count} record(s) verified.")


async def _verify(settings: Settings) -> int:
    from gateway.ledger.ledger import open_ledger

    must_have_ledger(settings)
    async with open_ledger(settings.ledger_url) as ledger:
        return await ledger.verify()


def config(*, config: Config = None, as_json: Json = False) -> None:
    """Show every setting in force, and from where: environment, file or default. Secrets are masked."""
    file = config_file(config)
    settings = settings_or_exit(file, as_json=as_json)
    values = {name: _shown(value) for name, value in flat(settings.model_dump(mode="json")).items()}
    where = origins(settings, file)
    if as_json:
        told = {
            name: {"value": value, "from": where[name], "variable": variable(name)} for name, value in values.items()
        }
        show_json({"file": str(file) if file else None, "settings": told})
        return
    console.print(f"Settings file: {safe(str(file)) if file else f'none ({CONFIG_FILE} is not here)'}")
    rows = [[name, _cell(value), where[name].value, variable(name)] for name, value in values.items()]
    show_table("Settings", ["setting", "value", "from", "environment variable"], rows)


def _shown(value: Any) -> Any:
    """The value, a password in a URL masked."""
    return _PASSWORD.sub(_mask, value) if isinstance(value, str) else value


def _mask(found: re.Match[str]) -> str:
    return f"{found[1]}***@" if found[1] else f"{found[2]}***"


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
