"""The API's route for replays: what edited policies would have decided about recorded changes."""

from typing import Any, Final

from fastapi import Request

from gateway.core.errors import NotAllowed, NotFound
from gateway.core.ports import RecordQuery
from gateway.core.records.codec import bodies_of
from gateway.core.records.decided import DecidedBody
from gateway.core.records.record import Stage
from gateway.doors.api.ports import Authenticated, Ports
from gateway.doors.api.request_bodies import ReplayBody, body_of, openapi_body
from gateway.doors.api.routers import keyed_router
from gateway.policy.not_replayed import SENTENCES, NotReplayed
from gateway.policy.replay import HISTORY, questions_of
from gateway.policy.replays import LARGEST_BUNDLE

router = keyed_router()

_LARGEST_REQUEST: Final = 2 * LARGEST_BUNDLE


@router.post(
    "/replay",
    openapi_extra=openapi_body(ReplayBody, required=False),
    summary="Which recorded verdicts would be others under edited policies or contracts",
)
async def replay(ports: Ports, request: Request, caller: Authenticated) -> dict[str, Any]:
    """One page, newest first: the flips, how many were replayed and how many could not be, and where the next page begins."""
    body = await body_of(ports.inbound(request, _LARGEST_REQUEST), ReplayBody, default=ReplayBody())
    edit = body.contracts.edit() if body.contracts is not None else None
    page = await ports.replays.page(caller, body.range(), bundle=body.bundle, revision=body.revision, contracts=edit)
    return {**page, "history": HISTORY}


@router.get(
    "/mutations/{mutation_id}/asked",
    summary="What the policies were asked about a mutation, for `sentinel policy eval`",
)
async def asked(ports: Ports, caller: Authenticated, mutation_id: str) -> dict[str, Any]:
    """The questions with their inputs, and what was decided."""
    if not caller.sees_all:
        raise NotAllowed(
            "The input of the policies shows the claims of every actor, so agents and services are not shown it."
        )
    found = await ports.queries.records(RecordQuery(mutation_id=mutation_id, stage=Stage.DECIDED))
    body = next(bodies_of(found, DecidedBody), None)
    if body is None:
        raise NotFound(f"There is no decision about {mutation_id[:64]}.")
    questions = questions_of(body)
    if isinstance(questions, NotReplayed):
        raise NotFound(
            f"The decision about {mutation_id[:64]} is {SENTENCES[questions]}, so it cannot be evaluated again."
        )
    return {
        "mutation_id": mutation_id,
        "verdict": body.decision.verdict.value,
        "asked": [
            {
                "check": each.check,
                "entrypoint": each.entrypoint,
                "document": each.document,
                "lifted": list(each.lifted),
                "untold": None if each.untold is None else [list(pair) for pair in each.untold],
            }
            for each in questions
        ],
    }
