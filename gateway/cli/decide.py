"""`sentinel propose`, `approve`, `reject`, `release`: ask for a change, and consent to one."""

import json
from typing import Annotated, Any

import typer
from rich.markup import escape

from gateway.cli.client import ApiRefused, ask_as
from gateway.cli.output import console, run, show_json
from gateway.errors import Malformed
from gateway.model.motive import Intent, Motivation

Json = Annotated[bool, typer.Option("--json", help="Print the API's answer as JSON.")]
As = Annotated[str, typer.Option("--as", help="Whose credentials of a running `sentinel up` to use.")]


def propose(
    service: Annotated[str, typer.Argument(help="AWS service as boto3 names it, e.g. autoscaling.")],
    operation: Annotated[str, typer.Argument(help="Operation, e.g. SetDesiredCapacity.")],
    parameters: Annotated[str, typer.Argument(help="Parameters as a JSON object.")] = "{}",
    *,
    intent: Annotated[Intent | None, typer.Option(help="The goal.")] = None,
    motivation: Annotated[Motivation | None, typer.Option(help="Why now.")] = None,
    why: Annotated[str, typer.Option(help="Free words.")] = "",
    evidence: Annotated[list[str] | None, typer.Option(help="An alert, a CVE, a ticket. May be given often.")] = None,
    wanted_for: Annotated[str, typer.Option("--for", help="How long the change is wanted, e.g. 1h.")] = "",
    region: Annotated[str, typer.Option(help="AWS region; default the gateway's.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only hear the decision.")] = False,
    key: Annotated[str, typer.Option("--idempotency-key", help="The same key never applies twice.")] = "",
    actor: As = "agent",
    as_json: Json = False,
) -> None:
    """Ask for a change of AWS and print what was decided. Exit code 0: applied (or would be), 2: held, 1: refused or failed."""
    body: dict[str, Any] = {"service": service, "operation": operation, "dry_run": dry_run, "region": region}
    if intent and motivation:
        body["motive"] = {
            "intent": intent.value,
            "motivation": motivation.value,
            "text": why,
            "evidence": evidence or [],
            "wanted_for": wanted_for,
        }
    run(_propose(body, parameters, key, actor, as_json=as_json), as_json=as_json)


async def _propose(body: dict[str, Any], parameters: str, key: str, actor: str, *, as_json: bool) -> None:
    try:
        body["parameters"] = json.loads(parameters)
    except ValueError as error:
        raise Malformed(f"The parameters are not a JSON object: {error}.") from error
    headers = {"Idempotency-Key": key} if key else {}
    try:
        told = await ask_as(actor, "POST", "/mutations", body=body, headers=headers)
    except ApiRefused as refused:
        if refused.status != 202:  # noqa: PLR2004  202: held for a human
            raise
        _show(dict(refused.document), str(refused), as_json=as_json)
        raise typer.Exit(2) from refused
    verdict = told["decision"]["verdict"] if told.get("decision") else "repeated"
    _show(
        told,
        f"{'Would be ' if told.get('dry_run') else ''}{verdict} (mutation {told['mutation']['id']})",
        as_json=as_json,
    )
    if verdict not in ("allow", "repeated"):
        raise typer.Exit(2 if verdict == "hold" else 1)


def _show(document: dict[str, Any], sentence: str, *, as_json: bool) -> None:
    if as_json:
        show_json(document)
        return
    console.print(escape(sentence))
    for finding in (document.get("decision") or {}).get("findings", ()):
        if finding["verdict"] != "allow":
            console.print(f"  {finding['verdict']}: {escape(finding['reason'])} \\[{escape(finding['rule'])}]")


def approve(
    mutation_id: Annotated[str, typer.Argument(help="The held mutation, mut_…")],
    *,
    lasts: Annotated[str, typer.Option(help="How long the consent waits for the identical call.")] = "1h",
    actor: As = "human",
    as_json: Json = False,
) -> None:
    """Consent to exactly one held call. The asker then repeats the identical call, and it is applied once."""
    given = run(ask_as(actor, "POST", f"/mutations/{mutation_id}/approve", body={"lasts": lasts}), as_json=as_json)
    if as_json:
        show_json(given)
    else:
        console.print(
            f"Approved {mutation_id} until {given['until']}. The identical call, repeated by the same actor, is applied once."
        )


def reject(
    mutation_id: Annotated[str, typer.Argument(help="The held mutation, mut_…")],
    *,
    reason: Annotated[str, typer.Option(help="Why; the asker and the ledger are told.")] = "",
    actor: As = "human",
    as_json: Json = False,
) -> None:
    """Refuse a held call for good."""
    given = run(ask_as(actor, "POST", f"/mutations/{mutation_id}/reject", body={"reason": reason}), as_json=as_json)
    if as_json:
        show_json(given)
    else:
        console.print(f"Rejected {mutation_id}.")


def release(
    mutation_id: Annotated[str, typer.Argument(help="The mutation whose claims are to end, mut_…")],
    *,
    actor: As = "human",
    as_json: Json = False,
) -> None:
    """End a mutation's claims before their time, so that others may change what it holds."""
    given = run(ask_as(actor, "POST", f"/mutations/{mutation_id}/release"), as_json=as_json)
    if as_json:
        show_json(given)
    else:
        console.print(f"Released {len(given['released'])} claim(s) of {mutation_id}.")
