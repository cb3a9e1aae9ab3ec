"""`sentinel propose`, `approve`, `reject`, `release`: ask for a change, and consent to one."""

import json
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from gateway.cli.client import HELD, ApiRefused, ask_as, mutation_path
from gateway.cli.output import console, fail, run, safe, show_json
from gateway.errors import Malformed
from gateway.model.motive import Intent, Motivation
from gateway.model.verdict import Verdict

Json = Annotated[bool, typer.Option("--json", help="Print the API's answer as JSON.")]
As = Annotated[str, typer.Option("--as", help="Whose credentials of a running `sentinel up` to use.")]

_EXIT = {Verdict.HOLD: 3, Verdict.DENY: 1}
"""Exit codes by verdict; a denial that is not a dry run is the API's refusal, which ends the command before."""


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
    """Ask for a change of AWS, named as boto3 names it, and hear what was decided.

    Exit code 0: applied, or with --dry-run: it would be. 3: held until a human approves. 1: refused or failed. 2: a mistyped command.
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
        fail(Malformed("A motive is an intent and a motivation: give both --intent and --motivation."), as_json=as_json)
    told = run(_proposed(body, parameters, key, actor), as_json=as_json)
    if as_json:
        show_json(told)
    else:
        _told(told)
    raise typer.Exit(_EXIT.get((told.get("decision") or {}).get("verdict", ""), 0))


async def _proposed(body: Mapping[str, Any], parameters: str, key: str, actor: str) -> dict[str, Any]:
    """The API's answer; that of a held call too."""
    headers = {"Idempotency-Key": key} if key else {}
    whole = {**body, "parameters": _parameters(parameters)}
    try:
        return await ask_as(actor, "POST", "/mutations", holds="mutation", body=whole, headers=headers)
    except ApiRefused as refused:
        if refused.status != HELD:
            raise
        return dict(refused.document)


def _parameters(text: str) -> dict[str, Any]:
    try:
        given = json.loads(text)
    except ValueError as error:
        raise Malformed(f"The parameters are not JSON: {error}.") from error
    if not isinstance(given, dict):
        raise Malformed('The parameters must be a JSON object, e.g. {"DesiredCapacity": 6}.')
    return given


def _told(document: Mapping[str, Any]) -> None:
    decision = document.get("decision") or {}
    verdict = decision.get("verdict", "repeated")
    id_ = document["mutation"]["id"]
    if document.get("dry_run"):
        console.print(f"Would be: {verdict}. Nothing was changed (mutation {safe(id_)}).")
    elif verdict == Verdict.HOLD:
        console.print(safe(document["detail"]))
    else:
        console.print(f"{'Done before, not again' if verdict == 'repeated' else 'Applied'} (mutation {safe(id_)}).")
    for finding in decision.get("findings", ()):
        if finding["verdict"] != Verdict.ALLOW:
            console.print(f"  {finding['verdict']}: {safe(finding['reason'])} \\[{safe(finding['rule'])}]")


def approve(
    mutation_id: Annotated[str, typer.Argument(help="The held mutation, mut_…")],
    *,
    lasts: Annotated[str, typer.Option(help="How long the consent waits for the identical call.")] = "1h",
    actor: As = "human",
    as_json: Json = False,
) -> None:
    """Consent to exactly one held call. The asker then repeats the identical call, and it is applied once."""
    given = run(_acted(actor, mutation_id, "approve", "until", body={"lasts": lasts}), as_json=as_json)
    if as_json:
        show_json(given)
    else:
        console.print(
            f"Approved {mutation_id} until {safe(given['until'])}. The identical call, repeated by the same actor, is applied once."
        )


def reject(
    mutation_id: Annotated[str, typer.Argument(help="The held mutation, mut_…")],
    *,
    reason: Annotated[str, typer.Option(help="Why; the asker and the ledger are told.")] = "",
    actor: As = "human",
    as_json: Json = False,
) -> None:
    """Refuse a held call for good."""
    given = run(_acted(actor, mutation_id, "reject", "rejected_by", body={"reason": reason}), as_json=as_json)
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
    given = run(_acted(actor, mutation_id, "release", "released"), as_json=as_json)
    if as_json:
        show_json(given)
    else:
        console.print(f"Released {len(given['released'])} claim(s) of {mutation_id}.")


async def _acted(
    actor: str, mutation_id: str, act: str, holds: str, body: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    return await ask_as(actor, "POST", mutation_path(mutation_id, act), holds=holds, body=body)
