"""`sentinel propose`, `holds`, `approve`, `reject`, `release`, `break-glass` and `settle`: request a change, and decide on it."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import typer

from gateway.cli.client import HELD, ApiRefused, act_on_mutation, call_api_as, mutation_path
from gateway.cli.options import As, Evidence, Json, Yes, motive_body
from gateway.cli.output import (
    answer,
    change,
    console,
    fail,
    few_changes,
    run,
    safe,
    show_json,
    show_line,
    show_pairs,
    show_table,
)
from gateway.core.errors import Malformed, NotFound, SentinelError
from gateway.core.model.approval import HoldFilter
from gateway.core.model.consequence import consequence
from gateway.core.model.motive import Intent, Motivation
from gateway.core.model.mutation import EffectAction
from gateway.core.model.verdict import Verdict
from gateway.core.texts import by_rule, visible
from gateway.core.times import utc_cell


class NotConfirmed(SentinelError):
    """A decision needs a person's yes, and nobody could be asked."""

    code = "not_confirmed"


_NAMED = 3
"""Holds like the first one that a row of the list names."""


def holds(
    mutation_id: Annotated[str, typer.Argument(help="Show one held mutation with its whole call, mut_…")] = "",
    *,
    state: Annotated[HoldFilter, typer.Option(help="Only in this state.")] = HoldFilter.OPEN,
    limit: Annotated[int, typer.Option(help="Maximum number of mutations.", min=1, max=1000)] = 100,
    actor: As = None,
    as_json: Json = False,
) -> None:
    """List what is held: the operation, the value, the rule and its reason, who asks, and since when.

    People and pipelines see every held mutation, agents their own. With a mutation id, show its whole call, secrets masked.
    """
    if mutation_id:
        show_hold(answer(request_hold(actor, mutation_id), as_json=as_json))
        return
    query = {"state": state.value, "limit": str(limit)}
    reply = answer(call_api_as(actor, "GET", "/holds", member="holds", query=query), as_json=as_json)
    columns = ["since", "requester", "asks for", "why it is held", "who must approve", "mutation"]
    show_table("Holds", columns, [_row(alike) for alike in _groups(reply["holds"])])


async def request_hold(actor: str | None, mutation_id: str) -> dict[str, Any]:
    """One held mutation in any state. Raises `errors.NotFound` if there is none that the caller may see."""
    mutation_path(mutation_id)
    query = {"mutation_id": mutation_id, "state": HoldFilter.ALL.value}
    reply = await call_api_as(actor, "GET", "/holds", member="holds", query=query)
    if not reply["holds"]:
        raise NotFound(
            f"No mutation {mutation_id} that you may see is or was held. `sentinel holds` lists those that are."
        )
    hold: dict[str, Any] = reply["holds"][0]
    return hold


def show_hold(hold: Mapping[str, Any]) -> None:
    """Print everything that an approver decides about: who asks for what and why, the whole call, its effects, and why it is held."""
    motive = hold["motive"] or {}
    show_pairs(
        {
            "mutation": hold["mutation_id"],
            "state": hold["state"],
            "since": utc_cell(hold["since"]),
            "requester": f"{hold['requester']} ({hold['kind']})",
            "on behalf of": hold["on_behalf_of"],
            "operation": _operation(hold),
            "account, region": ", ".join(part for part in (hold["account"], hold["region"]) if part),
            "motive": "/".join(part for part in (motive.get("intent", ""), motive.get("motivation", "")) if part),
            "says": motive.get("text", ""),
            "evidence": ", ".join(motive.get("evidence", ())),
            "approvers": _approvers(hold["approvers"]),
            "approved by": ", ".join(hold.get("approved_by", ())),
            "still missing": _missing(hold),
        }
    )
    for effect in hold["effects"]:
        _show_effect(effect)
    for rule, reasons in by_rule((each["rule"], each["reason"]) for each in hold["reasons"]).items():
        console.print(f"  held: {safe(' '.join(reasons))} \\[{safe(rule)}]")
    console.print(
        "[bold]parameters[/bold]"
        + (
            ""
            if hold["whole"]
            else " (not whole: too large, or a secret in what it runs is masked, so it cannot be approved)"
        )
    )
    console.print(safe(json.dumps(hold["parameters"], indent=2, ensure_ascii=False)))


def _show_effect(effect: Mapping[str, Any]) -> None:
    """One line of what changes, and what goes in red."""
    action = EffectAction(effect["action"])
    line = f"changes {change(effect)}. {consequence(action, effect['attribute'])}".rstrip(". ")
    show_line((f"  {visible(line)}", "bold red" if action is EffectAction.DELETE else ""), on=console)


def _approvers(rule: Mapping[str, Any] | None) -> str:
    """Which people may approve it, and how many must; empty if the hold does not say."""
    if rule is None:
        return ""
    return f"people with the role {', and '.join(' or '.join(wanted) for wanted in rule['roles'])}. {rule['reason']}"


