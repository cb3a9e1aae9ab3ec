"""The `sentinel` command."""

import sys
from importlib.metadata import entry_points

import structlog
import typer

from gateway.cli.command_group import Commands
from gateway.cli.decide import approve, propose, reject, release
from gateway.cli.holds import holds
from gateway.cli.investigate import blame, claims, records
from gateway.cli.keys import key_app
from gateway.cli.local.tour import tour
from gateway.cli.local.up import up
from gateway.cli.policy import policy_app
from gateway.cli.serve import serve
from gateway.cli.session import session
from gateway.cli.settle import settle
from gateway.cli.verify import config, verify

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Sentinel: a gateway for every change to cloud infrastructure.",
)
app.command()(up)
app.command()(tour)
app.command()(serve)
app.command(context_settings={"allow_interspersed_args": False})(session)
app.command()(propose)
app.command()(holds)
app.command()(approve)
app.command()(reject)
app.command()(release)
app.command()(settle)
app.command()(records)
app.command()(blame)
app.command()(claims)
app.command()(verify)
app.command()(config)
app.add_typer(key_app, name="key")
app.add_typer(policy_app, name="policy")
# Commands of other packages (`reconcile`) are registered as entry points, because the gateway does not import the reconciler.
for _entry in entry_points(group="sentinel.commands"):
    app.registered_commands += _entry.load().registered_commands


def main() -> None:
    """Run the command line. Results go to standard output, log lines to standard error."""
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    app()


if __name__ == "__main__":
    main()
