"""`sentinel break-glass`: pass a held call at once, in an emergency."""

from typing import Annotated

import typer

from gateway.cli.client import act_on_mutation
from gateway.cli.options import As, Json
from gateway.cli.output import console, run, safe, show_json


def break_glass(
    mutation_id: Annotated[str, typer.Argument(help="The held mutation, mut_…")],
    *,
    reason: Annotated[str, typer.Option(help="What the emergency is. Recorded for good.")],
    actor: As = None,
    as_json: Json = False,
) -> None:
    """Pass a held call at once, without those who may approve it, even if it is your own. Needs the role `break-glass`.

    The identical call then passes once within an hour. A record of its own says who did it and why; denials stay denials.
    """
    body = {"reason": reason}
    reply = run(act_on_mutation(actor, mutation_id, "break-glass", member="passed_by", body=body), as_json=as_json)
    if as_json:
        show_json(reply)
        return
    console.print(f"Passed {mutation_id} until {safe(reply['until'])}. It is recorded with your name and reason.")
