"""`sentinel settle`: record what a human found out about a mutation in doubt."""

from typing import Annotated, Any

import typer

from gateway.cli.client import act_on_mutation
from gateway.cli.options import As, Json
from gateway.cli.output import console, fail, run, show_json
from gateway.errors import Malformed


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
    reply = run(_settle(actor, mutation_id, "applied" if applied else "failed", reason), as_json=as_json)
    if as_json:
        show_json(reply)
    else:
        console.print(f"Settled {mutation_id} as {'applied' if applied else 'failed'}.")


async def _settle(actor: str | None, mutation_id: str, outcome: str, reason: str) -> dict[str, Any]:
    body = {"outcome": outcome, "reason": reason}
    return await act_on_mutation(actor, mutation_id, "settle", member="outcome", body=body)
