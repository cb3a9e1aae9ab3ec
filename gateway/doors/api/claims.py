"""The API's route for claims, with as much of each claim as the caller may see."""

from typing import Annotated, Any

from fastapi import Query

from gateway.core.model.caller import Caller
from gateway.core.model.claim import Claim
from gateway.doors.api.ports import ApiPorts, Authenticated, Ports, told
from gateway.doors.api.routers import keyed_router
from gateway.doors.api.time_boxes import with_ends
from gateway.presentation.serialize import claim_to_json

LONGEST_LIST = 10_000
"""Claims in one answer, as many as the ledger lists."""

router = keyed_router()


@router.get("/claims", summary="Who holds which attribute, why and until when")
async def claims(
    ports: Ports,
    caller: Authenticated,
    *,
    address: str = "",
    actor: str = "",
    mutation_id: str = "",
    every: bool = False,
    before: str = "",
    limit: Annotated[int, Query(ge=1, le=LONGEST_LIST)] = LONGEST_LIST,
) -> dict[str, Any]:
    """The claims of the filter, newest first."""
    return await visible_claims(
        ports, caller, address=address, actor=actor, mutation_id=mutation_id, every=every, before=before, limit=limit
    )


async def visible_claims(
    ports: ApiPorts,
    caller: Caller,
    *,
    address: str = "",
    actor: str = "",
    mutation_id: str = "",
    every: bool = False,
    before: str = "",
    limit: int = LONGEST_LIST,
) -> dict[str, Any]:
    """The claims of the filter as JSON. Agents see their own claims, and of a resource that they name everybody's, without texts and evidence."""
    # Without an address, agents see only their own claims: the ledger is asked for those, so that a page of them is full.
    holder = actor if caller.sees_all or address or actor else caller.actor
    found = await ports.queries.claims(
        address=address, actor=holder, mutation_id=mutation_id, open_only=not every, before=before, limit=limit
    )
    visible = [claim for claim in found if address or _may_see(caller, claim.actor)]
    boxes = await ports.time_boxes.shown(caller, address=address, actor=actor, mutation_id=mutation_id)
    more = len(found) >= limit
    return told(
        caller,
        {
            "claims": with_ends([claim_to_json(claim) | _outline(caller, claim) for claim in visible], boxes),
            "time_boxes": boxes,
            "left_off": "There may be more; ask again with before=<the last id>, or for one address or actor."
            if more
            else "",
            "data_health": ports.readers.ledger_health(),
        },
    )


def _outline(caller: Caller, claim: Claim) -> dict[str, Any]:
    """The members that an agent sees of another actor's claim instead of its motive and proof: intent and motivation only."""
    if _may_see(caller, claim.actor):
        return {}
    motive = claim.motive
    words = None if motive is None else {"intent": motive.intent.value, "motivation": motive.motivation.value}
    return {"motive": words, "proof": [], "undone": None}


def _may_see(caller: Caller, actor: str) -> bool:
    """Whether the caller may see all of this actor's claims: people and pipelines see all, agents and services their own."""
    return caller.sees_all or caller.actor == actor
