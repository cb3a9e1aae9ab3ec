"""`sentinel records`, `claims` and `blame`: queries on the ledger (who did what, when and why)."""

import json
import re
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from gateway.cli.client import call_api_as
from gateway.cli.options import As, Json
from gateway.cli.output import console, run, safe, show_json, show_pairs, show_table
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
    limit: Annotated[int, typer.Option(help="Maximum number of records.", min=1, max=1000)] = 50,
    who: As = "human",
    as_json: Json = False,
) -> None:
    """List requests, decisions and outcomes, newest first. Agents see their own records, people and pipelines all."""
    query = {
        "actor": actor,
        "intent": intent or "",
        "motivation": motivation or "",
        "resource": resource,
        "stage": stage or "",
        "verdict": verdict or "",
        "limit": str(limit),
    }
    reply = run(_request_records(who, query, since), as_json=as_json)
    if as_json:
        show_json(reply)
        return
    columns = ["seq", "at", "stage", "actor", "what", "verdict", "why", "mutation"]
    show_table("Records", columns, [_row(record) for record in reply["records"]])


async def _request_records(who: str, query: dict[str, str], since: str) -> dict[str, Any]:
    given = {name: str(value) for name, value in {**query, "since": _iso_time(since)}.items() if value}
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


def _row(record: dict[str, Any]) -> list[str]:
    body = record["body"]
    call = body.get("call") or {}
    addresses = dict.fromkeys(effect["address"] for effect in body.get("effects") or ())
    effects = ", ".join(addresses) if len(addresses) != 1 else _summary(next(iter(addresses)), body["effects"])
    motive = body.get("motive") or {}
    return [
        str(record["seq"]),
        record["at"][:19].replace("T", " "),
        record["stage"],
        record["actor"],
        effects
        or ":".join(part for part in (call.get("service", ""), call.get("operation", "")) if part)
        or str(body.get("code") or body.get("key") or ""),
        str((body.get("decision") or {}).get("verdict", "") or body.get("outcome", "") or _times(body)),
        "/".join(part for part in (motive.get("intent", ""), motive.get("motivation", "")) if part),
        record["mutation_id"],
    ]


def _times(body: dict[str, Any]) -> str:
    """How many calls a record counts, and how many of them AWS answered with an error; empty if it counts none."""
    count, errors = body.get("count"), body.get("errors")
    return "" if count is None else f"{count} times" + (f", {errors} errors" if errors else "")


def _summary(address: str, effects: list[dict[str, Any]]) -> str:
    """A resource with its changed attribute, or with their number if there are several."""
    attributes = [effect["attribute"] for effect in effects if effect["attribute"] != "*"]
    return (
        f"{address}.{attributes[0]}"
        if len(attributes) == 1
        else f"{address} ({len(attributes)} attributes)"
        if attributes
        else address
    )


def claims(
    *,
    address: Annotated[str, typer.Option(help="Only for this Terraform address.")] = "",
    holder: Annotated[str, typer.Option("--actor", help="Only by this actor.")] = "",
    every: Annotated[bool, typer.Option("--all", help="Include claims that have ended.")] = False,
    who: As = "human",
    as_json: Json = False,
) -> None:
    """List which actor holds which attribute, why, and until when."""
    query = {"address": address, "actor": holder, "every": "true" if every else ""}
    given = {name: value for name, value in query.items() if value}
    reply = run(call_api_as(who, "GET", "/claims", member="claims", query=given), as_json=as_json)
    if as_json:
        show_json(reply)
        return
    rows = [
        [
            f"{claim['address']}.{claim['attribute']}",
            json.dumps(claim["value"]),
            claim["actor"],
            "/".join((claim["motive"]["intent"], claim["motive"]["motivation"])) if claim["motive"] else "",
            claim["since"][:19].replace("T", " "),
            (claim["until"] or "until superseded")[:19].replace("T", " "),
            claim["end"] or "open",
        ]
        for claim in reply["claims"]
    ]
    show_table("Claims", ["what", "value", "holder", "why", "since", "until", "state"], rows)


def blame(
    what: Annotated[str, typer.Argument(help="Address and attribute, e.g. aws_autoscaling_group.web.desired_capacity")],
    *,
    who: As = "human",
    as_json: Json = False,
) -> None:
    """Show who set an attribute: when, for what goal, why then, who approved it, what it replaced, and the commit."""
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


async def _request_blame(who: str, what: str) -> dict[str, Any]:
    address, attribute = _split(what)
    query = {"address": address, "attribute": attribute}
    return await call_api_as(who, "GET", "/blame", member="attribute", query=query)


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_text(item) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


_ADDRESS = re.compile(r"((?:module\.[\w-]+(?:\[[^\]]+\])?\.)*(?:data\.)?[\w-]+\.[\w-]+(?:\[[^\]]+\])?)\.(.+)")


def _split(what: str) -> tuple[str, str]:
    """Address and attribute path. Raises `errors.Malformed` if they cannot be separated."""
    match = _ADDRESS.fullmatch(what)
    if not match:
        raise Malformed(
            f"{what[:200]!r} is not an address and an attribute; give e.g. aws_autoscaling_group.web.desired_capacity."
        )
    return match[1], match[2]
