"""The reconciler's commands: `sentinel reconcile` on any working copy, and `python -m reconciler serve` beside a gateway."""

import asyncio
import contextlib
import json
import signal
import sys
import threading
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.core.errors import SentinelError
from gateway.core.exception_text import lossy, without_values
from gateway.core.model.adopt import Adopt
from gateway.core.waiting import waiting

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from reconciler.changes.cloudtrail import Events
    from reconciler.model import Drift
    from reconciler.working_copy.report import Report

LEFT = 2
"""Exit code if something is left to a human."""

commands = typer.Typer(add_completion=False, help="Write what is live back into Terraform code.")
"""The commands that `sentinel` adds, by the entry point `sentinel.commands`."""

app = typer.Typer(add_completion=False, help="Sentinel's reconciler.", no_args_is_help=True)
"""The commands of `python -m reconciler`: the same and `serve`, a name that `sentinel` uses for the gateway."""


RefreshState = Annotated[
    bool,
    typer.Option(
        "--refresh-state/--no-refresh-state",
        help="With --write, bring the state up to date (terraform apply of a plan that changes nothing else), or leave it.",
    ),
]
Frozen = Annotated[
    list[str] | None,
    typer.Option(help="Directory with somebody else's modules, never edited, beside `vendor` and the like; with `*`."),
]


State = Annotated[
    Path | None, typer.Option(help="State file; default: terraform.tfstate in PATH.", exists=True, dir_okay=False)
]
Mirror = Annotated[Path | None, typer.Option(help="Terraform provider mirror.", exists=True, file_okay=False)]
Only = Annotated[
    list[str] | None, typer.Option(help="With --no-plan: address of a resource or module to read and write back.")
]
Plan = Annotated[
    bool,
    typer.Option(
        "--plan/--no-plan",
        help="Prove with a plan, or only by the text: the resources named with --only are read from their provider, in about a second.",
    ),
]
Suggest = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="TOKENS",
        help="Where no edit can be made, ask a language model (ANTHROPIC_API_KEY), for at most so many tokens a day. Its edit is proved as any.",
    ),
]


AdoptOption = Annotated[
    Adopt,
    typer.Option(
        help="What the events say was created: write all that can be imported, what belongs to a resource of the stack (default), or nothing."
        " The rest is listed.",
    ),
]


@app.command()
@commands.command()
def reconcile(
    *,
    path: Annotated[
        Path,
        typer.Argument(help="Root module of the stack: a working copy with a state.", exists=True, file_okay=False),
    ],
    events: Annotated[
        Path | None,
        typer.Option(
            help="CloudTrail events (JSON): who made a change, and what was created.", exists=True, dir_okay=False
        ),
    ] = None,
    endpoint: Annotated[str, typer.Option(help="AWS endpoint to read from, e.g. the gateway or a simulation.")] = "",
    write_files: Annotated[
        bool, typer.Option("--write/--diff", help="Edit the files in place, or print the diff (default).")
    ] = False,
    refresh_state: RefreshState = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    state: State = None,
    terraform: Annotated[str, typer.Option(help="Terraform to run.")] = "terraform",
    mirror: Mirror = None,
    frozen: Frozen = None,
    only: Only = None,
    plan: Plan = True,
    suggest: Suggest = 0,
    adopt: AdoptOption = Adopt.LINKED,
) -> None:
    """Write drift back into the code: refresh, find what differs, edit, prove with a plan.

    Exit code, as that of `terraform plan -detailed-exitcode` once the diff is written: 0: clean, outputs included. 2: something is
    left to a human, listed with how it was traced or who created it, or the state was left as it is. 1: an error.
    """
    from reconciler.working_copy.run import WorkingCopyRun, reconcile_working_copy

    if not as_json:
        _import_what_prints()
    try:
        found = _events_in(events)
        run = WorkingCopyRun(
            path=path,
            events=found.events,
            endpoint=endpoint,
            state=state,
            executable=terraform,
            mirror=mirror,
            frozen=tuple(frozen or ()),
            written=write_files,
            refreshed=refresh_state,
            only=tuple(only or ()),
            planned=plan,
            tokens=suggest,
            adopt=adopt,
        )
        report = replace(_run(reconcile_working_copy(run)), bad_events=found.bad)
    except SentinelError as error:
        _fail(error, as_json=as_json)
        raise typer.Exit(1) from error
    _print_report(report, written=write_files, as_json=as_json)
    raise typer.Exit(0 if report.clean else LEFT)


