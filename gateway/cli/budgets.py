"""`sentinel budgets`: what actors have left, and the reset of a circuit breaker."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any
from urllib.parse import quote

import typer

from gateway.cli.client import call_api_as
from gateway.cli.options import As, Json
from gateway.cli.output import answer, console, fail, safe, show_table
from gateway.core.errors import Malformed
from gateway.core.times import utc_cell

_WITHOUT_MOTIVE = "none"
"""The name, in the data, of the budget for changes without a motive."""


def budgets(
    *,
    of: Annotated[str, typer.Option("--actor", help="Only this actor.")] = "",
    reset: Annotated[
        str, typer.Option(help="Close the circuit breaker of this actor. Needs the role `operator`.")
    ] = "",
    reason: Annotated[str, typer.Option(help="Why it is reset. Recorded.")] = "",
    actor: As = None,
    as_json: Json = False,
) -> None:
    """Show what is left of each actor's budgets, how many claims it holds, and whether its circuit breaker is closed.

    People and pipelines see every actor, agents themselves.
    """
    if reset:
        _reset(reset, reason, actor, as_json=as_json)
        return
    query = {"actor": of} if of else {}
    reply = answer(call_api_as(actor, "GET", "/budgets", member="budgets", query=query), as_json=as_json)
    rows = [row for each in reply["budgets"] for row in _rows(each)]
    show_table("Budgets", ["actor", "what", "left", "of", "full again"], rows)
    for each in reply["budgets"]:
        if each["breaker"]["state"] != "closed":
            console.print(safe(_breaker(each)))


def _reset(name: str, reason: str, actor: str | None, *, as_json: bool) -> None:
    if not reason.strip():
        fail(Malformed("Say why the breaker is reset, with --reason."), as_json=as_json)
    path = f"/budgets/{quote(name, safe='')}/reset"
    answer(call_api_as(actor, "POST", path, member="reset_by", body={"reason": reason}), as_json=as_json)
    console.print(f"The breaker of {safe(name)} is closed. It is recorded with your name and reason.")


def _rows(share: Mapping[str, Any]) -> Iterable[list[str]]:
    for each in share["mutations"]:
        span = "an hour" if each["per"] == "hour" else f"a {each['per']}"
        what = f"{_for_motivation('mutations', each['motivation'])} {span}"
        yield [share["actor"], what, str(each["left"]), str(each["most"]), utc_cell(each["full_at"])]
    for each in share["added"]:
        yield [
            share["actor"],
            f"{each['size']} added a day",
            str(each["left"]),
            str(each["most"]),
            utc_cell(each["full_at"]),
        ]
    for each in share["claims"]:
        most = each["most"]
        left = "no limit" if most is None else str(max(0, most - each["held"]))
        of = f"({each['held']} held)" if most is None else str(most)
        yield [share["actor"], _for_motivation("claims", each["motivation"]), left, of, ""]


def _for_motivation(what: str, motivation: str | None) -> str:
    """Budgets by motivation name it; `none` is that of what is done without a motive."""
    if motivation == _WITHOUT_MOTIVE:
        return f"{what} without a motive"
    return f"{motivation} {what}" if motivation else what


def _breaker(share: Mapping[str, Any]) -> str:
    breaker = share["breaker"]
    until = f" until {utc_cell(breaker['until'])}, then one call is tried" if breaker["until"] else ""
    tried = f" with {breaker['trial']} on trial" if breaker["trial"] else ""
    state = breaker["state"].replace("_", " ")
    return f"The breaker of {share['actor']} is {state}{until}{tried}: {breaker['refused_in_a_row']} refusals and failures in a row."
