"""Settings as commands need them: read once, every mistake shown, exit code 1."""

from pathlib import Path

import typer
from rich.markup import escape

from gateway.cli.output import complaints
from gateway.errors import SettingsInvalid
from gateway.settings import Settings, read_settings


def settings_or_exit(config: Path | None) -> Settings:
    """The settings; mistakes are printed, all of them, and end the command."""
    try:
        return read_settings(config)
    except SettingsInvalid as error:
        complaints.print(f"[red]{escape(str(error))}[/red]")
        raise typer.Exit(1) from error
