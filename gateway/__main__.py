"""The `sentinel` command."""

import typer

from gateway.cli.commands import Commands, show_first

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
    app()


if __name__ == "__main__":
    main()
