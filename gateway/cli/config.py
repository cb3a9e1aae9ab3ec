"""`sentinel config` shows the settings in force and the origin of each: environment, file or default. Every command reads its settings here."""

import json
import sys
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.client import UP_DIRECTORY
from gateway.cli.options import Config, Json
from gateway.cli.output import console, fail, safe, show_json, show_table
from gateway.core.errors import NotFound, SettingsInvalid

if TYPE_CHECKING:
    from gateway.core.settings import Settings


class SettingOrigin(StrEnum):
    """The origin of a setting's value."""

    ENVIRONMENT = "environment"
    FILE = "file"
    DEFAULT = "default"


def config(
    *,
    config: Config = None,
    reference: Annotated[
        bool, typer.Option("--reference", help="Print the page of all settings there are, in Markdown, and end.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show every setting in force and its origin: environment, file or default. Secrets are masked."""
    if reference:
        from gateway.cli import config_reference

        if as_json:
            show_json([setting for section in config_reference.sections() for setting in map(asdict, section.settings)])
        else:
            sys.stdout.write(config_reference.reference())
        return
    from gateway.core.settings import CONFIG_FILE
    from gateway.core.settings.signals import evidence_rule

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
    rows = [[name, _cell(value), origin_of[name].value] for name, value in values.items()]
    show_table("Settings", ["setting", "value", "from"], rows)
    console.print("The environment variable of `server.port` is `SENTINEL_SERVER__PORT`, and so on; --json names each.")
    console.print(safe(evidence_rule(settings.signals)))


def _masked(value: Any) -> Any:
    """The value, with a password in a URL masked."""
    from gateway.core.settings import without_password

    return without_password(value) if isinstance(value, str) else value


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def config_file(given: Path | None) -> Path | None:
    """The settings file of a command: `given`, else `sentinel.toml` in this directory, else that of a `sentinel up` in this directory, else None."""
    from gateway.core.settings import CONFIG_FILE

    defaults = (Path(CONFIG_FILE), UP_DIRECTORY / CONFIG_FILE)
    return given or next((path for path in defaults if path.is_file()), None)


def settings_or_exit(config: Path | None, *, as_json: bool = False) -> "Settings":
    """The settings. If they are invalid, print every mistake and end the command with exit code 1."""
    from gateway.core.settings import read_settings

    try:
        return read_settings(config)
    except SettingsInvalid as error:
        fail(error, as_json=as_json)


def flatten(document: Any, prefix: str = "") -> dict[str, Any]:
    """A nested document as a map from dotted names to values. A list is one value."""
    if not isinstance(document, dict) or (not document and prefix):
        return {prefix: document}
    return {
        name: value
        for key, item in document.items()
        for name, value in flatten(item, f"{prefix}.{key}" if prefix else str(key)).items()
    }


def origins(settings: "Settings", config: Path | None) -> dict[str, SettingOrigin]:
    """The origin of each setting, by its dotted name, from the same sources as `read_settings` and with the same precedence."""
    from pydantic_settings import EnvSettingsSource, TomlConfigSettingsSource

    from gateway.core.settings import Settings

    environment = set(flatten(EnvSettingsSource(Settings)()))
    file = set(flatten(TomlConfigSettingsSource(Settings, config)())) if config and config.is_file() else set()
    return {name: _origin(name, environment, file) for name in flatten(settings.model_dump(mode="json"))}


def _origin(name: str, environment: set[str], file: set[str]) -> SettingOrigin:
    return (
        SettingOrigin.ENVIRONMENT
        if name in environment
        else SettingOrigin.FILE
        if name in file
        else SettingOrigin.DEFAULT
    )


def environment_variable(name: str) -> str:
    """The environment variable for a setting, e.g. `SENTINEL_SERVER__PORT` for `server.port`."""
    return "SENTINEL_" + name.upper().replace(".", "__")


def require_ledger(settings: "Settings") -> None:
    """For read-only commands: raise `errors.NotFound` rather than let SQLite create an empty database."""
    path = sqlite_file(settings)
    if path is not None and not path.is_file():
        raise NotFound(f"There is no ledger at {path}. Name the settings file of the right one with --config.")


def sqlite_file(settings: "Settings") -> Path | None:
    """The file of an SQLite ledger; None if the ledger is elsewhere."""
    path = settings.ledger_url.removeprefix("sqlite:///")
    return Path(path) if path != settings.ledger_url else None
