"""`sentinel drift`, `heal` and `left`: changes from outside, what becomes of them, how well they are healed, and what is left to a human."""

import json
from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import quote

import typer

from gateway.cli.client import call_api_as
from gateway.cli.options import As, Json
from gateway.cli.output import answer, console, safe, shortened, show_table
from gateway.core.times import utc_cell


def left(*, who: As = None, as_json: Json = False) -> None:
    """List what is left to you: values not written into the code, changes for a time not put back, and outcomes that nothing showed.

    A value goes off the list when the code declares it, or when a later change makes it obsolete; an unknown outcome with `sentinel settle`.
    """
    reply = answer(call_api_as(who, "GET", "/left", member="left"), as_json=as_json)
    if not reply["left"]:
        console.print("Nothing is left to you.")
        return
    show_table(
        "Left", ["since", "actor", "stack", "what", "reason", "mutation"], [_row(entry) for entry in reply["left"]]
    )
    if reply["more"]:
        console.print("There is more, of older reports: it is listed when what stands here is done.")


def _row(entry: Mapping[str, Any]) -> list[str]:
    return [
        utc_cell(entry["since"]),
        entry["actor"],
        entry["stack"],
        _what(entry),
        " ".join((entry["reason"], *(f"[{step}]" for step in entry.get("chain", ())))),
        entry["mutation_id"],
    ]


def _what(entry: Mapping[str, Any]) -> str:
    if entry["kind"] == "in_doubt":
        return f"the outcome: look at the resource, then `sentinel settle {entry['mutation_id']}`"
    if entry["kind"] == "not_put_back":
        return shortened(
            f"{entry['address']}.{entry['attribute']} = {json.dumps(entry['value'])}, wanted for a time; before it was "
            f"{json.dumps(entry['goes_back_to'])}: `sentinel end {entry['mutation_id']}` tries again"
        )
    if "." not in entry["address"]:
        return f"what {entry['address']} did"
    return shortened(f"{entry['address']}.{entry['attribute']} = {json.dumps(entry.get('value'))}")


drift_app = typer.Typer(
    add_completion=False, help="Changes that somebody made bypassing Sentinel.", no_args_is_help=True
)
heal_app = typer.Typer(add_completion=False, help="How well changes from outside are healed.", no_args_is_help=True)


@drift_app.command("list")
def list_command(*, actor: As = None, as_json: Json = False) -> None:
    """List the changes from outside by which live and code differ, with what was decided about each."""
    reply = answer(call_api_as(actor, "GET", "/drift", member="drift", query={"cause": "foreign"}), as_json=as_json)
    if reply["drift"]:
        columns = ["since", "id", "what", "by", "decision", "reason"]
        show_table("Drift", columns, [_drift_row(entry) for entry in reply["drift"]])
    looked = {stack: at for stack, at in reply["looked"].items() if at is not None}
    if looked and not reply["drift"]:
        times = ", ".join(f"{stack} at {utc_cell(at)}" for stack, at in looked.items())
        console.print(safe(f"Nothing drifted, as far as was looked: {times}."))
    for source in reply["data_health"]["sources"]:
        if source["error"]:
            console.print(f"[yellow]{safe(source['error'])}[/yellow]")


@drift_app.command("decide")
def decide_command(
    drift_id: Annotated[str, typer.Argument(help="The change from outside, fgn_…")],
    action: Annotated[str, typer.Argument(help="codify, revert, quarantine or leave")],
    *,
    reason: Annotated[str, typer.Option(help="Why. Recorded in the ledger with your name.")],
    actor: As = None,
    as_json: Json = False,
) -> None:
    """Decide what becomes of a change from outside; only an approver may. It replaces what policy decided."""
    path = f"/drift/{quote(drift_id, safe='')}/decide"
    body = {"action": action, "reason": reason}
    answer(call_api_as(actor, "POST", path, member="drift", body=body), as_json=as_json)
    console.print(
        f"Decided: {action}. The reconciler carries it out."
        if action in ("codify", "revert")
        else f"Decided: {action}."
    )


@heal_app.callback()
def heal() -> None:
    """How well changes from outside are healed."""


@heal_app.command("report")
def report_command(*, actor: As = None, as_json: Json = False) -> None:
    """Show mean time to repair, false positives and rollbacks."""
    reply = answer(call_api_as(actor, "GET", "/heal/report", member="report"), as_json=as_json)
    show_table(
        "Healing",
        ["figure", "value"],
        [[name.replace("_", " "), _figure(value)] for name, value in reply["report"].items()],
    )


def _drift_row(entry: Mapping[str, Any]) -> list[str]:
    values = f"{json.dumps(entry['declared'])} → {json.dumps(entry['live'])}" if not entry["sensitive"] else "a secret"
    origin = entry["origin"] or {}
    state = " ".join(part for part in (entry["action"] or "not yet", entry["outcome"]) if part)
    return [
        utc_cell(entry["since"]),
        entry["id"],
        f"{entry['address']}.{entry['attribute']}: {shortened(values)}",
        str(origin.get("actor", "unknown")),
        f"{state} (needs you)" if entry["needs_human"] else state,
        f"{entry['rule']}: {entry['reason']}" if entry["rule"] else entry["reason"],
    ]


def _figure(value: Any) -> str:
    match value:
        case None:
            return "–"
        case float():
            return f"{value:.0f} s"
        case dict():
            return ", ".join(f"{name}: {_figure(each)}" for name, each in value.items()) or "–"
    return str(value)
