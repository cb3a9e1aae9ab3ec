"""`sentinel records`, `claims`, `blame`, `explain` and `query`: questions to the ledger (who did what, when and why)."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from gateway.cli.client import call_api_as, mutation_path
from gateway.cli.config import config_file, require_ledger, settings_or_exit
from gateway.cli.options import As, Config, Json, time_of
from gateway.cli.output import (
    answer,
    console,
    error_console,
    fail,
    few_changes,
    safe,
    shortened,
    show_archived,
    show_json,
    show_pairs,
    show_table,
    show_text,
)
from gateway.cli.time_boxes import show_time_boxes
from gateway.core.errors import Malformed, SentinelError
from gateway.core.model.motive import Intent, Motivation
from gateway.core.model.verdict import Verdict
from gateway.core.records.record import Stage
from gateway.core.texts import by_rule
from gateway.core.times import utc_cell

COLUMNS = ("seq", "at", "stage", "actor", "what", "verdict", "rule: reason", "motive", "mutation")


def record_row(record: Mapping[str, Any]) -> list[str]:
    """The cells of one record, for `COLUMNS`."""
    body = record["body"]
    decision = body.get("decision") or {}
    objections = [each for each in decision.get("findings", ()) if each["verdict"] != Verdict.ALLOW]
    motive = body.get("motive") or {}
    return [
        str(record["seq"]),
        utc_cell(record["at"]),
        record["stage"],
        record["actor"],
        " ".join(part for part in (_operation(body), _changes(body)) if part),
        str(decision.get("verdict", "") or body.get("outcome", "") or _times(body) or _until(body)),
        shortened(
            "; ".join(f"{rule}: {' '.join(said)}" for rule, said in _by_rule(objections).items()) or _reason(body)
        ),
        "/".join(part for part in (motive.get("intent", ""), motive.get("motivation", "")) if part),
        record["mutation_id"],
    ]


def group_row(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """The cells of all records of one change, newest first, for `COLUMNS`: told by its decision where that is among them, else by its newest."""
    told = next((each for each in records if each["stage"] == Stage.DECIDED.value), records[0])
    newest, oldest = records[0], records[-1]
    seq = str(newest["seq"]) if newest is oldest else f"{oldest['seq']}–{newest['seq']}"
    stages = " › ".join(dict.fromkeys(each["stage"] for each in reversed(records)))
    actors = ", ".join(dict.fromkeys(each["actor"] for each in reversed(records) if each["actor"]))
    _, _, _, _, what, verdict, reason, motive, mutation = record_row(told)
    answers = (shortened(_reason(each["body"])) for each in reversed(records) if each is not told)
    reasons = " · ".join(dict.fromkeys(each for each in (reason, *answers) if each))
    return [seq, utc_cell(newest["at"]), stages, actors, what, verdict, reasons, motive, mutation]


def by_change(records: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """The records of each change together, in the order of its newest one. What is about no change stays alone."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        groups.setdefault(record["mutation_id"] or f"#{record['seq']}", []).append(record)
    return list(groups.values())


def _by_rule(objections: Sequence[Mapping[str, Any]]) -> Mapping[str, list[str]]:
    return by_rule((each["rule"], each["reason"]) for each in objections)


def _times(body: Mapping[str, Any]) -> str:
    """The number of calls that a record counts, and of those that AWS answered with an error; empty if it counts none."""
    count, errors = body.get("count"), body.get("errors")
    return "" if count is None else f"{count} times" + (f", {errors} errors" if errors else "")


def _until(body: Mapping[str, Any]) -> str:
    """Until when an approval is valid, or a change for a time now lasts; empty if neither."""
    until = body.get("until")
    return f"until {utc_cell(until)}" if isinstance(until, str) and until else ""


def _operation(body: Mapping[str, Any]) -> str:
    call = body.get("call") or {}
    named = ":".join(part for part in (call.get("service", ""), call.get("operation", "")) if part)
    return named or str(body.get("about", "")) or _about_actor(body)


def _about_actor(body: Mapping[str, Any]) -> str:
    """What was stopped or resumed, whose breaker has which state, who was told, or who is who in a chat."""
    if "of" in body:
        return f"breaker of {body['of']}: {body['state']}"
    if "receiver" in body:
        return _about_notices(body)
    if "linked" in body:
        return f"chat user {body['user']} is {body['actor'] if body['linked'] else 'nobody'} now"
    return f"{body['scope']} {body['name']}".strip() if "scope" in body else ""


def _about_notices(body: Mapping[str, Any]) -> str:
    """The receiver, and the number of notices to it by their state."""
    states = Counter(str(each["state"]).replace("_", " ") for each in body.get("results", ()))
    came = ", ".join(f"{count} {state}" for state, count in states.items())
    return f"{body['receiver']}: {came or body.get('id') or 'read on'}"


