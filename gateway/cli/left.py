"""`sentinel left`: what Sentinel left to a human."""

import json
from collections.abc import Mapping
from typing import Any

from gateway.cli.changes import shortened
from gateway.cli.client import call_api_as
from gateway.cli.options import As, Json
from gateway.cli.output import console, run, show_json, show_table


def left(*, who: As = None, as_json: Json = False) -> None:
    """List what is left to you: values not written into the code, changes for a time not put back, and outcomes that nothing showed.

    A value goes off the list when the code declares it, or when a later change makes it obsolete; an unknown outcome with `sentinel settle`.
    """
    reply = run(call_api_as(who, "GET", "/left", member="left"), as_json=as_json)
    if as_json:
        show_json(reply)
        return
    if not reply["left"]:
        console.print("Nothing is left to you.")
        return
    show_table(
        "Left", ["since", "actor", "stack", "what", "reason", "mutation"], [_row(entry) for entry in reply["left"]]
    )


def _row(entry: Mapping[str, Any]) -> list[str]:
    return [
        str(entry["since"])[:19].replace("T", " "),
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
    return shortened(f"{entry['address']}.{entry['attribute']} = {json.dumps(entry.get('value'))}")
