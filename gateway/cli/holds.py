"""`sentinel holds`: what waits for a human."""

import json
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from gateway.cli.changes import change, few_changes
from gateway.cli.client import call_api_as, mutation_path
from gateway.cli.options import As, Json
from gateway.cli.output import console, run, safe, show_json, show_pairs, show_table
from gateway.errors import NotFound
from gateway.model.hold import HoldFilter


def holds(
    mutation_id: Annotated[str, typer.Argument(help="Show one held mutation with its whole call, mut_…")] = "",
    *,
    state: Annotated[HoldFilter, typer.Option(help="Only in this state.")] = HoldFilter.OPEN,
    limit: Annotated[int, typer.Option(help="Maximum number of mutations.", min=1, max=1000)] = 100,
    actor: As = None,
    as_json: Json = False,
) -> None:
    """List what is held: the operation, the value, the rule and its reason, who asks, and since when.

    People and pipelines see every held mutation, agents their own. With a mutation id, show its whole call, secrets masked.
    """
    if mutation_id:
        hold = run(request_hold(actor, mutation_id), as_json=as_json)
        show_json(hold) if as_json else show_hold(hold)
        return
    query = {"state": state.value, "limit": str(limit)}
    reply = run(call_api_as(actor, "GET", "/holds", member="holds", query=query), as_json=as_json)
    if as_json:
        show_json(reply)
        return
    columns = ["since", "requester", "operation", "change", "rule", "reason", "mutation"]
    show_table("Holds", columns, [_row(hold) for hold in reply["holds"]])


async def request_hold(actor: str | None, mutation_id: str) -> dict[str, Any]:
    """One held mutation in any state. Raises `errors.NotFound` if there is none that the caller may see."""
    mutation_path(mutation_id)
    query = {"mutation_id": mutation_id, "state": HoldFilter.ALL.value}
    reply = await call_api_as(actor, "GET", "/holds", member="holds", query=query)
    if not reply["holds"]:
        raise NotFound(f"No mutation {mutation_id} is held.")
    hold: dict[str, Any] = reply["holds"][0]
    return hold


def show_hold(hold: Mapping[str, Any]) -> None:
    """Print everything that an approver decides about: who asks for what and why, the whole call, its effects, and why it is held."""
    motive = hold["motive"] or {}
    show_pairs(
        {
            "mutation": hold["mutation_id"],
            "state": hold["state"],
            "since": _moment(hold),
            "requester": f"{hold['requester']} ({hold['kind']})",
            "on behalf of": hold["on_behalf_of"],
            "operation": _operation(hold),
            "account, region": ", ".join(part for part in (hold["account"], hold["region"]) if part),
            "motive": "/".join(part for part in (motive.get("intent", ""), motive.get("motivation", "")) if part),
            "says": motive.get("text", ""),
            "evidence": ", ".join(motive.get("evidence", ())),
            "approvers": _approvers(hold["approvers"]),
        }
    )
    for effect in hold["effects"]:
        console.print(f"  changes {safe(change(effect))}")
    for reason in hold["reasons"]:
        console.print(f"  held: {safe(reason['reason'])} \\[{safe(reason['rule'])}]")
    console.print(
        "[bold]parameters[/bold]"
        + (
            ""
            if hold["whole"]
            else " (not whole: too large, or a secret in what it runs is masked, so it cannot be approved)"
        )
    )
    console.print(safe(json.dumps(hold["parameters"], indent=2, ensure_ascii=False)))


def _approvers(rule: Mapping[str, Any] | None) -> str:
    """Which people may approve it, and how many must; empty for a hold of an older version."""
    if rule is None:
        return ""
    return f"people with the role {', and '.join(' or '.join(wanted) for wanted in rule['roles'])}. {rule['reason']}"


def _row(hold: Mapping[str, Any]) -> list[str]:
    reasons = hold["reasons"]
    return [
        _moment(hold),
        hold["requester"],
        _operation(hold),
        few_changes(hold["effects"]),
        ", ".join(dict.fromkeys(reason["rule"] for reason in reasons)),
        " ".join(dict.fromkeys(reason["reason"] for reason in reasons)),
        hold["mutation_id"],
    ]


def _moment(hold: Mapping[str, Any]) -> str:
    return str(hold["since"])[:19].replace("T", " ")


def _operation(hold: Mapping[str, Any]) -> str:
    return f"{hold['service']}:{hold['operation']}"
