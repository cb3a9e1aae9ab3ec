"""The `sentinel` command."""

import gc
from typing import Final

import typer

from gateway.cli.commands import Commands, show_first

_SELDOM: Final = 50_000
"""New objects between two collections of garbage while a command runs: nearly all that it makes is imported and stays, so that Python's 700 took a
sixth of a command that opens a ledger. A gateway sets its own when it is ready.
"""

app = typer.Typer(
    cls=Commands,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    help="Sentinel: a gateway for every change to cloud infrastructure.",
)


@app.callback()
def sentinel(context: typer.Context) -> None:
    """Sentinel: a gateway for every change to cloud infrastructure."""
    if context.invoked_subcommand is None:
        show_first(context)


def main() -> None:
    """Run the command line. Results go to standard output, log lines to standard error."""
    gc.set_threshold(_SELDOM)
    app()


if __name__ == "__main__":
    main()
