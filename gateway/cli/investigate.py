"""`sentinel records`, `claims` and `blame`: queries on the ledger (who did what, when and why)."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from gateway.cli.changes import shortened
from gateway.cli.client import call_api_as
from gateway.cli.options import As, Json
from gateway.cli.output import console, run, safe, show_json, show_pairs, show_table
from gateway.cli.record_row import COLUMNS, record_row
from gateway.cli.time_box import show_time_boxes
from gateway.doors.motive import duration
from gateway.errors import Malformed
from gateway.model.motive import Intent, Motivation
from gateway.model.record import Stage
from gateway.model.verdict import Verdict


def records(
    *,
    actor: Annotated[str, typer.Option(help="Only by this actor.")] = "",
    intent: Annotated[Intent | None, typer.Option(help="Only with this intent.")] = None,
    motivation: Annotated[Motivation | None, typer.Option(help="Only with this motivation.")] = None,
    resource: Annotated[
        str, typer.Option(help="Only for this Terraform address, or addresses that begin with it.")
    ] = "",
    stage: Annotated[Stage | None, typer.Option(help="Only this stage.")] = None,
    verdict: Annotated[Verdict | None, typer.Option(help="Only with this verdict.")] = None,
    since: Annotated[str, typer.Option(help="A time (2026-11-21T09:00:00Z) or an age (1h, 2d).")] = "",
    until: Annotated[str, typer.Option(help="A time or an age, as for --since.")] = "",
    key: Annotated[str, typer.Option(help="Only by the holder of this key, SNT…")] = "",
    refused: Annotated[
        bool, typer.Option("--refused", help="Only what was refused: denied, or turned away before a decision.")
    ] = False,
    no_evidence: Annotated[
        bool, typer.Option("--no-evidence", help="Only decisions on a motive without evidence, or without a motive.")
    ] = False,
    limit: Annotated[int, typer.Option(help="Maximum number of records.", min=1, max=1000)] = 50,
    who: As = None,
    as_json: Json = False,
) -> None:
    """List requests, decisions and outcomes, newest first: the operation, what it changes, the verdict, the rule and its reason.

    Agents see their own records, people and pipelines all.
    """
    query = {
        "actor": actor,
        "intent": intent or "",
        "motivation": motivation or "",
        "resource": resource,
        "stage": stage or "",
        "verdict": verdict or "",
        "key": key,
        "refused": "true" if refused else "",
        "no_evidence": "true" if no_evidence else "",
        "limit": str(limit),
    }
    reply = run(_request_records(who, query, since, until), as_json=as_json)
    if as_json:
        show_json(reply)
        return
    show_table("Records", COLUMNS, [record_row(record) for record in reply["records"]])


async def _request_records(who: str | None, query: dict[str, str], since: str, until: str) -> dict[str, Any]:
    times = {"since": _iso_time(since), "until": _iso_time(until)}
    given = {name: str(value) for name, value in {**query, **times}.items() if value}
    return await call_api_as(who, "GET", "/records", member="records", query=given)


def _iso_time(text: str) -> str:
    """The time in ISO 8601 with its zone, from a time or an age before now. Raises `errors.Malformed`."""
    if not text:
        return ""
    if re.fullmatch(r"(\d+[smhdw])+", text):
        return (datetime.now(UTC) - duration(text)).isoformat()
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise Malformed(
            f"{text[:40]!r} is neither a time (2026-11-21T09:00:00Z) nor an age (90s, 30m, 1h, 2d, 1w)."
        ) from error
    return (time if time.tzinfo else time.astimezone()).isoformat()


def claims(
    *,
    address: Annotated[
        str,
        typer.Option(help="Only for this Terraform address, as the list shows it: with its stack where two have it."),
    ] = "",
    holder: Annotated[str, typer.Option("--actor", help="Only by this actor.")] = "",
    every: Annotated[bool, typer.Option("--all", help="Include claims that have ended.")] = False,
    who: As = None,
    as_json: Json = False,
) -> None:
    """List which actor holds which attribute, why, and until when, and what goes back at the end of a change for a time."""
    query = {"address": address, "actor": holder, "every": "true" if every else ""}
    given = {name: value for name, value in query.items() if value}
    reply = run(call_api_as(who, "GET", "/claims", member="claims", query=given), as_json=as_json)
    if as_json:
        show_json(reply)
        return
    rows = [
        [
            f"{claim['address']}.{claim['attribute']}",
            shortened(json.dumps(claim["value"])),
            claim["actor"],
            _why(claim),
            claim["since"][:19].replace("T", " "),
            (claim["until"] or "until superseded")[:19].replace("T", " "),
            claim["end"] or ("undone" if claim["undone"] else "open"),
            claim["mutation_id"],
        ]
        for claim in reply["claims"]
    ]
    show_table("Claims", ["what", "value", "holder", "why", "since", "until", "state", "mutation"], rows)
    show_time_boxes(reply["time_boxes"])


def _why(claim: Mapping[str, Any]) -> str:
    """Intent and motivation, and whether open signals prove them."""
    motive = claim["motive"]
    return f"{motive['intent']}/{motive['motivation']}{' (proven)' if claim['proof'] else ''}" if motive else ""


def blame(
    what: Annotated[
        str,
        typer.Argument(
            help="Address and attribute, e.g. aws_autoscaling_group.web.desired_capacity; as the records name it, with its stack where two have it."
        ),
    ],
    attribute: Annotated[
        str, typer.Argument(help="The attribute, if it is not part of the first word.", show_default=False)
    ] = "",
    *,
    who: As = None,
    as_json: Json = False,
) -> None:
    """Show who set an attribute: when, for what goal, why then, who approved it, what it replaced, and the commit."""
    what = f"{what}.{attribute}" if attribute else what
    history = run(_request_blame(who, what), as_json=as_json)
    if as_json:
        show_json(history)
        return
    console.print(f"[bold]{safe(what)}[/bold]")
    show_pairs(
        {
            name.replace("_", " "): _text(value)
            for name, value in history.items()
            if name not in ("address", "attribute")
        }
    )


async def _request_blame(who: str | None, what: str) -> dict[str, Any]:
    address, attribute = _split(what)
    query = {"address": address, "attribute": attribute}
    return await call_api_as(who, "GET", "/blame", member="attribute", query=query)


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_text(item) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


_ADDRESS = re.compile(
    r"((?:[\w-]+:)?(?:[\w-]+\{[^{}]*\}|(?:module\.[\w-]+(?:\[[^\]]+\])?\.)*(?:data\.)?[\w-]+\.[\w-]+(?:\[[^\]]+\])?))\.(.+)"
)
"""As lists show it: with the stack where two stacks have the address, and by its id (`aws_sqs_queue{id=…}`) what no code declares."""


def _split(what: str) -> tuple[str, str]:
    """Address and attribute path. Raises `errors.Malformed` if they cannot be separated."""
    match = _ADDRESS.fullmatch(what)
    if not match:
        raise Malformed(
            f"{what[:200]!r} is not an address and an attribute; give e.g. aws_autoscaling_group.web.desired_capacity, or prod:aws_autoscaling_group.web.desired_capacity of the stack prod."
        )
    return match[1], match[2]
