"""`sentinel propose`, `approve`, `reject` and `release`: request a change, and decide on a held one."""

import json
import sys
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from gateway.cli.client import HELD, ApiRefused, act_on_mutation, call_api_as
from gateway.cli.holds import request_hold, show_hold
from gateway.cli.options import As, Json
from gateway.cli.output import console, fail, run, safe, show_json
from gateway.errors import Malformed
from gateway.model.motive import Intent, Motivation
from gateway.model.verdict import Verdict

_EXIT = {Verdict.HOLD: 3, Verdict.DENY: 1}
"""Exit code by verdict, 0 for any other. A denial outside a dry run is an API error and never gets this far."""


def propose(
    service: Annotated[str, typer.Argument(help="AWS service by its boto3 name, e.g. autoscaling.")],
    operation: Annotated[str, typer.Argument(help="Operation, e.g. SetDesiredCapacity or set_desired_capacity.")],
    parameters: Annotated[str, typer.Argument(help="Parameters as a JSON object.")] = "{}",
    *,
    intent: Annotated[Intent | None, typer.Option(help="The goal.")] = None,
    motivation: Annotated[Motivation | None, typer.Option(help="Why now.")] = None,
    why: Annotated[str, typer.Option(help="Free text.")] = "",
    evidence: Annotated[list[str] | None, typer.Option(help="An alert, a CVE or a ticket. May be repeated.")] = None,
    wanted_for: Annotated[str, typer.Option("--for", help="How long the change is wanted, e.g. 1h.")] = "",
    region: Annotated[str, typer.Option(help="AWS region. Default: the gateway's.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show the decision; change nothing.")] = False,
    key: Annotated[
        str, typer.Option("--idempotency-key", help="A change with the same key is applied only once.")
    ] = "",
    actor: As = None,
    as_json: Json = False,
) -> None:
    """Request an AWS change, by its boto3 names, and show the decision.

    Exit code 0: applied (with --dry-run: it would be). 3: held until a human approves. 1: refused or failed. 2: usage error.
    """
    body: dict[str, Any] = {"service": service, "operation": operation, "dry_run": dry_run, "region": region}
    if intent and motivation:
        body["motive"] = {
            "intent": intent.value,
            "motivation": motivation.value,
            "text": why,
            "evidence": evidence or [],
            "wanted_for": wanted_for,
        }
    elif intent or motivation or why or evidence or wanted_for:
        fail(Malformed("A motive needs both --intent and --motivation."), as_json=as_json)
    reply = run(_propose(body, parameters, key, actor), as_json=as_json)
    if as_json:
        show_json(reply)
    else:
        _print_decision(reply)
    raise typer.Exit(_EXIT.get((reply.get("decision") or {}).get("verdict", ""), 0))


async def _propose(body: Mapping[str, Any], parameters: str, key: str, actor: str | None) -> dict[str, Any]:
    """The API's reply. That a mutation is held is a reply too, not an error."""
    headers = {"Idempotency-Key": key} if key else {}
    request = {**body, "parameters": _parameters(parameters)}
    try:
        return await call_api_as(
            actor, "POST", "/mutations", default="agent", member="mutation", body=request, headers=headers
        )
    except ApiRefused as refused:
        if refused.status != HELD:
            raise
        return dict(refused.document)


def _parameters(text: str) -> dict[str, Any]:
    try:
        parameters = json.loads(text)
    except ValueError as error:
        raise Malformed(f"The parameters are not JSON: {error}.") from error
    if not isinstance(parameters, dict):
        raise Malformed('The parameters must be a JSON object, e.g. {"DesiredCapacity": 6}.')
    return parameters


def _print_decision(reply: Mapping[str, Any]) -> None:
    decision = reply.get("decision") or {}
    verdict = decision.get("verdict", "repeated")
    id_ = reply["mutation"]["id"]
    if reply.get("dry_run"):
        console.print(f"Dry run: {verdict}. Nothing was changed (mutation {safe(id_)}).")
    elif verdict == Verdict.HOLD:
        console.print(safe(reply["detail"]))
    else:
        console.print(f"{'Applied before, not again' if verdict == 'repeated' else 'Applied'} (mutation {safe(id_)}).")
    for finding in decision.get("findings", ()):
        if finding["verdict"] != Verdict.ALLOW:
            console.print(f"  {finding['verdict']}: {safe(finding['reason'])} \\[{safe(finding['rule'])}]")


def approve(
    mutation_id: Annotated[str, typer.Argument(help="The held mutation, mut_…")],
    *,
    lasts: Annotated[str, typer.Option(help="How long the approval is valid for the identical call, e.g. 1h.")] = "1h",
    reason: Annotated[str, typer.Option(help="Why; recorded and shown to the requester.")] = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    actor: As = None,
    as_json: Json = False,
) -> None:
    """Show one held call and approve it. The caller then repeats the identical call, and it is applied once.

    The approval is for what is shown: if the motive, the effects, the reasons, the code or the policies change before the call is
    repeated, it is held again.
    """
    if not as_json:
        show_hold(run(request_hold(actor, mutation_id)))
        if _at_a_terminal() and not yes and not typer.confirm("Approve exactly this call?"):
            console.print("Not approved. Nothing was changed.")
            raise typer.Exit(1)
    body = {"lasts": lasts, "reason": reason}
    reply = run(act_on_mutation(actor, mutation_id, "approve", member="until", body=body), as_json=as_json)
    if as_json:
        show_json(reply)
    elif reply["missing"]:
        console.print(
            f"You approved {mutation_id}. {reply['missing']} more must, by {safe(reply['until'])}, before it passes; so far: {safe(', '.join(reply['approvers']))}."
        )
    else:
        console.print(
            f"Approved {mutation_id} until {safe(reply['until'])}. When the same actor repeats the identical call, it is applied once."
        )


def _at_a_terminal() -> bool:
    return sys.stdin.isatty()


def reject(
    mutation_id: Annotated[str, typer.Argument(help="The held mutation, mut_…")],
    *,
    reason: Annotated[str, typer.Option(help="Why. Shown to the caller and recorded in the ledger.")] = "",
    actor: As = None,
    as_json: Json = False,
) -> None:
    """Reject a held call. It cannot be approved afterwards."""
    reply = run(
        act_on_mutation(actor, mutation_id, "reject", member="rejected_by", body={"reason": reason}), as_json=as_json
    )
    if as_json:
        show_json(reply)
    else:
        console.print(f"Rejected {mutation_id}.")


def release(
    mutation_id: Annotated[str, typer.Argument(help="The mutation whose claims to end, mut_…")],
    *,
    actor: As = None,
    as_json: Json = False,
) -> None:
    """End a mutation's claims early, so that other actors may change the claimed attributes."""
    reply = run(act_on_mutation(actor, mutation_id, "release", member="released"), as_json=as_json)
    if as_json:
        show_json(reply)
    else:
        console.print(f"Released {len(reply['released'])} claim(s) of {mutation_id}.")
