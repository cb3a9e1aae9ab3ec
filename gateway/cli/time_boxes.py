"""`sentinel extend` and `sentinel end`: move the end of a change that is wanted for a time only."""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from gateway.cli.client import act_on_mutation
from gateway.cli.options import As, Json
from gateway.cli.output import answer, console, safe, shortened, show_table
from gateway.core.times import utc_cell

_COLUMNS = ["what", "value", "goes back to", "at", "holder", "state", "mutation"]
_STATES = {
    "standing": "waits",
    "putting_back": "is being put back",
    "superseded": "a later change has it: stays",
    "changed_outside": "changed past Sentinel: left to you",
    "left": "could not be put back: left to you",
}


def extend(
    mutation_id: Annotated[str, typer.Argument(help="The change for a time, mut_…")],
    *,
    wanted_for: Annotated[
        str, typer.Option("--wanted-for", "--for", help="How long it is wanted from now on, e.g. 1h.")
    ],
    reason: Annotated[str, typer.Option(help="Why. Recorded.")] = "",
    actor: As = None,
    as_json: Json = False,
) -> None:
    """Have a change for a time last for this long from now on. Its holder may do that, and a human with the role `approver`."""
    body = {"wanted_for": wanted_for, "reason": reason}
    reply = answer(act_on_mutation(actor, mutation_id, "extend", member="time_boxes", body=body), as_json=as_json)
    ends = max((str(box["goes_back_at"]) for box in reply["time_boxes"]), default="")
    console.print(f"{mutation_id} goes back at {safe(ends)}.")
    if reply["warning"]:
        console.print(f"[yellow]{safe(reply['warning'])}[/yellow]")


def end(
    mutation_id: Annotated[str, typer.Argument(help="The change for a time, mut_…")],
    *,
    reason: Annotated[str, typer.Option(help="Why. Recorded.")] = "",
    actor: As = None,
    as_json: Json = False,
) -> None:
    """Put a change for a time back now instead of at its end; also one that was left to you. Holder and approvers may.

    The reconciler carries it out: `sentinel claims` shows when that is done.
    """
    body = {"reason": reason}
    answer(act_on_mutation(actor, mutation_id, "end", member="time_boxes", body=body), as_json=as_json)
    console.print(f"{mutation_id} has ended. The reconciler puts back what was there before.")


def show_time_boxes(boxes: Sequence[Mapping[str, Any]]) -> None:
    """A table of the changes that go back by themselves; nothing if there is none."""
    if boxes:
        show_table("For a time", _COLUMNS, [_row(box) for box in boxes])


def _row(box: Mapping[str, Any]) -> list[str]:
    return [
        f"{box['address']}.{box['attribute']}",
        shortened(json.dumps(box["value"])),
        shortened(json.dumps(box["goes_back_to"])),
        utc_cell(box["goes_back_at"]),
        box["actor"],
        _STATES.get(box["state"], box["state"]),
        box["mutation_id"],
    ]
