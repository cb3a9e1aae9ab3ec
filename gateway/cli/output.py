"""Output of commands: tables for people, `--json` for programs, errors as one sentence with exit code 1."""

import contextlib
import json
import os
import sys
from collections.abc import Coroutine, Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final, NoReturn, TextIO, TypeAlias, TypeVar

import typer

from gateway.cli.plain_text import escaped, table_text, without_markup
from gateway.core.errors import SentinelError
from gateway.core.exception_text import lossy, without_values
from gateway.core.texts import visible
from gateway.core.waiting import waiting

if TYPE_CHECKING:
    from rich.console import Console

_LISTED = 3
"""The most changes of one mutation that a list shows."""
_LONGEST = 120
"""The most characters of a text that a list shows. The commands for one mutation show all."""


def change(effect: Mapping[str, Any]) -> str:
    """One effect with the value before and after it; only the action if that says all."""
    if effect["attribute"] == "*":
        return f"{effect['action']} {effect['address']}"
    if effect["action"] != "set":
        return f"{effect['address']}.{effect['attribute']}: {effect['action']}"
    if effect.get("sensitive"):
        return f"{effect['address']}.{effect['attribute']}: a secret"
    return f"{effect['address']}.{effect['attribute']}: {json.dumps(effect['before'])} → {json.dumps(effect['value'])}"


def few_changes(effects: Sequence[Mapping[str, Any]]) -> str:
    """The first effects, each shortened, and the number of the others."""
    more = len(effects) - _LISTED
    return ", ".join(shortened(change(effect)) for effect in effects[:_LISTED]) + (
        f" and {more} more" if more > 0 else ""
    )


def shortened(text: str) -> str:
    """The beginning of a long text."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


_PIPED_WIDTH = 1000
"""Width of tables that go to a file or another program: wide enough for one line a row, so that `grep` finds whole rows."""
_ALWAYS_STYLED: Final = ("FORCE_COLOR", "TTY_COMPATIBLE")
"""Variables by which Rich styles text wherever it goes."""


class LazyConsole:
    """A console of Rich that is made when something is styled or drawn. Rich takes 60 ms: text for a file or another program does without."""

    def __init__(self, *, stderr: bool = False) -> None:
        self._stderr = stderr
        self._console: Console | None = None

    @property
    def stream(self) -> TextIO:
        """Where it prints."""
        return sys.stderr if self._stderr else sys.stdout

    @property
    def is_plain(self) -> bool:
        """Whether it prints to a file or another program, and nobody asked for styles."""
        return not self.stream.isatty() and not any(map(os.environ.get, _ALWAYS_STYLED))

    @property
    def width(self) -> int:
        """The characters of a line."""
        return _PIPED_WIDTH if self.is_plain else self._made().width

    @property
    def is_terminal(self) -> bool:
        """Whether somebody watches."""
        return not self.is_plain and self._made().is_terminal

    def print(self, *parts: Any, markup: bool = True, end: str = "\n", **options: Any) -> None:
        """Print as Rich's console does."""
        if self.is_plain and not options and all(isinstance(part, str) for part in parts):
            self.write(" ".join(map(without_markup, parts) if markup else parts), end)
        else:
            self._made().print(*parts, markup=markup, end=end, **options)

    def write(self, text: str, end: str = "\n") -> None:
        """Write the text as it is. It is there at once, and a reader that has left is noticed."""
        stream = self.stream
        stream.write(f"{text}{end}")
        stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._made(), name)

    def _made(self) -> "Console":
        if self._console is None:
            from rich.console import Console

            width = None if self._stderr or self.stream.isatty() else _PIPED_WIDTH
            # Without emoji: a part of an ARN may be the name of one between two colons.
            self._console = Console(highlight=False, soft_wrap=True, emoji=False, stderr=self._stderr, width=width)
        return self._console


AnyConsole: TypeAlias = "Console | LazyConsole"

console = LazyConsole()
error_console = LazyConsole(stderr=True)


def show_line(*parts: str | tuple[str, str], on: "AnyConsole | None" = None) -> None:
    """Print untrusted text that was made visible; a part with a style is a pair of both."""
    screen = on or console
    if isinstance(screen, LazyConsole) and screen.is_plain:
        screen.write("".join(part if isinstance(part, str) else part[0] for part in parts))
        return
    from rich.text import Text

    screen.print(Text.assemble(*parts))


T = TypeVar("T")


class OsCallFailed(SentinelError):
    """An operating system call that a command needs has failed."""

    code = "machine_refused"

    def __init__(self, error: OSError) -> None:
        super().__init__(f"The operating system refused: {error}.")