@app.command(hidden=True)
def serve(
    config: Annotated[
        Path | None, typer.Option(help="Settings file; default: sentinel.toml here.", exists=True, dir_okay=False)
    ] = None,
) -> None:
    """Write mutations back as the ledger records them, until ended by a signal."""
    _log_to_stderr()
    try:
        asyncio.run(_serve(config))
    except SentinelError as error:
        _fail(error, as_json=False)
        raise typer.Exit(1) from error


@app.command(hidden=True)
def observe(
    stack: Annotated[str, typer.Argument(help="Name of the stack in the settings.")],
    addresses: Annotated[list[str], typer.Argument(help="Addresses of resources to read.")],
    config: Annotated[
        Path | None, typer.Option(help="Settings file; default: sentinel.toml here.", exists=True, dir_okay=False)
    ] = None,
) -> None:
    """Print resources as the state has them and as they are now, as JSON, for `sentinel effects learn`. Secrets are left out."""
    from gateway.core.settings import read_settings_of_server
    from reconciler.app import observe_stack

    _log_to_stderr()
    try:
        found = asyncio.run(observe_stack(read_settings_of_server(config), stack, addresses))
    except SentinelError as error:
        _fail(error, as_json=True)
        raise typer.Exit(1) from error
    typer.echo(json.dumps({"resources": found}, ensure_ascii=False))


def _run(work: "Coroutine[Any, Any, Report]") -> "Report":
    """Run it, and say on standard error that it still works. What it prints, log lines too, goes there: standard output is for the result."""
    with contextlib.redirect_stdout(sys.stderr), waiting("Reading what is live, and proving the edit"):
        return asyncio.run(work)


async def _serve(config: Path | None) -> None:
    # DBOS and the ledger take a second to import, which `sentinel --help` need not wait for.
    from gateway.core.settings import read_settings_of_server
    from reconciler.app import run_reconciler

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    await run_reconciler(read_settings_of_server(config), stop)


def _log_to_stderr() -> None:
    """Log to standard error, since standard output is for results: as JSON lines, or as readable text on a terminal."""
    import structlog

    renderer: Any = structlog.dev.ConsoleRenderer() if sys.stderr.isatty() else structlog.processors.JSONRenderer()
    shared: list[Any] = [structlog.processors.add_log_level, structlog.processors.TimeStamper(fmt="iso", utc=True)]
    structlog.configure(
        processors=[*shared, without_values, renderer], logger_factory=structlog.PrintLoggerFactory(lossy(sys.stderr))
    )


def _events_in(file: Path | None) -> "Events":
    """The events of a file; none without one. Raises `errors.EventsInvalid`."""
    if file is None:
        from reconciler.changes.cloudtrail import Events

        return Events(events=(), bad=())
    from reconciler.changes.event_file import read_events

    return read_events(file)


def _import_what_prints() -> None:
    """Import it in a thread: it takes long, and is needed only at the end. The provider starts meanwhile."""
    threading.Thread(target=import_module, args=("reconciler.working_copy.printer",), daemon=True).start()


def _fail(error: SentinelError, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"code": error.code, "detail": str(error)}))
    else:
        from reconciler.working_copy.printer import print_error

        print_error(str(error))


def _print_report(report: "Report", *, written: bool, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(_report_to_json(report, written=written), ensure_ascii=False, default=str))
        return
    from reconciler.working_copy.printer import print_report

    print_report(report, written=written)


def _report_to_json(report: "Report", *, written: bool) -> dict[str, Any]:
    from reconciler.adoption.model import left_creation_to_json
    from reconciler.model import left_to_json, proof_to_json

    return {
        "clean": report.clean,
        "pending": report.pending,
        "written": written and bool(report.edited.files),
        "drift": [_drift_to_json(drift) for drift in report.drifts],
        "files": sorted(str(path) for path in report.edited.files),
        "diff": report.diff,
        "proofs": [proof_to_json(proof) for proof in report.proofs],
        "left": [*map(left_to_json, report.left), *map(left_creation_to_json, report.created)],
        "noted": list(report.noted),
        "bad_events": list(report.bad_events),
    }


def _drift_to_json(drift: "Drift") -> dict[str, Any]:
    origin = drift.origin
    return {
        "address": drift.wanted.address,
        "attribute": drift.wanted.attribute,
        "before": drift.before,
        "live": drift.wanted.value,
        "origin": None
        if origin is None
        else {"actor": origin.actor, "event": origin.event, "at": origin.at.isoformat(), "event_id": origin.event_id},
    }


if __name__ == "__main__":
    app()
