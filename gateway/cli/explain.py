"""`sentinel explain`: why a mutation was decided as it was, and what to do next."""

from typing import Annotated

import typer

from gateway.cli.client import call_api_as, mutation_path
from gateway.cli.options import As, Json
from gateway.cli.output import console, run, safe, show_json


def explain(
    mutation_id: Annotated[str, typer.Argument(help="The mutation, mut_…; a refusal names it.")],
    *,
    who: As = None,
    as_json: Json = False,
) -> None:
    """Explain one mutation from its records: every check and rule, the facts, each rival's score, the nearest legal value, when to come back.

    Agents see their own mutations, without other actors' motives and scores; people and pipelines see all.
    """
    document = run(_request(who, mutation_id), as_json=as_json)
    if as_json:
        show_json(document)
        return
    for line in document["text"].splitlines():
        console.print(safe(line))


async def _request(who: str | None, mutation_id: str) -> dict[str, str]:
    return await call_api_as(who, "GET", mutation_path(mutation_id, "explanation"), member="text")
