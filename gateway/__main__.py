"""The `sentinel` command."""

import typer

from gateway.cli.commands import Commands

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Sentinel: a gateway for every change to cloud infrastructure.",
)


@app.callback()
def sentinel() -> None:
    """Sentinel: a gateway for every change to cloud infrastructure."""


def main() -> None:
    """Run the command line. Results go to standard output, log lines to standard error."""
    app()


if __name__ == "__main__":
    main()
