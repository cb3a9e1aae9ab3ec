"""Answers that several doors give in the same words: resources, their context and history, and claims. Each as its caller may see it."""

from typing import Any

from gateway.context.lookup import ResourceQuery
from gateway.context.ports import HistoryQuery
from gateway.core.model.caller import Caller
from gateway.core.model.claim import Claim
from gateway.doors.api.shared import ApiPorts, told
from gateway.doors.api.time_box_commands import with_ends
from gateway.presentation.serialize import claim_to_json

LONGEST_LIST = 10_000
"""Claims in one answer, as many as the ledger lists."""


async def context_answer(
    context: ApiPorts, caller: Caller, address: str, attribute: str, max_age: float | None
) -> dict[str, Any]:
    """What is known about a resource. Any caller may ask: an agent must know whom it would contradict."""
    return told(caller, await context.readers.context(caller, address, attribute, max_age))


async def resources_answer(context: ApiPorts, caller: Caller, query: ResourceQuery) -> dict[str, Any]:
    """The resources that fit."""
    return told(caller, await context.readers.resources(caller, query))


async def history_answer(context: ApiPorts, caller: Caller, address: str, query: HistoryQuery) -> dict[str, Any]:
    """The changes of a resource, newest first."""
    return told(caller, await context.readers.history(caller, address, query))


async def claims_answer(
    context: ApiPorts,
    caller: Caller,
    *,
    address: str = "",
    actor: str = "",
    mutation_id: str = "",
    every: bool = False,
    before: str = "",
    limit: int = LONGEST_LIST,
) -> dict[str, Any]:
    """Who holds which attribute. Agents see their own claims, and of the resource that they name everybody's, without texts and evidence."""
    # Without an address, agents see only their own: they are asked for as such, so that a page of them is full.
    asked = actor if caller.sees_all or address or actor else caller.actor
    found = await context.queries.claims(
        address=address, actor=asked, mutation_id=mutation_id, open_only=not every, before=before, limit=limit
    )
    seen = [claim for claim in found if address or _may_see(caller, claim.actor)]
    boxes = await context.time_boxes.shown(caller, address=address, actor=actor, mutation_id=mutation_id)
    shown = [claim_to_json(claim) | _outline(caller, claim) for claim in seen]
    cut = len(found) >= limit
    return told(
        caller,
        {
            "claims": with_ends(shown, boxes),
            "time_boxes": boxes,
            "left_off": "There may be more; ask again with before=<the last id>, or for one address or actor."
            if cut
            else "",
            "data_health": context.readers.ledger_health(),
        },
    )


def _outline(caller: Caller, claim: Claim) -> dict[str, Any]:
    """What an agent sees of another's claim in place of its motive and proof: for what goal and why, without the text and the evidence."""
    if _may_see(caller, claim.actor):
        return {}
    motive = claim.motive
    words = None if motive is None else {"intent": motive.intent.value, "motivation": motive.motivation.value}
    return {"motive": words, "proof": [], "undone": None}


def _may_see(caller: Caller, actor: str) -> bool:
    """Whether the caller may see all of this actor's claims: people and pipelines see all, agents and services their own."""
    return caller.sees_all or caller.actor == actor