def _groups(held: Sequence[Mapping[str, Any]]) -> Iterable[Sequence[Mapping[str, Any]]]:
    """The holds in their order; those of one requester, operation, reason and approval together, so that many of them do not hide the others."""
    found: dict[tuple[object, ...], list[Mapping[str, Any]]] = {}
    for hold in held:
        rules = tuple(sorted({reason["rule"] for reason in hold["reasons"]}))
        given = tuple(hold.get("approved_by", ()))
        found.setdefault((hold["requester"], _operation(hold), rules, hold["state"], given), []).append(hold)
    return found.values()


def _row(alike: Sequence[Mapping[str, Any]]) -> list[str]:
    hold, *others = alike
    reasons = by_rule((each["rule"], each["reason"]) for each in hold["reasons"])
    return [
        utc_cell(hold["since"]),
        hold["requester"],
        ": ".join(part for part in (_operation(hold), few_changes(hold["effects"])) if part),
        " ".join(f"{' '.join(said)} [{rule}]" for rule, said in reasons.items()),
        "; ".join(part for part in (_approved(hold), _missing(hold)) if part),
        "\n".join([hold["mutation_id"], *_others(others)]),
    ]


def _others(holds: Sequence[Mapping[str, Any]]) -> list[str]:
    if not holds:
        return []
    more = [f"and {len(holds)} more like it:", *(each["mutation_id"] for each in holds[:_NAMED])]
    return [*more, "… (`--json` lists all)"] if len(holds) > _NAMED else more


def _approved(hold: Mapping[str, Any]) -> str:
    """Who has approved it already, in few words."""
    given = hold.get("approved_by", ())
    return f"approved by {', '.join(given)}" if given else ""


def _missing(hold: Mapping[str, Any]) -> str:
    """How many people with which roles must still approve it, in few words; empty if nobody must, or the hold does not say."""
    rule = hold["approvers"]
    if rule is None:
        return ""
    missing = int(hold.get("missing", rule.get("people", 1)))
    if not missing:
        return ""
    roles = " and ".join(" or ".join(wanted) for wanted in rule["roles"])
    return f"{missing} {'more ' if hold.get('approved_by') else ''}{'person' if missing == 1 else 'people'}: {roles}"


def _operation(hold: Mapping[str, Any]) -> str:
    return f"{hold['service']}:{hold['operation']}"


def break_glass(
    mutation_id: Annotated[str, typer.Argument(help="The held mutation, mut_…")],
    *,
    reason: Annotated[str, typer.Option(help="What the emergency is. Recorded for good.")],
    yes: Yes = False,
    actor: As = None,
    as_json: Json = False,
) -> None:
    """Show one held call and pass it at once, without those who may approve it, even if it is your own. Needs the role `break-glass`.

    The identical call then passes once within an hour. A record of its own says who did it and why; denials stay denials.
    """
    _confirm(actor, mutation_id, "Break the glass for exactly this call?", yes=yes, as_json=as_json)
    body = {"reason": reason}
    reply = answer(act_on_mutation(actor, mutation_id, "break-glass", member="passed_by", body=body), as_json=as_json)
    console.print(f"Passed {mutation_id} until {safe(reply['until'])}. It is recorded with your name and reason.")


def settle(
    mutation_id: Annotated[str, typer.Argument(help="The mutation in doubt, mut_…")],
    *,
    applied: Annotated[bool, typer.Option("--applied", help="AWS carried it out.")] = False,
    failed: Annotated[bool, typer.Option("--failed", help="AWS did not carry it out, and will not.")] = False,
    reason: Annotated[str, typer.Option(help="How you found out. Recorded in the ledger with your name.")] = "",
    actor: As = None,
    as_json: Json = False,
) -> None:
    """Settle a mutation in doubt by hand, after you looked at the resource. Nothing is sent to AWS."""
    if applied == failed:
        fail(Malformed("Say what AWS did: either --applied or --failed."), as_json=as_json)
    if not reason.strip():
        fail(Malformed("Say how you found out, with --reason."), as_json=as_json)
    outcome = "applied" if applied else "failed"
    body = {"outcome": outcome, "reason": reason}
    answer(act_on_mutation(actor, mutation_id, "settle", member="outcome", body=body), as_json=as_json)
    console.print(f"Settled {mutation_id} as {outcome}.")


_EXIT = {Verdict.HOLD: 3, Verdict.DENY: 1}
"""Exit code by verdict of what was not applied, 0 for any other. A denial outside a dry run is an API error and never gets this far."""


