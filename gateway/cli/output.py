"""How commands speak: tables for people, `--json` for programs, errors as sentences with exit code 1."""

import asyncio
import json
import sys
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from gateway.cli.client import ApiRefused
from gateway.errors import SentinelError

console = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 200)
complaints = Console(stderr=True, highlight=False, soft_wrap=True)

T = TypeVar("T")


class OsCallFailed(SentinelError):
    """The operating system does not allow what a command needs."""

    code = "machine_refused"

    def __init__(self, error: OSError) -> None:
        super().__init__(f"This machine does not let Sentinel do that: {error}.")


def run(work: Coroutine[Any, Any, T], *, as_json: bool = False) -> T:
    """Run a command's work; what it raises on purpose, and what the machine refuses, ends the command as `fail` does."""
    try:
        return asyncio.run(work)
    except SentinelError as error:
        fail(error, as_json=as_json)
    except BrokenPipeError:
        raise  # whoever read our output has gone, e.g. `head`; Typer ends quietly
    except OSError as error:
        fail(OsCallFailed(error), as_json=as_json)


def fail(error: SentinelError, *, as_json: bool) -> NoReturn:
    """End the command with exit code 1: one sentence on standard error, or one JSON document on standard output."""
    if as_json:
        show_json(_document(error))
    else:
        complaints.print(Text(_plain(str(error)), style="red"))
    raise typer.Exit(1) from error


def _document(error: SentinelError) -> Mapping[str, Any]:
    """The API's own problem document where there is one."""
    if isinstance(error, ApiRefused) and isinstance(error.document.get("code"), str):
        return error.document
    return {"code": error.code, "detail": str(error)}


def safe(text: str) -> str:
    """Text from elsewhere, for use inside markup: no markup in it is obeyed, and nothing in it steers the terminal."""
    return escape(_plain(text))


def _plain(text: str) -> str:
    """Text without control characters; also those that turn the direction of writing show as escapes."""
    return "".join(sign if sign.isprintable() or sign == "\n" else ascii(sign)[1:-1] for sign in text)


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
        table.add_row(*(Text(_plain(cell)) for cell in row))
    console.print(table)


def show_pairs(pairs: Mapping[str, str], on: Console = console) -> None:
    """Print name and value, one pair a line, names aligned; empty values are left out."""
    width = max((len(name) for name in pairs), default=0)
    for name, value in pairs.items():
        if value:
            on.print(Text.assemble((name.ljust(width), "bold"), "  ", _plain(value)))