def run(work: Coroutine[Any, Any, T], *, as_json: bool = False, speaks: bool = False) -> T:
    """Run a command's coroutine. A `SentinelError` or `OSError` ends the command as `fail` does.

    Unless it `speaks` itself, standard error says that it still works. With `as_json`, whatever it prints, log lines too, goes there.
    """
    import asyncio

    try:
        with (
            contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext(),
            contextlib.nullcontext() if speaks else waiting("Waiting for Sentinel"),
        ):
            return asyncio.run(work)
    except SentinelError as error:
        fail(error, as_json=as_json)
    except BrokenPipeError:
        raise  # the reader of our output has exited, e.g. `head`; Typer ends without a message
    except OSError as error:
        fail(OsCallFailed(error), as_json=as_json)


def answer(question: Coroutine[Any, Any, dict[str, Any]], *, as_json: bool) -> dict[str, Any]:
    """The result of a command's one question, for the command to show; with `--json` it is printed here and the command ends."""
    reply = run(question, as_json=as_json)
    if as_json:
        show_json(reply)
        raise typer.Exit
    return reply


def fail(error: SentinelError, *, as_json: bool) -> NoReturn:
    """End the command with exit code 1: one sentence on standard error, or one JSON document on standard output."""
    if as_json:
        show_json(_error_to_json(error))
    else:
        show_line((visible(str(error)), "red"), on=error_console)
    raise typer.Exit(1) from error


def _error_to_json(error: SentinelError) -> Mapping[str, Any]:
    """The API's problem document if there is one, else code and detail."""
    from gateway.cli.client import ApiRefused

    if isinstance(error, ApiRefused) and isinstance(error.document.get("code"), str):
        return error.document
    return {"code": error.code, "detail": str(error)}


def safe(text: str) -> str:
    """Untrusted text, escaped for use inside Rich markup: neither its markup nor its control characters take effect."""
    return escaped(visible(text))


def log_to_stderr() -> None:
    """Send log lines to standard error, since standard output is for results. For commands that open what logs, before they import it."""
    from gateway.cli.unused_packages import DRAWING, without

    with without(DRAWING):
        import structlog

    *before, renderer = (each for each in structlog.get_config()["processors"] if each is not without_values)
    structlog.configure(
        processors=[*before, without_values, renderer],
        logger_factory=structlog.PrintLoggerFactory(lossy(sys.stderr)),
    )


def show_json(document: object) -> None:
    """Print one JSON document, indented."""
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False, default=str) + "\n")


_COPIED = frozenset({"id", "mutation"})
"""Columns whose cells people copy into the next command, so each stays on one line."""


_NARROWEST = 12
"""Characters of a column in which texts are folded and can still be read."""


def show_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table, or `No <title>.` if it has no rows. Markup in cells is not interpreted.

    Where the terminal is too narrow for columns that can be read, each row is a block of lines.
    """
    if not rows:
        console.print(f"No {title.lower()}.")
        return
    if not fits(columns, rows, console.width):
        show_line((title, "italic"))
        for row in rows:
            console.print()
            show_pairs({column: cell for column, cell in zip(columns, row, strict=True) if cell})
        return
    screen: AnyConsole = console
    if isinstance(screen, LazyConsole) and screen.is_plain:
        lines = table_text(title, columns, [[visible(cell) for cell in row] for row in rows])
        if max(map(len, lines)) <= _PIPED_WIDTH:
            screen.write("\n".join(lines))
            return
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold", no_wrap=column in _COPIED)
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    console.print(table)


def fits(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> bool:
    """Whether each column has room for its words: as much as its longest cell needs, or a dozen characters to fold it in."""
    needed = 0
    for place, column in enumerate(columns):
        longest = max(len(column), *(len(line) for row in rows for line in row[place].split("\n")))
        needed += 2 + (longest if column in _COPIED else min(longest, max(_NARROWEST, len(column))))
    return needed - 2 <= width


def show_pairs(pairs: Mapping[str, str], on: "AnyConsole | None" = None) -> None:
    """Print one name and value per line, names aligned. Empty values are left out; long ones go on below their beginning."""
    screen = on or console
    width = max((len(name) for name in pairs), default=0)
    for name, value in pairs.items():
        if value:
            first, *others = folded(visible(value), screen.width - width - 2)
            show_line((name.ljust(width), "bold"), "  ", first, on=screen)
            for line in others:
                show_line(f"{'':{width}}  {line}", on=screen)


def show_text(text: str) -> None:
    """Print untrusted text; a line that is longer than the terminal goes on below its beginning, indented a little more."""
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip(" "))
        first, *others = folded(visible(line.strip()), console.width - indent - 2)
        show_line(" " * indent + first)
        for other in others:
            show_line(" " * (indent + 2) + other)


def folded(text: str, width: int) -> list[str]:
    """The text in lines of this many characters, cut at blanks: a longer word stays whole, since people copy ids and addresses."""
    room = max(width, _NARROWEST)
    lines = (wrap(line, room, break_long_words=False, break_on_hyphens=False) or [""] for line in text.split("\n"))
    return [part for line in lines for part in line]


def show_archived(reply: Mapping[str, Any]) -> None:
    """Say where older records are, if any are archived."""
    if "archived" in reply:
        error_console.print(safe(reply["archived"]["note"]))
