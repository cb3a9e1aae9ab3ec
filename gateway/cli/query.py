"""`sentinel query`: one SELECT over the views of the ledger."""

from typing import Annotated

import typer

from gateway.cli.options import Config, Json
from gateway.cli.output import error_console, fail, show_json, show_table
from gateway.cli.settings import config_file, require_ledger, settings_or_exit
from gateway.errors import SentinelError


def query(
    sql: Annotated[
        str,
        typer.Argument(help="One SELECT over mutations, decisions, findings, effects, claims, approvals, writebacks."),
    ],
    *,
    most: Annotated[int, typer.Option("--rows", help="Most rows that are shown.", min=1, max=100_000)] = 1000,
    timeout: Annotated[float, typer.Option(help="Seconds after which the query is ended.", min=0.1, max=3600)] = 30,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Ask the ledger in SQL, over documented views that are the same on SQLite and PostgreSQL (gateway/ledger/README.md lists them, with examples).

    It reads the ledger's database itself, not the API, so it needs the settings of the gateway: it is for operators, no key of an agent opens it.
    It reads these views and nothing else, and changes nothing.
    """
    from gateway.ledger.view_query import ask_views

    settings = settings_or_exit(config_file(config), as_json=as_json)
    try:
        require_ledger(settings)
        found = ask_views(settings.ledger_url, sql, most=most, seconds=timeout)
    except SentinelError as error:
        fail(error, as_json=as_json)
    if as_json:
        show_json({"columns": found.columns, "rows": found.rows, "more": found.more})
        return
    show_table("Rows", found.columns, [["" if cell is None else str(cell) for cell in row] for row in found.rows])
    if found.more:
        error_console.print(
            f"There are more rows than these {most}. Narrow the query down, or ask for more with --rows."
        )
