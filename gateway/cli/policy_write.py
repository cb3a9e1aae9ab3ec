"""`sentinel policy new`, `lint`, `fmt`, `schema`, `diff` and `bench`: what authors of policies write them with."""

import asyncio
import json
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.options import As, Json
from gateway.cli.output import console, fail, log_to_stderr, run, safe, show_json, show_table
from gateway.cli.policy_eval import Directory, open_bundle
from gateway.cli.policy_replay import FLIPPED, pages_of
from gateway.core.errors import PolicyInvalid, SentinelError, TryLater

if TYPE_CHECKING:
    from gateway.policy.replay_report import ReplayReport

_MISTAKES = 1


def require_opa() -> Path:
    """The compiler. Raises `errors.PolicyInvalid` that says how to get it."""
    from gateway.policy import opa_command

    tool = opa_command.find_opa()
    if tool is None:
        from gateway.policy.bundle import GET_OPA

        raise PolicyInvalid(f"There is no `opa` on PATH. {GET_OPA} Then try again.")
    return tool


class Draft(StrEnum):
    """What can be drafted."""

    GUARDRAIL = "guardrail"
    APPROVER = "approver"


def new_command(
    draft: Annotated[Draft, typer.Argument(help="guardrail: what is refused or held; approver: who must approve.")],
    name: Annotated[str, typer.Argument(help="Name of its package, e.g. required_tags.")],
    path: Annotated[Path, typer.Option("--path", help="Directory of your policies.")] = Path("policies"),
    rule: Annotated[str, typer.Option("--id", help="Id of a guardrail's rule. Default: made of the name.")] = "",
    *,
    as_json: Json = False,
) -> None:
    """Write a guardrail or an approver rule with its test from a template; both pass as they are. Then say what the rule is about."""
    from gateway.policy.drafts import new_approver, new_guardrail

    try:
        if draft is Draft.APPROVER:
            files = new_approver(path, name)
        else:
            files = new_guardrail(path, name, rule or f"ACME-{name.upper().replace('_', '-')}-1")
    except SentinelError as error:
        fail(error, as_json=as_json)
    if as_json:
        show_json({"files": [str(file) for file in files]})
        return
    for file in files:
        console.print(safe(f"Wrote {file}."))


def lint_command(path: Directory = None, *, as_json: Json = False) -> None:
    """Find mistakes in policies that compile: misspelt members, rules without ids, idle stages, built-ins that no gateway has.

    What regal finds too, if it is on PATH; it says so if there is none.

    Exit code 1 if there are any.
    """
    from gateway.policy.lint import find_regal, lint
    from gateway.policy.sources import shipped

    regal = find_regal()
    try:
        mistakes = lint(path or shipped(), require_opa())
    except SentinelError as error:
        fail(error, as_json=as_json)
    if as_json:
        show_json({"mistakes": mistakes, "regal": None if regal is None else str(regal)})
    elif regal is None:
        typer.echo("There is no `regal` on PATH, so its rules were not checked.", err=True)
    for mistake in () if as_json else mistakes:
        typer.echo(mistake)
    if not mistakes and not as_json:
        typer.echo("No mistakes.")
    raise typer.Exit(_MISTAKES if mistakes else 0)


def fmt_command(
    path: Directory = None,
    *,
    check: Annotated[bool, typer.Option("--check", help="Only name the files; exit code 1 if there are any.")] = False,
    as_json: Json = False,
) -> None:
    """Format the policies, and name the files that were not."""
    from gateway.policy.opa_command import opa_output
    from gateway.policy.sources import shipped

    directory = path or shipped()
    try:
        tool = require_opa()
        files = opa_output(tool, ["fmt", "--list", "."], cwd=directory)
        if files and not check:
            opa_output(tool, ["fmt", "--write", "."], cwd=directory)
    except SentinelError as error:
        fail(error, as_json=as_json)
    names = files.split()
    if as_json:
        show_json({"files": names})
    elif names:
        typer.echo("\n".join(names))
    raise typer.Exit(_MISTAKES if check and names else 0)


def schema_command() -> None:
    """Print the JSON schema of the policies' input, with its version."""
    from gateway.policy.input_schema import published_schema

    sys.stdout.write(published_schema())


def diff_command(
    old: Annotated[Path, typer.Argument(help="Directory of the policies as they were.")],
    new: Annotated[Path, typer.Argument(help="Directory of the policies as they are.")],
    *,
    recorded: Annotated[bool, typer.Option("--recorded", help="Also every recorded decision of the gateway.")] = False,
    since: Annotated[str, typer.Option(help="With --recorded: from when on, as in `7d`. Default: everything.")] = "",
    actor: As = None,
    as_json: Json = False,
) -> None:
    """Show what two directories of policies decide differently, on a generated corpus of changes and on the recorded ones.

    Exit code 0: nothing. 2: something.
    """
    log_to_stderr()
    report = run(_diff(old, new, since if recorded else None, actor), as_json=as_json)
    if as_json:
        show_json(report.to_json())
    else:
        for line in report.lines():
            console.print(safe(line))
    raise typer.Exit(FLIPPED if report.flips else 0)


async def _diff(old: Path, new: Path, since: str | None, actor: str | None) -> "ReplayReport":
    from gateway.policy.policy_diff import between, generated_page
    from gateway.policy.replay_report import ReplayReport

    report = ReplayReport()
    engines = [await asyncio.to_thread(open_bundle, directory) for directory in (old, new)]
    try:
        report.add(await generated_page(engines[0], engines[1]))
        if since is not None:
            before = pages_of(actor, engines[0].bundle, since)
            after = pages_of(actor, engines[1].bundle, since)
            async for page in before:
                other = await anext(after)
                if _size(page) != _size(other):
                    raise TryLater("Decisions were made while they were compared. Nothing was changed; run it again.")
                report.add(between(page, other))
    finally:
        for engine in engines:
            await engine.close()
    return report


def _size(page: Mapping[str, Any]) -> tuple[int | None, int]:
    """Where a page ends and how many decisions it is about: equal for equal pages."""
    return page["next"], page["replayed"] + sum(page["not_replayed"].values())


def bench_command(
    document: Annotated[Path, typer.Argument(help="A JSON file with an input document (policies/README.md).")],
    entrypoint: Annotated[str, typer.Option(help="The rule to evaluate.")] = "sentinel/guardrails/result",
    path: Directory = None,
    *,
    as_json: Json = False,
) -> None:
    """Show what each rule costs on an input, the dearest first."""
    log_to_stderr()
    try:
        shown = _bench(document, entrypoint, path)
    except SentinelError as error:
        fail(error, as_json=as_json)
    if as_json:
        show_json(shown)
        return
    rows = [
        [each["rule"], f"{each['microseconds']:.1f}", str(each["evaluations"]), each["source"]]
        for each in shown["rules"]
    ]
    show_table("Cost of one question, by opa's profiler", ["rule", "µs", "evaluations", "source"], rows)


def _bench(document: Path, entrypoint: str, path: Path | None) -> dict[str, Any]:
    from gateway.policy.bundle import rule_texts
    from gateway.policy.rule_costs import rule_costs
    from gateway.policy.sources import shipped

    directory, tool = path or shipped(), require_opa()
    try:
        given = json.loads(document.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise PolicyInvalid(f"{document} cannot be read as JSON: {error}") from error
    costs = rule_costs(directory, tool, entrypoint, given, rule_texts(directory, tool))
    return {
        "rules": [
            {
                "rule": each.rule,
                "source": each.source,
                "microseconds": each.microseconds,
                "evaluations": each.evaluations,
            }
            for each in costs
        ]
    }
