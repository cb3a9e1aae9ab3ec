"""`sentinel plan-check`: what an apply of a Terraform plan would undo or break, before the apply."""

import json
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from gateway.cli.client import call_api_as
from gateway.cli.options import As, Evidence, Json, motive_body
from gateway.cli.output import console, run, safe, show_json, show_table
from gateway.core.errors import Malformed
from gateway.core.model.motive import Intent, Motivation
from gateway.core.model.plan import Plan, change_to_json
from gateway.core.model.verdict import Verdict
from gateway.core.times import utc_cell

BROKEN = 2
"""Exit code if the plan would not pass; 1 is an error."""


class PlanFormat(StrEnum):
    """How the result is printed."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    MARKDOWN = "markdown"


def plan_check(
    plan: Annotated[Path, typer.Argument(help="What `terraform show -json plan.bin` printed; - for standard input.")],
    *,
    stack: Annotated[str, typer.Option(help="The stack that it is of. Default: the gateway's only one.")] = "",
    output: Annotated[PlanFormat, typer.Option("--format", help="How to print the result.")] = PlanFormat.TEXT,
    root: Annotated[str, typer.Option(help="Path of the stack in its repository, for the locations in SARIF.")] = "",
    intent: Annotated[Intent | None, typer.Option(help="The goal. Default: the motive of the key.")] = None,
    motivation: Annotated[Motivation | None, typer.Option(help="Why now.")] = None,
    evidence: Evidence = None,
    actor: As = None,
    as_json: Json = False,
) -> None:
    """Show which standing claims a Terraform plan would undo, and which bounds and guardrails it would break. Changes nothing.

    The plan is judged as the caller's, so use the key that applies it. The values of secrets stay on this machine.
    Exit code 0: every change would pass. 2: some would be denied or held. 1: the plan could not be checked.
    """
    as_json = as_json or output in (PlanFormat.JSON, PlanFormat.SARIF)
    reply = run(_check(plan, stack, motive_body(intent, motivation, evidence, as_json=as_json), actor), as_json=as_json)
    _print(reply, PlanFormat.JSON if as_json and output is PlanFormat.TEXT else output, plan, root)
    raise typer.Exit(0 if reply["passes"] else BROKEN)


async def _check(path: Path, stack: str, motive: Mapping[str, Any] | None, actor: str | None) -> dict[str, Any]:
    plan = _read(path)
    body: dict[str, Any] = {
        "stack": stack,
        "terraform_version": plan.terraform_version,
        "changes": [change_to_json(change) for change in plan.changes],
        "motive": motive,
    }
    return await call_api_as(actor, "POST", "/plans", default="pipeline", member="passes", body=body)


def _read(path: Path) -> Plan:
    """The plan without its secrets. Raises `errors.Malformed`."""
    from gateway.plans.document import LARGEST_PLAN, read_plan

    try:
        if str(path) == "-":
            return read_plan(sys.stdin.buffer.read(LARGEST_PLAN + 1))
        with path.open("rb") as file:
            return read_plan(file.read(LARGEST_PLAN + 1))
    except OSError as error:
        raise Malformed(f"{path} cannot be read: {error.strerror}.") from error


def _print(reply: Mapping[str, Any], output: PlanFormat, plan: Path, root: str) -> None:
    if output is PlanFormat.JSON:
        show_json(reply)
    elif output is PlanFormat.SARIF:
        from gateway.plans.report import plan_sarif

        show_json(plan_sarif(reply, plan_file="plan.json" if str(plan) == "-" else plan.name, root=root))
    elif output is PlanFormat.MARKDOWN:
        from gateway.plans.report import plan_markdown

        sys.stdout.write(plan_markdown(reply))
    else:
        _print_text(reply)


def _print_text(reply: Mapping[str, Any]) -> None:
    from gateway.plans.report import plan_headline, unjudged_note

    console.print(safe(plan_headline(reply)))
    for finding in reply["decision"]["findings"]:
        verdict = "denied" if finding["verdict"] == Verdict.DENY else "held"
        place = reply["places"].get(finding["address"], "")
        console.print(
            f"  {verdict}: {safe(finding['reason'])} \\[{safe(finding['rule'])}]" + (f" {safe(place)}" if place else "")
        )
    if note := unjudged_note(reply):
        console.print(f"  {safe(note)}")
    if reply["claims"]:
        show_table("Claims that the plan contests", _COLUMNS, [_row(each) for each in reply["claims"]])


_COLUMNS = ("holder", "attribute", "claimed", "planned", "until", "after an apply")
_FATES = {"kept": "stays, the change is refused", "undone": "ends", "held": "a human decides"}


def _row(claim: Mapping[str, Any]) -> list[str]:
    return [
        claim["holder"],
        f"{claim['address']}.{claim['attribute']}",
        json.dumps(claim["value"], ensure_ascii=False),
        json.dumps(claim["planned"], ensure_ascii=False),
        utc_cell(claim["until"]),
        _FATES[claim["fate"]],
    ]
