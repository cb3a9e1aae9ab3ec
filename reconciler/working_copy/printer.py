"""Prints the report of one run of `sentinel reconcile` as text. Only this module needs rich: with `--json` it is never imported."""

from collections.abc import Sequence

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from reconciler.model import Drift
from reconciler.publish.commit_message import value_text
from reconciler.working_copy.report import Report


def print_error(sentence: str) -> None:
    """Print why nothing was done, on standard error."""
    Console(stderr=True).print(f"[red]{escape(sentence)}[/red]", soft_wrap=True)


def print_report(report: Report, *, written: bool) -> None:
    """Print what drifted, the diff, and what is left."""
    console = Console()
    for sentence in report.bad_events:
        Console(stderr=True).print(f"[yellow]{escape(sentence)}[/yellow]", soft_wrap=True)
    if not report.drifts and report.clean:
        console.print("Nothing drifted: the plan is clean." if report.planned else "Nothing of it drifted.")
    if report.drifts:
        console.print(_table(report.drifts))
    if report.diff and not written:
        _print_diff(console, report.diff)
    if report.drifts and report.clean:
        console.print(_concluded(report, written=written))
    if report.pending:
        console.print(f"[yellow]The plan exits with 2:[/yellow] {escape(report.pending)}", soft_wrap=True)
    _print_left(console, report)


def _print_left(console: Console, report: Report) -> None:
    for each in report.created:
        kind = each.resource_type or "something"
        console.print(
            f"[yellow]Left to you:[/yellow] {escape(kind)} {escape(each.identity)}, created by {escape(each.origin.actor)}"
            f" ({escape(each.origin.event)}, {each.origin.at:%Y-%m-%d %H:%M}): {escape(each.why)}",
            soft_wrap=True,
        )
    for sentence in report.noted:
        console.print(f"Noted: {escape(sentence)}", soft_wrap=True)
    for entry in report.left:
        console.print(
            f"[yellow]Left to you:[/yellow] {escape(entry.wanted.address)}.{escape(entry.wanted.attribute)}: {escape(entry.reason)}",
            soft_wrap=True,
        )
        for step in entry.chain:
            console.print(f"    {escape(step)}", soft_wrap=True)
        if entry.diff:
            _print_diff(console, entry.diff)


def _concluded(report: Report, *, written: bool) -> str:
    if not report.planned:
        return f"{'Written' if written else 'Not written yet'}, and not proved by a plan: `sentinel reconcile` without --no-plan does that."
    return "Written; the plan is clean." if written else "With this diff the plan is clean."


def _print_diff(console: Console, diff: str) -> None:
    """In colour on a terminal, else unchanged, so that it can be piped to `patch`."""
    from rich.syntax import Syntax  # noqa: PLC0415  only a terminal needs it, and it takes long to import

    if console.is_terminal:
        console.print(Syntax(diff, "diff", background_color="default"))
    else:
        typer.echo(diff, nl=False)


def _table(drifts: Sequence[Drift]) -> Table:
    table = Table("Attribute", "Code", "Live", "Made by")
    for drift in drifts:
        made_by = (
            f"{drift.origin.actor}, {drift.origin.event}, {drift.origin.at:%Y-%m-%d %H:%M}"
            if drift.origin
            else "unknown"
        )
        resource = f"{drift.wanted.address}.{drift.wanted.attribute}"
        table.add_row(
            *(escape(cell) for cell in (resource, value_text(drift.before), value_text(drift.wanted.value), made_by))
        )
    return table
