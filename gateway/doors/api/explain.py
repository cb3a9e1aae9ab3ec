"""The explanation of one mutation, and its route."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends

from gateway.doors.api.context import Context, told
from gateway.doors.explanation import explanation_of
from gateway.errors import NotFound
from gateway.model.caller import Caller
from gateway.model.record import Stage
from gateway.off_loop import off_loop
from gateway.ports import RecordQuery

_BYTES_OF_A_RECORD = 2_000


def add_explanation_route(router: APIRouter, context: Context) -> None:
    """Add `GET /mutations/{mutation_id}/explanation`."""

    @router.get(
        "/mutations/{mutation_id}/explanation",
        summary="Why a mutation was decided as it was: every check, rule, fact and rival, and what to do next",
    )
    async def explanation(caller: Annotated[Caller, Depends(context.caller)], mutation_id: str) -> dict[str, Any]:
        return await explanation_answer(context, caller, mutation_id)


async def explanation_answer(context: Context, caller: Caller, mutation_id: str) -> dict[str, Any]:
    """The explanation of a mutation, as this caller may see it. Raises `errors.NotFound`."""
    # Not `visible_records`: the contest is needed, and shown only as far as the caller may see it.
    records = await context.queries.records(RecordQuery(mutation_id=mutation_id, newest_first=False))
    decided = [record for record in records if record.stage is Stage.DECIDED]
    if not decided or not (caller.sees_all or decided[0].actor == caller.actor):
        raise NotFound(f"There is no mutation {mutation_id[:64]} that this key may see.")
    size = _BYTES_OF_A_RECORD * len(records)
    document = await off_loop(size, lambda: explanation_of(records, sees_all=caller.sees_all))
    return told(caller, document)
