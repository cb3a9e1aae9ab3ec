"""How commands speak: tables for people, `--json` for programs, errors as sentences with exit code 1."""

import asyncio
import json
import sys
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, TypeVar

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gateway.cli.client import ApiRefused
from gateway.errors import SentinelError

console = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 200)
complaints = Console(stderr=True, highlight=False, soft_wrap=True)

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T], *, as_json: bool = False) -> T:
    """Run a command's work; a `SentinelError` ends the command with its sentence on stderr and exit code 1."""
    try:
        return asyncio.run(work)
    except SentinelError as error:
        if as_json:
            document = (
                error.document
                if isinstance(error, ApiRefused) and error.document
                else {"code": error.code, "detail": str(error)}
            )
            show_json(document)
        else:
            complaints.print(f"[red]{escape(str(error))}[/red]")
        raise typer.Exit(1) from error


def show_json(document: object) -> None:
    """Print one JSON document, indented."""
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False, default=str) + "\n")


def show_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table, or say that there is nothing to show. Values are data: no markup in them is obeyed."""
    if not rows:
        console.print(f"No {title.lower()}.")
        return
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    console.print(table)


def show_pairs(pairs: Mapping[str, str]) -> None:
    """Print name and value, one pair a line, names aligned; empty values are left out."""
    width = max((len(name) for name in pairs), default=0)
    for name, value in pairs.items():
        if value:
            console.print(f"[bold]{name:<{width}}[/bold]  {escape(value)}")
