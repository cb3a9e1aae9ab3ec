"""`sentinel records`, `blame`, `claims`: ask the ledger who did what, when and why."""

import json
import re
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from gateway.cli.client import ask_as
from gateway.cli.output import console, run, safe, show_json, show_pairs, show_table
from gateway.doors.motive import duration
from gateway.errors import Malformed
from gateway.model.motive import Intent, Motivation
from gateway.model.record import Stage
from gateway.model.verdict import Verdict

Json = Annotated[bool, typer.Option("--json", help="Print the API's answer as JSON.")]
As = Annotated[str, typer.Option("--as", help="Whose credentials of a running `sentinel up` to use.")]


def records(
    *,
    actor: Annotated[str, typer.Option(help="Only of this actor.")] = "",
    intent: Annotated[Intent | None, typer.Option(help="Only with this intent.")] = None,
    motivation: Annotated[Motivation | None, typer.Option(help="Only with this motivation.")] = None,
    resource: Annotated[str, typer.Option(help="Only about this Terraform address, or what begins with it.")] = "",
    stage: Annotated[Stage | None, typer.Option(help="Only of this stage of a mutation's life.")] = None,
    verdict: Annotated[Verdict | None, typer.Option(help="Only decided so.")] = None,
    since: Annotated[str, typer.Option(help="A time (2026-11-21T09:00:00Z) or an age (1h, 2d).")] = "",
    limit: Annotated[int, typer.Option(help="At most so many.", min=1, max=1000)] = 50,
    who: As = "human",
    as_json: Json = False,
) -> None:
    """List what was asked, decided and done, newest first. Agents see their own records, people and pipelines all."""
    query = {
        "actor": actor,
        "intent": intent or "",
        "motivation": motivation or "",
        "resource": resource,
        "stage": stage or "",
        "verdict": verdict or "",
        "limit": str(limit),
    }
    found = run(_listed(who, query, since), as_json=as_json)
    if as_json:
        show_json(found)
        return
    columns = ["seq", "at", "stage", "actor", "what", "verdict", "why", "mutation"]
    show_table("Records", columns, [_row(record) for record in found["records"]])


async def _listed(who: str, query: dict[str, str], since: str) -> dict[str, Any]:
    wanted = {name: str(value) for name, value in {**query, "since": _moment(since)}.items() if value}
    return await ask_as(who, "GET", "/records", holds="records", query=wanted)


def _moment(text: str) -> str:
    """An ISO time with its zone; an age counts back from now. Raises `errors.Malformed`."""
    if not text:
        return ""
    if re.fullmatch(r"(\d+[smhdw])+", text):
        return (datetime.now(UTC) - duration(text)).isoformat()
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise Malformed(
            f"{text[:40]!r} is neither a time (2026-11-21T09:00:00Z) nor an age (90s, 30m, 1h, 2d, 1w)."
        ) from error
    return (moment if moment.tzinfo else moment.astimezone()).isoformat()


def _row(record: dict[str, Any]) -> list[str]:
    body = record["body"]
    call = body.get("call") or {}
    touched = dict.fromkeys(effect["address"] for effect in body.get("effects") or ())
    effects = ", ".join(touched) if len(touched) != 1 else _one(next(iter(touched)), body["effects"])
    motive = body.get("motive") or {}
    return [
        str(record["seq"]),
        record["at"][:19].replace("T", " "),
        record["stage"],
        record["actor"],
        effects
        or ":".join(part for part in (call.get("service", ""), call.get("operation", "")) if part)
        or str(body.get("code", "")),
        str((body.get("decision") or {}).get("verdict", "") or body.get("outcome", "")),
        "/".join(part for part in (motive.get("intent", ""), motive.get("motivation", "")) if part),
        record["mutation_id"],
    ]


def _one(address: str, effects: list[dict[str, Any]]) -> str:
    """A thing and what is done to it: its attribute, or how many of them."""
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
    address: Annotated[str, typer.Option(help="Only on this Terraform address.")] = "",
    holder: Annotated[str, typer.Option("--actor", help="Only of this actor.")] = "",
    every: Annotated[bool, typer.Option("--all", help="Ended ones too.")] = False,
    who: As = "human",
    as_json: Json = False,
) -> None:
    """List who holds which attribute, why, and until when."""
    query = {"address": address, "actor": holder, "every": "true" if every else ""}
    wanted = {name: value for name, value in query.items() if value}
    found = run(ask_as(who, "GET", "/claims", holds="claims", query=wanted), as_json=as_json)
    if as_json:
        show_json(found)
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
        for claim in found["claims"]
    ]
    show_table("Claims", ["what", "value", "holder", "why", "since", "until", "state"], rows)


def blame(
    what: Annotated[str, typer.Argument(help="Address and attribute, e.g. aws_autoscaling_group.web.desired_capacity")],
    *,
    who: As = "human",
    as_json: Json = False,
) -> None:
    """Tell who set an attribute: when, for what goal, why then, who approved it, what it replaced, and the commit."""
    story = run(_blamed(who, what), as_json=as_json)
    if as_json:
        show_json(story)
        return
    console.print(f"[bold]{safe(what)}[/bold]")
    show_pairs(
        {name.replace("_", " "): _text(value) for name, value in story.items() if name not in ("address", "attribute")}
    )


async def _blamed(who: str, what: str) -> dict[str, Any]:
    address, attribute = _split(what)
    query = {"address": address, "attribute": attribute}
    return await ask_as(who, "GET", "/blame", holds="attribute", query=query)


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_text(item) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


_ADDRESS = re.compile(r"((?:module\.[\w-]+(?:\[[^\]]+\])?\.)*(?:data\.)?[\w-]+\.[\w-]+(?:\[[^\]]+\])?)\.(.+)")


def _split(what: str) -> tuple[str, str]:
    """Address and attribute path. Raises `errors.Malformed` where the two cannot be told apart."""
    found = _ADDRESS.fullmatch(what)
    if not found:
        raise Malformed(
            f"{what[:200]!r} is not an address and an attribute; give e.g. aws_autoscaling_group.web.desired_capacity."
        )
    return found[1], found[2]
