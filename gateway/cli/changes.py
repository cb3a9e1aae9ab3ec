"""`sentinel status`, `changes` and `watch`: whether all is well, and what was changed, a line for each mutation in plain words."""

import asyncio
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final, TextIO

import typer

from gateway.cli.client import ApiRefused, call_api, call_api_as, identity
from gateway.cli.options import As, Json, time_of
from gateway.cli.output import answer, console, fits, folded, run, shortened, show_line, show_pairs, show_table
from gateway.core.model.motive import Intent, Motivation
from gateway.core.model.verdict import Verdict
from gateway.core.texts import visible
from gateway.core.times import utc_cell, utc_text

COLUMNS: Final = ("at", "who", "what", "why", "state", "reason", "mutation")
_MARKS: Final = {"done": "■", "waits": "□", "stopped": "✗", "unneeded": "·"}
_WATCHED: Final = 50
"""The newest mutations that are compared from look to look."""
_SECONDS: Final = 1.0
"""Between two looks."""
_NEWEST: Final = 200
"""Mutations that a status is made of."""
_STYLES: Final = {
    "denied": "red",
    "rejected": "red",
    "failed": "red",
    "held": "yellow",
    "in_doubt": "yellow",
    "applied": "green",
}


def changes(
    *,
    words: Annotated[
        str, typer.Option("--words", help="Only with these words: what, who, why, rule or resource.")
    ] = "",
    actor: Annotated[str, typer.Option(help="Only by this actor.")] = "",
    resource: Annotated[str, typer.Option(help="Only for this Terraform address, or addresses that begin so.")] = "",
    intent: Annotated[Intent | None, typer.Option(help="Only with this intent.")] = None,
    motivation: Annotated[Motivation | None, typer.Option(help="Only with this motivation.")] = None,
    verdict: Annotated[Verdict | None, typer.Option(help="Only with this verdict.")] = None,
    since: Annotated[str, typer.Option(help="A time (2026-11-21T09:00:00Z) or an age (1h, 2d).")] = "",
    plan: Annotated[str, typer.Option(help="The calls of the apply of this plan's mutation, mut_…")] = "",
    limit: Annotated[int, typer.Option(help="Maximum number of changes.", min=1, max=1000)] = 30,
    who: As = None,
    as_json: Json = False,
) -> None:
    """List changes, newest first: what changes in plain words, who wants it and why, and how far it has come.

    The five marks are asked, decided, applied, in code, merged: ■ done, □ waits, ✗ stopped there, · not needed. `sentinel records` lists the
    single records. Agents see their own changes, people and pipelines all.
    """
    query = {
        "q": words,
        "actor": actor,
        "resource": resource,
        "intent": intent or "",
        "motivation": motivation or "",
        "verdict": verdict or "",
        "plan": plan,
        "limit": str(limit),
    }
    reply = answer(_request(who, query, since), as_json=as_json)
    rows = [change_row(change) for change in reply["mutations"]]
    if not rows or fits(COLUMNS, rows, console.width):
        show_table("Changes", COLUMNS, rows)
        return
    for change in reply["mutations"]:
        _show_short(change)


def change_row(change: Mapping[str, Any]) -> list[str]:
    """The cells of one change, for `COLUMNS`."""
    reason = f"{change['rule']}: {change['reason']}" if change["reason"] else ""
    return [
        utc_cell(change["at"]),
        change["actor"],
        change["headline"],
        "/".join(part for part in (change["intent"], change["motivation"]) if part),
        f"{marks(change)} {change['state'].replace('_', ' ')}",
        shortened(reason),
        change["id"],
    ]


def _show_short(change: Mapping[str, Any]) -> None:
    """A change where the terminal is too narrow for a table: one line as `sentinel watch` has it, then why, the id, and the first reason."""
    begin = f"{utc_cell(change['at'])[5:16]}  {marks(change)}  "
    why = "/".join(part for part in (change["intent"], change["motivation"]) if part)
    reason = f"{change['rule']}: {change['reason']}" if change["reason"] else ""
    first = f"{change['state'].replace('_', ' ')}  {change['actor']}: {change['headline']}"
    lines = (first, "  ".join(part for part in (change["id"], why) if part), shortened(reason))
    _show_below(begin, [part for part in lines if part], _STYLES.get(change["state"], ""))


def _show_below(begin: str, lines: Sequence[str], style: str) -> None:
    """The lines after one beginning: what does not fit stands below, and only the first of them has the style."""
    said = [part for line in lines for part in folded(visible(line), console.width - len(begin))]
    show_line((begin + said[0], style), on=console)
    for line in said[1:]:
        show_line((f"{'':{len(begin)}}{line}", "dim"), on=console)


async def _request(who: str | None, query: Mapping[str, str], since: str) -> dict[str, Any]:
    """The changes of the filter. Raises `errors.Malformed` for a text that is not a time."""
    start = time_of(since)
    given = {name: str(value) for name, value in query.items() if value}
    given |= {"since": start.isoformat()} if start else {}
    return await call_api_as(who, "GET", "/mutations", member="mutations", query=given)


def marks(change: Mapping[str, Any]) -> str:
    """How far a change has come, a character for each step."""
    return "".join(_MARKS.get(mark["state"], "?") for mark in change["path"])