def _changes(body: Mapping[str, Any]) -> str:
    """What a decision changes, what the reconciler wrote or left, or the key that a record is about."""
    if effects := body.get("effects"):
        return few_changes([{"before": None, **effect} for effect in effects])
    written = [*body.get("edits", ()), *body.get("left", ())]
    values = (f"{each['address']}.{each['attribute']} = {json.dumps(each['value'])}" for each in written)
    return ", ".join(shortened(value) for value in values) or str(body.get("key") or body.get("key_id") or "")


def _reason(body: Mapping[str, Any]) -> str:
    """Why, as far as a record without a decision says: AWS's message, the reason of a refusal, or what the reconciler did."""
    for name in ("reason", "message", "nothing_to_do"):
        if body.get(name):
            return f"{body['code']}: {body[name]}" if body.get("code") else str(body[name])
    if body.get("commit"):
        return f"commit {body['commit'][:12]} on {body.get('branch', '')}"
    if body.get("url"):
        return f"{body.get('state', '')} {body['url']}"
    return " ".join(dict.fromkeys(str(each["reason"]) for each in body.get("left", ())))


def explain(
    mutation_id: Annotated[str, typer.Argument(help="The mutation, mut_…; a refusal names it.")],
    *,
    who: As = None,
    as_json: Json = False,
) -> None:
    """Explain one mutation from its records: every check and rule, the facts, each rival's score, the nearest legal value, when to come back.

    Agents see their own mutations, without other actors' motives and scores; people and pipelines see all.
    """
    document = answer(_request(who, mutation_id), as_json=as_json)
    show_text(document["text"])


async def _request(who: str | None, mutation_id: str) -> dict[str, str]:
    return await call_api_as(who, "GET", mutation_path(mutation_id, "explanation"), member="text")


def query(
    sql: Annotated[
        str,
        typer.Argument(help="One SELECT over mutations, decisions, findings, effects, claims, approvals, writebacks."),
    ],
    *,
    most: Annotated[int, typer.Option("--rows", help="Most rows that are shown.", min=1, max=100_000)] = 1000,
    timeout: Annotated[float, typer.Option(help="Seconds after which the query is ended.", min=0.1, max=3600)] = 30,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Ask the ledger in SQL, over documented views that are the same on SQLite and PostgreSQL (docs/investigators.md lists them, with examples).

    It reads the ledger's database itself, not the API, so it needs the settings of the gateway: it is for operators, no key of an agent opens it.
    It reads these views and nothing else, and changes nothing.
    """
    from gateway.ledger.ask.view_query import ask_views

    settings = settings_or_exit(config_file(config), as_json=as_json)
    try:
        require_ledger(settings)
        found = ask_views(settings.ledger_url, sql, most=most, seconds=timeout)
    except SentinelError as error:
        fail(error, as_json=as_json)
    if as_json:
        show_json({"columns": found.columns, "rows": found.rows, "more": found.more})
        return
    show_table("Rows", found.columns, [["" if cell is None else str(cell) for cell in row] for row in found.rows])
    if found.more:
        error_console.print(
            f"There are more rows than these {most}. Narrow the query down, or ask for more with --rows."
        )


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
    each: Annotated[bool, typer.Option("--each", help="A line for each record, not for each change.")] = False,
    limit: Annotated[int, typer.Option(help="Maximum number of records.", min=1, max=1000)] = 50,
    who: As = None,
    as_json: Json = False,
) -> None:
    """List requests, decisions and outcomes, newest first: the operation, what it changes, the verdict, the rule and its reason.

    The records of one change are one line, with the stages that it went through; --each and --json list each record. Agents see their own
    records, people and pipelines all.
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
    reply = answer(_request_records(who, query, since, until), as_json=as_json)
    found = reply["records"]
    rows = [record_row(record) for record in found] if each else [group_row(records) for records in by_change(found)]
    show_table("Records", COLUMNS, rows)
    show_archived(reply)


async def _request_records(who: str | None, query: dict[str, str], since: str, until: str) -> dict[str, Any]:
    times = {"since": _iso_time(since), "until": _iso_time(until)}
    given = {name: str(value) for name, value in {**query, **times}.items() if value}
    return await call_api_as(who, "GET", "/records", member="records", query=given)


def _iso_time(text: str) -> str:
    """The time in ISO 8601 with its zone, from a time or an age before now; empty for no text. Raises `errors.Malformed`."""
    time = time_of(text)
    return time.isoformat() if time is not None else ""


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
    reply = answer(call_api_as(who, "GET", "/claims", member="claims", query=given), as_json=as_json)
    rows = [
        [
            f"{claim['address']}.{claim['attribute']}",
            shortened(json.dumps(claim["value"])),
            claim["actor"],
            _why(claim),
            utc_cell(claim["since"]),
            utc_cell(claim["until"]) or "until superseded",
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
    history = answer(_request_blame(who, what), as_json=as_json)
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
