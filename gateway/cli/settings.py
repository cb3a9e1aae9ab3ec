"""Settings as commands need them: read once, every mistake shown, exit code 1; and where each one comes from."""

from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic_settings import EnvSettingsSource, TomlConfigSettingsSource

from gateway.cli.identity import UP_DIRECTORY
from gateway.cli.output import fail
from gateway.errors import NotFound, SettingsInvalid
from gateway.settings import CONFIG_FILE, Settings, read_settings


class SettingOrigin(StrEnum):
    """Where a setting in force comes from."""

    ENVIRONMENT = "environment"
    FILE = "file"
    DEFAULT = "default"


def config_file(asked: Path | None) -> Path | None:
    """The settings file of a command: the one asked for, else `sentinel.toml` here, else that of a `sentinel up` here, else None."""
    usual = (Path(CONFIG_FILE), UP_DIRECTORY / CONFIG_FILE)
    return asked or next((path for path in usual if path.is_file()), None)


def settings_or_exit(config: Path | None, *, as_json: bool = False) -> Settings:
    """The settings; mistakes are shown, all of them, and end the command."""
    try:
        return read_settings(config)
    except SettingsInvalid as error:
        fail(error, as_json=as_json)


def flat(document: Any, prefix: str = "") -> dict[str, Any]:
    """A nested document as dotted names and values; a list is one value."""
    if not isinstance(document, dict) or (not document and prefix):
        return {prefix: document}
    return {
        name: value
        for key, item in document.items()
        for name, value in flat(item, f"{prefix}.{key}" if prefix else str(key)).items()
    }


def origins(settings: Settings, config: Path | None) -> dict[str, SettingOrigin]:
    """Where each setting, by its dotted name, comes from: asked of the same sources that `read_settings` reads, in their order."""
    environment = set(flat(EnvSettingsSource(Settings)()))
    file = set(flat(TomlConfigSettingsSource(Settings, config)())) if config and config.is_file() else set()
    return {name: _origin(name, environment, file) for name in flat(settings.model_dump(mode="json"))}


def _origin(name: str, environment: set[str], file: set[str]) -> SettingOrigin:
    return (
        SettingOrigin.ENVIRONMENT
        if name in environment
        else SettingOrigin.FILE
        if name in file
        else SettingOrigin.DEFAULT
    )


def variable(name: str) -> str:
    """The environment variable that sets it, e.g. `SENTINEL_SERVER__PORT` for `server.port`."""
    return "SENTINEL_" + name.upper().replace(".", "__")


def must_have_ledger(settings: Settings) -> None:
    """For commands that only look: an SQLite file that is not there would be made, empty. Raises `errors.NotFound`."""
    path = settings.ledger_url.removeprefix("sqlite:///")
    if path != settings.ledger_url and not Path(path).is_file():
        raise NotFound(f"There is no ledger at {path}. Name the settings file of the one you mean with --config.")