def propose(
    service: Annotated[str, typer.Argument(help="AWS service by its boto3 name, e.g. autoscaling.")],
    operation: Annotated[str, typer.Argument(help="Operation, e.g. SetDesiredCapacity or set_desired_capacity.")],
    parameters: Annotated[str, typer.Argument(help="Parameters as a JSON object.")] = "{}",
    *,
    intent: Annotated[Intent | None, typer.Option(help="The goal.")] = None,
    motivation: Annotated[Motivation | None, typer.Option(help="Why now.")] = None,
    why: Annotated[str, typer.Option(help="Free text.")] = "",
    evidence: Evidence = None,
    wanted_for: Annotated[
        str, typer.Option("--wanted-for", "--for", help="How long the change is wanted, e.g. 1h.")
    ] = "",
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
    motive = motive_body(intent, motivation, evidence, as_json=as_json, text=why, wanted_for=wanted_for)
    body |= {} if motive is None else {"motive": motive}
    reply = run(_propose(body, parameters, key, actor), as_json=as_json)
    if as_json:
        show_json(reply)
    else:
        _print_decision(reply)
    raise typer.Exit(0 if _is_applied(reply) else _EXIT.get((reply.get("decision") or {}).get("verdict", ""), 0))


def _is_applied(reply: Mapping[str, Any]) -> bool:
    """Whether AWS applied the call, whatever the verdict: a stack that is only observed refuses and holds nothing."""
    return (reply.get("outcome") or {}).get("outcome") == "applied"


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
    elif verdict == Verdict.HOLD and not _is_applied(reply):
        console.print(safe(reply["detail"]))  # with every rule and its reasons
        return
    else:
        console.print(f"{'Applied before, not again' if verdict == 'repeated' else 'Applied'} (mutation {safe(id_)}).")
        if verdict in _EXIT:
            console.print("Sentinel only observes here; enforced, this call would not have passed:")
    against = [each for each in decision.get("findings", ()) if each["verdict"] != Verdict.ALLOW]
    said = by_rule(((each["verdict"], each["rule"]), each["reason"]) for each in against)
    for (found, rule), reasons in said.items():
        console.print(f"  {found}: {safe(' '.join(reasons))} \\[{safe(rule)}]")


def approve(
    mutation_id: Annotated[str, typer.Argument(help="The held mutation, mut_…")],
    *,
    lasts: Annotated[str, typer.Option(help="How long the approval is valid for the identical call, e.g. 1h.")] = "1h",
    reason: Annotated[str, typer.Option(help="Why; recorded and shown to the requester.")] = "",
    yes: Yes = False,
    actor: As = None,
    as_json: Json = False,
) -> None:
    """Show one held call and approve it. The caller then repeats the identical call, and it is applied once.

    The approval is for what is shown: if the motive, the effects, the reasons, the code or the policies change before the call is
    repeated, it is held again.
    """
    _confirm(actor, mutation_id, "Approve exactly this call?", yes=yes, as_json=as_json)
    body = {"lasts": lasts, "reason": reason}
    reply = answer(act_on_mutation(actor, mutation_id, "approve", member="until", body=body), as_json=as_json)
    if reply["missing"]:
        console.print(
            f"You approved {mutation_id}. {reply['missing']} more must, by {safe(reply['until'])}, before it passes; so far: {safe(', '.join(reply['approvers']))}."
        )
    else:
        console.print(
            f"Approved {mutation_id} until {safe(reply['until'])}. When the same actor repeats the identical call, it is applied once."
        )


def _confirm(actor: str | None, mutation_id: str, question: str, *, yes: bool, as_json: bool) -> None:
    """Show the held call and ask the person about it. Ends the command unless they say yes, and where nobody can be asked without `--yes`."""
    if not as_json:
        show_hold(run(request_hold(actor, mutation_id)))
    if yes:
        return
    if as_json or not _at_a_terminal():
        fail(
            NotConfirmed(
                "Nobody was asked, because this is no terminal or --json was given, and nothing was changed. "
                "Look at the call with `sentinel holds`, then give --yes."
            ),
            as_json=as_json,
        )
    if not typer.confirm(question):
        console.print("Nothing was changed.")
        raise typer.Exit(1)


def _at_a_terminal() -> bool:
    return sys.stdin.isatty()


def reject(
    mutation_id: Annotated[str, typer.Argument(help="The held mutation, mut_…")],
    *,
    reason: Annotated[str, typer.Option(help="Why. Shown to the caller and recorded in the ledger.")],
    actor: As = None,
    as_json: Json = False,
) -> None:
    """Reject a held call. It cannot be approved afterwards."""
    answer(
        act_on_mutation(actor, mutation_id, "reject", member="rejected_by", body={"reason": reason}), as_json=as_json
    )
    console.print(f"Rejected {mutation_id}.")


def release(
    mutation_id: Annotated[str, typer.Argument(help="The mutation whose claims to end, mut_…")],
    *,
    actor: As = None,
    as_json: Json = False,
) -> None:
    """End a mutation's claims early, so that other actors may change the claimed attributes."""
    reply = answer(act_on_mutation(actor, mutation_id, "release", member="released"), as_json=as_json)
    console.print(f"Released {len(reply['released'])} claim(s) of {mutation_id}.")
