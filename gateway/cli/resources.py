"""`sentinel resources`, `context` and `history`: what there is, what is known of it, and how it came to be so."""

import json
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from gateway.cli.client import call_api_as
from gateway.cli.options import As, Json
from gateway.cli.output import answer, console, error_console, safe, shortened, show_archived, show_pairs, show_table
from gateway.core.times import utc_cell

Address = Annotated[str, typer.Argument(help="Terraform address, as `sentinel resources` shows it.")]
Attribute = Annotated[str, typer.Argument(help="Only this attribute, e.g. desired_capacity.")]


def resources(
    name: Annotated[str, typer.Argument(help="A part of the address or of the name.")] = "",
    *,
    arn: Annotated[str, typer.Option(help="Only the resource with this ARN.")] = "",
    kind: Annotated[str, typer.Option("--type", help="Only this resource type.")] = "",
    stack: Annotated[str, typer.Option(help="Only this stack.")] = "",
    who: As = None,
    as_json: Json = False,
) -> None:
    """List the resources that the stacks declare or record, and which of them agents may change."""
    query = {"q": name, "arn": arn, "type": kind, "stack": stack, "limit": "200"}
    reply = _ask(who, "/resources", "resources", query, as_json=as_json)
    columns = ["address", "name", "stack", "where", "agents"]
    show_table("Resources", columns, [_resource_row(each) for each in reply["resources"]])
    _show_left_off(reply)


def context(
    address: Address,
    attribute: Attribute = "",
    *,
    max_age: Annotated[
        float | None, typer.Option("--max-age", help="Have live values read that are older than this, in seconds.")
    ] = None,
    who: As = None,
    as_json: Json = False,
) -> None:
    """Show what is declared, recorded and live, within which bounds, who holds it and until when, and what changed last."""
    query = {"address": address, "attribute": attribute, "max_age_seconds": "" if max_age is None else str(max_age)}
    reply = _ask(who, "/context", "attributes", query, as_json=as_json)
    contract = reply["contract"]
    may = "may" if contract["managed_by_agent"] else "may not"
    console.print(f"[bold]{safe(reply['address'])}[/bold] {safe(reply['source'])}")
    show_pairs({"stack": reply["stack"], "owner": contract["owner"], "agents": f"{may} change it {contract['source']}"})
    columns = ["attribute", "declared", "recorded", "live", "bounds", "holder", "last change"]
    show_table("Attributes", columns, [_attribute_row(each) for each in reply["attributes"]])
    rows = [[each["address"], "directly" if each["direct"] else "indirectly"] for each in reply["dependants"]]
    show_table("Dependants", ["what depends on it", "how"], rows)
    for source in reply["data_health"]["sources"]:
        if source["error"]:
            console.print(safe(f"{source['name']}: {source['status']}. {source['error']}"))


def history(address: Address, attribute: Attribute = "", *, who: As = None, as_json: Json = False) -> None:
    """Show what changed a resource, or one attribute of it, newest first: who, when, for what goal and why."""
    reply = _ask(who, "/history", "history", {"address": address, "attribute": attribute}, as_json=as_json)
    columns = ["when", "who", "why", "what", "outcome", "mutation", "commit"]
    show_table("Changes", columns, [_change_row(each) for each in reply["history"]])
    show_archived(reply)
    _show_left_off(reply)


def _ask(who: str | None, path: str, member: str, query: Mapping[str, str], *, as_json: bool) -> dict[str, Any]:
    given = {name: value for name, value in query.items() if value}
    return answer(call_api_as(who, "GET", path, member=member, query=given), as_json=as_json)


def _show_left_off(reply: Mapping[str, Any]) -> None:
    if reply["left_off"]:
        error_console.print(safe(reply["left_off"]))


def _resource_row(found: Mapping[str, Any]) -> list[str]:
    name = found["identity"].get("name") or found["identity"].get("id") or ""
    return [found["address"], name, found["stack"], found["source"], "yes" if found["managed_by_agent"] else "no"]


def _attribute_row(entry: Mapping[str, Any]) -> list[str]:
    claim, last = entry["claim"], entry["last_change"]
    live = entry["live"]
    return [
        entry["attribute"],
        _value(entry["declared"]),
        _value(entry["recorded"]),
        _value(live) if live["status"] == "ok" else live["status"],
        _bounds(entry["bounds"]),
        f"{claim['holder']} until {utc_cell(claim['until']) or 'superseded'}" if claim else "",
        f"{last['actor']} {utc_cell(last['at'])}" if last else "",
    ]


def _change_row(change: Mapping[str, Any]) -> list[str]:
    motive = change["motive"]
    what = "; ".join(
        f"{each['attribute']}: {_text(each['before'])} → {_text(each['value'])}" for each in change["changes"]
    )
    return [
        utc_cell(change["at"]),
        change["actor"],
        f"{motive['intent']}/{motive['motivation']}" if motive else "",
        shortened(what),
        change["outcome"],
        change["mutation_id"],
        change["commit"][:12],
    ]


def _bounds(bounds: Mapping[str, Any] | None) -> str:
    limits = {name: limit for name, limit in (bounds or {}).items() if name not in ("source", "every")}
    return ", ".join(f"{name} {_text(limit)}" for name, limit in limits.items())


def _value(known: Mapping[str, Any] | None) -> str:
    return "" if known is None else _text(known["value"])


def _text(value: object) -> str:
    return shortened(json.dumps(value, ensure_ascii=False))
