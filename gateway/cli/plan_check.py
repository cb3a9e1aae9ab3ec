"""`sentinel plan-check`: what an apply of a Terraform plan would undo or break, before the apply."""

import json
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from gateway.cli.client import CliIdentity, identity
from gateway.cli.options import As, Evidence, Json, motive_body
from gateway.cli.output import AnyConsole, console, error_console, run, safe, show_json, show_table
from gateway.cli.plan_session import PlanRequest, ask, next_step, session_variables
from gateway.cli.session import print_export_lines
from gateway.core.errors import Malformed
from gateway.core.model.motive import Intent, Motivation
from gateway.core.model.plan import Plan
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
    open_session: Annotated[
        bool, typer.Option(help="Open a session in which the plan is applied, and print export lines for the shell.")
    ] = False,
    lasts: Annotated[str, typer.Option("--lasts", "--for", help="How long that session lasts, at most 12h.")] = "1h",
    actor: As = None,
    as_json: Json = False,
) -> None:
    """Show which standing claims a Terraform plan would undo, and which bounds and guardrails it would break. Changes nothing.

    The plan is judged as the caller's, so use the key that applies it. The values of secrets stay on this machine.
    Exit code 0: every change would pass in the session of the plan. 2: some would be denied or held, or nobody understands their calls.
    1: the plan could not be checked.
    """
    as_json = as_json or output in (PlanFormat.JSON, PlanFormat.SARIF)
    motive = motive_body(intent, motivation, evidence, as_json=as_json)
    if open_session:
        _open(plan, stack, motive, lasts, actor, as_json=as_json)
    reply = run(_check(plan, stack, motive, actor), as_json=as_json)
    _print(reply, PlanFormat.JSON if as_json and output is PlanFormat.TEXT else output, plan, root)
    raise typer.Exit(0 if reply["passes"] else BROKEN)


async def _check(path: Path, stack: str, motive: Mapping[str, Any] | None, actor: str | None) -> dict[str, Any]:
    caller = identity(actor, default="pipeline")
    return await ask(caller, PlanRequest(plan=_read(path, caller), stack=stack, motive=motive))


def _open(
    path: Path, stack: str, motive: Mapping[str, Any] | None, lasts: str, actor: str | None, *, as_json: bool
) -> NoReturn:
    """Open a session, and print its environment: export lines that a shell evaluates, or JSON. What is said about the plan goes to
    standard error.
    """
    caller, report = run(_opened(path, stack, motive, lasts, actor), as_json=as_json)
    variables = session_variables(caller, report) if report["session"] is not None else {}
    if as_json:
        show_json({**report, "environment": variables})
    elif variables:
        print_export_lines(variables)
    else:
        print_report(report, on=error_console)
        error_console.print(safe(next_step(report)))
    raise typer.Exit(0 if variables else BROKEN)


async def _opened(
    path: Path, stack: str, motive: Mapping[str, Any] | None, lasts: str, actor: str | None
) -> tuple[CliIdentity, dict[str, Any]]:
    caller = identity(actor, default="pipeline")
    return caller, await ask(caller, PlanRequest(plan=_read(path, caller), stack=stack, motive=motive, lasts=lasts))


def _read(path: Path, caller: CliIdentity) -> Plan:
    """The plan without its secrets. Raises `errors.Malformed`."""
    from gateway.plans.document import LARGEST_PLAN, read_plan

    try:
        if str(path) == "-":
            return read_plan(sys.stdin.buffer.read(LARGEST_PLAN + 1), mark_key=caller.mark_key)
        with path.open("rb") as file:
            return read_plan(file.read(LARGEST_PLAN + 1), mark_key=caller.mark_key)
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
        print_report(reply)


def print_report(reply: Mapping[str, Any], *, on: AnyConsole = console) -> None:
    """Print what is said about a plan, as text."""
    from gateway.plans.report import not_understood_notes, plan_headline, unjudged_note

    on.print(safe(plan_headline(reply)))
    for finding in reply["decision"]["findings"]:
        on.print(_objection(finding, reply["places"].get(finding["address"], "")))
    for note in not_understood_notes(reply):
        on.print(f"  {safe(note)}")
    if cost := reply.get("cost"):  # an older gateway tells none
        on.print(f"  {safe(cost['text'])}")
    if note := unjudged_note(reply):
        on.print(f"  {safe(note)}")
    if reply["claims"]:
        show_table("Claims that the plan contests", _COLUMNS, [_row(each) for each in reply["claims"]])


def _objection(finding: Mapping[str, Any], place: str) -> str:
    """A line about a finding; it begins with the resource where the reason does not name it, because a plan has many."""
    verdict = "denied" if finding["verdict"] == Verdict.DENY else "held"
    address, reason = finding["address"], finding["reason"]
    about = f"{address}: " if address and address not in reason else ""
    return f"  {verdict}: {safe(about + reason)} \\[{safe(finding['rule'])}]" + (f" {safe(place)}" if place else "")


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
