"""`sentinel signals`: the alerts and the like that evidence can refer to."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from gateway.cli.client import call_api_as
from gateway.cli.options import As, Json
from gateway.cli.output import answer, console, show_table
from gateway.core.times import utc_cell


def signals(
    *,
    stack: Annotated[str, typer.Option(help="Only those that concern this stack.")] = "",
    service: Annotated[str, typer.Option(help="Only those about this service.")] = "",
    source: Annotated[str, typer.Option(help="Only those of this source.")] = "",
    every: Annotated[bool, typer.Option("--all", help="Closed ones too.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Most signals to show.")] = 100,
    actor: As = None,
    as_json: Json = False,
) -> None:
    """List the open signals: alerts and the like that evidence can refer to, and which resources each concerns."""
    query = {"stack": stack, "service": service, "source": source, "limit": str(limit)}
    asked = {name: value for name, value in query.items() if value} | ({"every": "true"} if every else {})
    reply = answer(call_api_as(actor, "GET", "/signals", member="signals", query=asked), as_json=as_json)
    if not reply["signals"]:
        console.print("There is no such signal." if every else "No signal is open.")
    else:
        columns = ["since", "name", "service", "source", "state", "concerns", "evidence to state"]
        show_table("Signals", columns, [_row(each) for each in reply["signals"]])


def _row(signal: Mapping[str, Any]) -> list[str]:
    scopes = [f"{scope['stack']}: {', '.join(scope['addresses'])}" for scope in signal["concerns"]]
    return [
        utc_cell(signal["since"]),
        signal["name"],
        signal["service"],
        signal["source"],
        signal["state"],
        "; ".join(scopes) or "nothing, so it proves nothing",
        f"{signal['source']}:{signal['key']}",
    ]
