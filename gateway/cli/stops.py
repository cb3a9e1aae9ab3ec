"""`sentinel stop`, `sentinel resume` and `sentinel stops`: keep changes from happening, and let them happen again."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from gateway.cli.client import call_api_as
from gateway.cli.options import As, Json
from gateway.cli.output import answer, console, fail, safe, show_table
from gateway.core.errors import Malformed
from gateway.core.model.ids import is_id
from gateway.core.times import utc_cell

_ONE = "Say what to stop: exactly one of --actor, --stack, --service and --all."


def stop(
    *,
    stopped: Annotated[str, typer.Option("--actor", help="What this actor changes, or another on its behalf.")] = "",
    stack: Annotated[str, typer.Option(help="What is changed in this stack.")] = "",
    service: Annotated[str, typer.Option(help="What is changed through this AWS service, e.g. autoscaling.")] = "",
    everything: Annotated[bool, typer.Option("--all", help="Every change.")] = False,
    reason: Annotated[str, typer.Option(help="Why. Recorded for good, and told to those who are refused.")],
    actor: As = None,
    as_json: Json = False,
) -> None:
    """Stop changes, from the next request on and at every gateway of the ledger. Needs the role `operator`.

    Reads stay open. What was sent already is not called back. Held changes cannot be approved until `sentinel resume`.
    """
    named = {"actor": stopped, "stack": stack, "service": service, "all": "*" if everything else ""}
    given = [(scope, name) for scope, name in named.items() if name]
    if len(given) != 1:
        fail(Malformed(_ONE), as_json=as_json)
    [(scope, name)] = given
    body = {"scope": scope, "name": "" if everything else name, "reason": reason}
    reply = answer(call_api_as(actor, "POST", "/stops", member="scope", body=body), as_json=as_json)
    console.print(f"Stopped {safe(_what(reply))} ({safe(reply['id'])}). `sentinel resume {safe(reply['id'])}` ends it.")


def resume(
    stop_id: Annotated[str, typer.Argument(help="The stop, stp_…; `sentinel stops` lists them.")],
    *,
    reason: Annotated[str, typer.Option(help="Why it may go on. Recorded.")] = "",
    actor: As = None,
    as_json: Json = False,
) -> None:
    """End a stop. Needs the role `operator`; a stop of yourself another person must end."""
    reply = answer(_resume(actor, stop_id, reason), as_json=as_json)
    console.print(f"Resumed {safe(_what(reply))}, which {safe(reply['by'])} had stopped.")


def stops(
    *,
    every: Annotated[bool, typer.Option("--all", help="Those that were ended too.")] = False,
    actor: As = None,
    as_json: Json = False,
) -> None:
    """List what is stopped, since when, by whom and why."""
    query = {"every": "true"} if every else {}
    reply = answer(call_api_as(actor, "GET", "/stops", member="stops", query=query), as_json=as_json)
    if not reply["stops"]:
        console.print("Nothing was ever stopped." if every else "Nothing is stopped.")
    else:
        columns = ["since", "stopped", "by", "reason", "ended", "stop"]
        show_table("Stops", columns, [_row(each) for each in reply["stops"]])


async def _resume(actor: str | None, stop_id: str, reason: str) -> dict[str, Any]:
    if not is_id("stp", stop_id):
        raise Malformed(
            f"{stop_id[:64]!r} is not the id of a stop, which looks like stp_…; `sentinel stops` lists them."
        )
    query = {"reason": reason} if reason else {}
    return await call_api_as(actor, "DELETE", f"/stops/{stop_id}", member="scope", query=query)


def _what(stop: Mapping[str, Any]) -> str:
    return "every change" if stop["scope"] == "all" else f"the {stop['scope']} {stop['name']}"


def _row(stop: Mapping[str, Any]) -> list[str]:
    ended = f"{utc_cell(stop['ended_at'])} by {stop['ended_by']}" if stop["ended_at"] else ""
    return [utc_cell(stop["at"]), _what(stop), stop["by"], stop["reason"], ended, stop["id"]]