def watch(*, who: As = None, as_json: Json = False) -> None:
    """Follow changes as they are asked for and come further, a line each time, until Ctrl-C. With --json each line is one JSON object."""
    output = sys.stdout
    show = (lambda change: _write_line(output, change)) if as_json else _show_change
    if not as_json:
        show_line(("Watching. Ctrl-C ends it.", "dim"), on=console)
    try:
        run(_follow(who, show), as_json=as_json, speaks=True)
    except KeyboardInterrupt:
        raise typer.Exit from None


def _write_line(output: TextIO, change: Mapping[str, Any]) -> None:
    output.write(json.dumps(change, ensure_ascii=False) + "\n")
    output.flush()


def _show_change(change: Mapping[str, Any]) -> None:
    reason = f"  {change['reason']} [{change['rule']}]" if change["reason"] else ""
    said = f"{change['state'].replace('_', ' ')}  {change['actor']}: {change['headline']}{reason}"
    _show_below(f"{utc_cell(change['at'])[11:]}  {marks(change)}  ", [said], _STYLES.get(change["state"], ""))


async def _follow(who: str | None, show: Callable[[Mapping[str, Any]], None]) -> None:
    """Show each change that is new or has come further since the last look, oldest first. The first look shows nothing."""
    seen: dict[str, str] | None = None
    while True:
        query = {"limit": str(_WATCHED)}
        found = (await call_api_as(who, "GET", "/mutations", member="mutations", query=query))["mutations"]
        stands = {change["id"]: f"{change['state']} {marks(change)}" for change in found}
        for change in reversed(found if seen is not None else []):
            if seen is not None and seen.get(change["id"]) != stands[change["id"]]:
                show(change)
        seen = stands
        await asyncio.sleep(_SECONDS)


def status(*, who: As = None, as_json: Json = False) -> None:
    """Show in ten lines whether all is well: what waits, what was refused, who is active, what needs a person. `sentinel` alone does the same."""
    show_pairs(_lines(answer(_status(who), as_json=as_json)))


async def _status(who: str | None) -> dict[str, Any]:
    """The parts of the status. A part that the caller may not see is the sentence that says why."""
    caller = identity(who)

    async def ask(path: str, member: str, query: Mapping[str, str] | None = None) -> Any:
        try:
            return (await call_api(caller, "GET", path, member=member, query=query))[member]
        except ApiRefused as error:
            return str(error)

    recent = {"since": utc_text(datetime.now(UTC) - timedelta(hours=24)), "limit": str(_NEWEST)}
    parts = {
        "recent": ask("/mutations", "mutations", recent),
        "holds": ask("/holds", "holds", {"limit": "100"}),
        "signals": ask("/signals", "signals"),
        "drift": ask("/drift", "drift", {"cause": "foreign"}),
        "left": ask("/left", "left"),
        "stops": ask("/stops", "stops"),
    }
    answers = await asyncio.gather(*parts.values())
    return {"gateway": caller.url, **dict(zip(parts, answers, strict=True))}


def _lines(found: Mapping[str, Any]) -> dict[str, str]:
    recent: Sequence[Mapping[str, Any]] = found["recent"] if isinstance(found["recent"], list) else []
    count = {state: sum(change["state"] == state for change in recent) for state in ("applied", "denied", "failed")}
    refused = next((change for change in recent if change["state"] == "denied"), None)
    newest = recent[0] if recent else None
    drift = found["drift"]
    foreign = [each for each in drift if each["needs_human"]] if isinstance(drift, list) else drift
    more = "+" if len(recent) == _NEWEST else ""
    return {
        "gateway": found["gateway"],
        "24 hours": f"{len(recent)}{more} changes: " + ", ".join(f"{many} {state}" for state, many in count.items()),
        "active": ", ".join(list(dict.fromkeys(change["actor"] for change in recent))[:5]) or "nobody",
        "newest": f"{_told(newest)}, {newest['state'].replace('_', ' ')}"
        if newest
        else "nothing; `sentinel propose` asks for a change",
        "refused last": f"{_told(refused)}, {refused['rule']}: `sentinel explain {refused['id']}`"
        if refused
        else "nothing",
        "held": _counted(found["holds"], "waits for a person", "wait for a person", "sentinel holds"),
        "stopped": _stopped(found["stops"]),
        "signals": _counted(found["signals"], "is open", "are open", "sentinel signals"),
        "for people": "; ".join(
            dict.fromkeys(
                (
                    _counted(foreign, "change from outside", "changes from outside", "sentinel drift list"),
                    _counted(found["left"], "left by the reconciler", "left by the reconciler", "sentinel left"),
                )
            )
        ),
        "next": "`sentinel changes`, `sentinel watch`, `sentinel --help`",
    }


def _stopped(stops: Any) -> str:
    if isinstance(stops, str):
        return stops
    named = [" ".join(part for part in (each["scope"], each["name"]) if part) for each in stops]
    return f"{', '.join(named[:3])}{' and more' if len(named) > 3 else ''}: `sentinel stops`" if named else "nothing"  # noqa: PLR2004


def _told(change: Mapping[str, Any]) -> str:
    return f"{change['headline']} ({change['actor']})"


def _counted(found: Any, one: str, more: str, command: str) -> str:
    """How many there are, and the command that lists them. A sentence that says why they are not known stands as it is."""
    if isinstance(found, str):
        return found
    return f"{len(found)} {one if len(found) == 1 else more}: `{command}`" if found else "none"
