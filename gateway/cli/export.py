"""`sentinel export`: the ledger's records in the forms that other tools read, once or continuously."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.config import config_file, require_ledger, settings_or_exit
from gateway.cli.options import Config, Json, time_of
from gateway.cli.output import error_console, fail, log_to_stderr, show_json, show_table
from gateway.core.errors import Malformed, SentinelError
from gateway.core.model.export_format import ExportFormatName

if TYPE_CHECKING:
    from gateway.core.settings import Settings
    from gateway.core.settings.exports import ExportSettings
    from gateway.exports.exporter import OpenedLedger


def export(
    *,
    form: Annotated[
        ExportFormatName | None, typer.Option("--format", help="The form. Parquet needs the extra `export`.")
    ] = None,
    since: Annotated[
        str, typer.Option(help="A time (2026-11-21T09:00:00Z) or an age (1h, 2d). With --to only for its first run.")
    ] = "",
    until: Annotated[str, typer.Option(help="A time or an age, as for --since. Not with --to.")] = "",
    out: Annotated[
        Path | None, typer.Option(help="One file, compressed if its name ends with .gz. Default: standard output.")
    ] = None,
    to: Annotated[
        str,
        typer.Option(
            help="A directory or s3://bucket/prefix that is kept up to date: what it lacks is added, in parts."
        ),
    ] = "",
    follow: Annotated[
        bool, typer.Option("--follow", help="Go on until stopped. Without --to: all `exports` of the settings.")
    ] = False,
    every: Annotated[float, typer.Option(help="With --follow: seconds between two looks for new records.", min=1)] = 60,
    status: Annotated[bool, typer.Option("--status", help="Show how far each export has come, and end.")] = False,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Export the records of the ledger: as OCSF 1.8, CloudTrail's events, JSON lines, CSV or Parquet.

    It reads the ledger itself, not the API, so it needs the settings of the gateway and its master key: it is for operators, no key of an agent
    opens it. Each record is verified before it is written. With --to, or `exports` in the settings, every record is written exactly once,
    also over crashes; run it by a timer, or with --follow as a service.
    """
    settings = settings_or_exit(config_file(config), as_json=as_json)
    try:
        require_ledger(settings)
        sinks = _sinks(settings, form, to, since)
        if until and sinks:
            raise Malformed("--until is for one file. An export that is kept up to date has no end.")
        with _opened(settings) as ledger:
            if status:
                _show_status(ledger, as_json=as_json)
            elif form is not None and not sinks:
                _once(ledger, form, out, since, until)
            else:
                _keep_up(ledger, sinks, follow=follow, every=every, as_json=as_json)
    except SentinelError as error:
        fail(error, as_json=as_json)


def _opened(settings: "Settings") -> "OpenedLedger":
    log_to_stderr()
    from gateway.exports.exporter import OpenedLedger

    return OpenedLedger.open(settings)


def _sinks(settings: "Settings", form: ExportFormatName | None, to: str, since: str) -> "tuple[ExportSettings, ...]":
    """The exports that are kept up to date: the one that is named, else those of the settings, none if one file is asked for."""
    from gateway.core.settings.exports import ExportSettings

    if to and form is None:
        raise Malformed("--to needs --format.")
    if form is None:
        return settings.exports
    # The place itself is checked where it is opened, with a sentence.
    return (ExportSettings.model_construct(format=form, to=to, since=time_of(since)),) if to else ()


def _once(ledger: "OpenedLedger", form: ExportFormatName, out: Path | None, since: str, until: str) -> None:
    from gateway.exports.one_file import export_once, whole_file

    given: dict[str, Any] = {"since": time_of(since), "until": time_of(until)}
    if out is None:
        if sys.stdout.isatty() and form is ExportFormatName.PARQUET:
            raise Malformed("Parquet is not for a terminal. Name a file with --out.")
        export_once(ledger.store, ledger.key, form, sys.stdout.buffer, **given)
        return
    with whole_file(out) as file:
        count = export_once(ledger.store, ledger.key, form, file, **given)
    error_console.print(f"{count} record(s) written to {out}.", markup=False)


def _keep_up(
    ledger: "OpenedLedger", sinks: "tuple[ExportSettings, ...]", *, follow: bool, every: float, as_json: bool
) -> None:
    from gateway.exports.exporter import keep_up

    if not sinks:
        raise Malformed(
            "Name a --format, for one file, and with --to for a place that is kept up to date; or set [[exports]]."
        )
    written = keep_up(ledger, sinks, every=every if follow else None)
    if as_json:
        show_json({"exported": written})
        return
    for sink, count in written.items():
        error_console.print(f"{sink}: {count} record(s) exported.", markup=False)


def _show_status(ledger: "OpenedLedger", *, as_json: bool) -> None:
    from gateway.exports.exporter import progress

    shown = progress(ledger)
    if as_json:
        show_json({"exports": shown})
        return
    columns = ["sink", "last record", "left", "at"]
    show_table("Exports", columns, [[str(value) for value in each.values()] for each in shown])
