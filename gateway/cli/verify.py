"""`sentinel verify` checks the ledger's hash chain; `sentinel config` shows the settings in force."""

import json
import re
from typing import Any

from gateway.cli.options import Config, Json
from gateway.cli.output import console, run, safe, show_json, show_table
from gateway.cli.settings import config_file, environment_variable, flatten, origins, require_ledger, settings_or_exit
from gateway.settings import CONFIG_FILE, Settings

_PASSWORD = re.compile(r"(://[^/:@]*:)[^/]*@|([?&]password=)[^&]*")


def verify(*, config: Config = None, as_json: Json = False) -> None:
    """Verify the hash chain over every record of the ledger. Exit code 1 if it is broken, with the first record that does not fit."""
    count = run(_verify(settings_or_exit(config_file(config), as_json=as_json)), as_json=as_json)
    if as_json:
        show_json({"verified": count})
    else:
        console.print(f"The chain is intact: {count} record(s) verified.")


async def _verify(settings: Settings) -> int:
    from gateway.ledger.ledger import open_ledger

    require_ledger(settings)
    async with open_ledger(settings.ledger_url) as ledger:
        return await ledger.verify()


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
        show_json({"file": str(file) if file else None, "settings": settings_to_json})
        return
    console.print(
        f"Settings file: {safe(str(file)) if file else f'none (there is no {CONFIG_FILE} in this directory)'}"
    )
    rows = [[name, _cell(value), origin_of[name].value, environment_variable(name)] for name, value in values.items()]
    show_table("Settings", ["setting", "value", "from", "environment variable"], rows)


def _masked(value: Any) -> Any:
    """The value, with a password in a URL masked."""
    return _PASSWORD.sub(_mask, value) if isinstance(value, str) else value


def _mask(match: re.Match[str]) -> str:
    return f"{match[1]}***@" if match[1] else f"{match[2]}***"


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
