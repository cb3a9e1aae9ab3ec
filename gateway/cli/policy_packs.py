"""`sentinel policy packs`: the packs of guardrails with their rules, controls and stages, and what rules at `warn` would have refused."""

import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from gateway.cli.client import call_api, identity
from gateway.cli.options import As, Json, time_of
from gateway.cli.output import answer, console, log_to_stderr, safe, show_json, show_table
from gateway.cli.policy_eval import Directory

if TYPE_CHECKING:
    from gateway.policy.bundle import Bundle

_MOST_DECISIONS: Final = 1000
"""The API lists no more at once."""


def packs_command(
    path: Directory = None,
    *,
    recorded: Annotated[
        bool,
        typer.Option(
            "--recorded",
            help="Also what rules at `warn` would have refused or held, of the gateway's newest 1,000 decisions, and who changed a stage last.",
        ),
    ] = False,
    since: Annotated[str, typer.Option(help="With --recorded: from when on, as in `7d`. Default: everything.")] = "",
    actor: As = None,
    as_json: Json = False,
) -> None:
    """List the packs: the stage of each, its rules with their stages, and the controls that they serve (CIS AWS, AWS FSBP)."""
    from gateway.policy.sources import shipped

    log_to_stderr()
    shown = answer(_shown(path or shipped(), since if recorded else None, actor), as_json=as_json)
    if as_json:
        show_json(shown)
        return
    for pack in shown["packs"]:
        rows = [_row(rule) for rule in pack["rules"]]
        title = f"{pack['pack']} ({pack['stage']}): {pack['about']}"
        show_table(safe(title), ["rule", "what it finds", "stage", "controls", "would have refused"], rows)
    if shown["recorded"] is not None:
        _show_recorded(shown["recorded"])


def _row(rule: Mapping[str, Any]) -> list[str]:
    would = "" if rule["warned"] is None else str(rule["warned"])
    return [rule["rule"], rule["title"], "; ".join(rule["stages"]), ", ".join(rule["controls"]), would]


def _show_recorded(recorded: Mapping[str, Any]) -> None:
    console.print(f"Of the newest {recorded['decisions']} decisions; the newest 1,000 are looked at.")
    staged = recorded["staged"]
    if staged is None:
        console.print("No change of a stage is recorded.")
        return
    entries = json.dumps(staged["entries"], ensure_ascii=False)
    console.print(safe(f"The stages were changed last by {staged['by']} at {staged['at']}, to: {entries}"))


async def _shown(directory: Path, since: str | None, actor: str | None) -> dict[str, Any]:
    """The packs of the policies in a directory. Raises a `SentinelError`."""
    bundle = await asyncio.to_thread(_bundle_of, directory)
    data = json.loads(bundle.data)["data"]
    recorded, warned = (None, None) if since is None else await _recorded(since, actor)
    entries = data.get("stages", {}).get("entries", ())
    return {
        "revision": bundle.revision,
        "packs": [
            {
                "pack": name,
                "about": pack["about"],
                "stage": pack["stage"],
                "rules": [
                    {
                        "rule": rule,
                        "title": bundle.manifest.rules[rule].title if rule in bundle.manifest.rules else "",
                        "controls": controls,
                        "stages": _stages(rule, name, pack["stage"], entries),
                        "warned": None if warned is None else warned[rule],
                    }
                    for rule, controls in pack["controls"].items()
                ],
            }
            for name, pack in data.get("packs", {}).get("by_name", {}).items()
        ],
        "recorded": recorded,
    }


def _bundle_of(directory: Path) -> "Bundle":
    from gateway.policy.bundle import select_bundle

    with tempfile.TemporaryDirectory() as scratch:
        return select_bundle(directory, Path(scratch))


def _stages(rule: str, pack: str, usual: str, entries: Sequence[Mapping[str, str]]) -> list[str]:
    """The stage of a rule, and then those that hold only for some stacks or kinds of actor: the last one that fits holds."""
    found = [usual]
    for entry in entries:
        if entry.get("rule", rule) != rule or entry.get("pack", pack) != pack:
            continue
        scope = [f"{name} {entry[name]}" for name in ("stack", "kind") if entry.get(name, "*") != "*"]
        if not scope:
            found = [entry["stage"]]
        else:
            found.append(f"{entry['stage']} for {' and '.join(scope)}")
    return found


async def _recorded(since: str, actor: str | None) -> tuple[dict[str, Any], Counter[str]]:
    """The last change of the stages and the number of decisions, and by rule how many of these it would have refused or held."""
    caller, start = identity(actor, default="human"), time_of(since)
    query = {"stage": "decided", "limit": str(_MOST_DECISIONS)} | ({"since": start.isoformat()} if start else {})
    decided = (await call_api(caller, "GET", "/records", member="records", query=query))["records"]
    staged = await call_api(caller, "GET", "/records", member="records", query={"stage": "policy_staged", "limit": "1"})
    warned: Counter[str] = Counter()
    for record in decided:
        warned.update({each["rule"] for each in record["body"]["decision"].get("warned", ())})
    last = next(
        (
            {
                "by": each["actor"],
                "at": each["at"],
                "entries": each["body"]["entries"],
                "before": each["body"]["before"],
            }
            for each in staged["records"]
        ),
        None,
    )
    return {"decisions": len(decided), "staged": last}, warned
