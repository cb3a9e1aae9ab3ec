"""The API's routes that show mutations as wholes: a row for each with its headline and path, and how many were decided by the hour."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Annotated, Any, Final

from fastapi import Query

from gateway.core.errors import Malformed, NotAllowed
from gateway.core.off_loop import off_loop
from gateway.core.records.decided import DecidedBody
from gateway.core.records.record import Record, Stage
from gateway.doors.api.ports import ApiPorts, Authenticated, Ports, told, without_contest
from gateway.doors.api.records import RecordFilter
from gateway.doors.api.routers import keyed_router
from gateway.presentation.changes import change_to_json, has_words
from gateway.presentation.serialize import time_to_json

_MOST_READ: Final = 2_000
"""Decisions that one answer looks through: the calls of an apply are one row together, and a text is looked for in each."""
_PAGE: Final = 200
_SPARE: Final = 10
"""Decisions that the first page reads beyond those asked for: some have no row of their own."""
_MOST_HOURS: Final = 72
_MOST_SEARCHED: Final = 500
"""The same, where words are looked for."""
_BYTES_OF_A_RECORD: Final = 2_000
"""Size that a record counts as, to decide whether its row is made in a thread."""

router = keyed_router()


@router.get(
    "/mutations",
    summary="Mutations, a row each: what changes, who wants it and why, the verdict, and how far it has come",
)
async def mutations(
    ports: Ports,
    caller: Authenticated,
    query: RecordFilter,
    q: Annotated[str, Query(max_length=200)] = "",
    plan: Annotated[str, Query(max_length=64)] = "",
) -> dict[str, Any]:
    """The mutations of the filter that the caller may see, newest first. The calls that an apply made of its plan are in the plan's row; `plan` lists them.

    `next_before_seq` is where the next page begins; it is 0 at the end. A page may be short: one answer looks through a limited number.
    """
    if query.stage not in (None, Stage.DECIDED):
        raise Malformed("Mutations are listed by their decisions, so stage is decided or left out.")
    words, rows = q.casefold().split(), list[dict[str, Any]]()
    if words:
        ports.searches.charge(caller.actor)
    most = _MOST_SEARCHED if words else _MOST_READ
    query, wanted, read, before = replace(query, stage=Stage.DECIDED), query.limit, 0, 0
    size = _PAGE if words or plan else min(_PAGE, wanted + _SPARE)
    while len(rows) < wanted and read < most:
        found = await ports.visible_records(caller, replace(query, limit=size, before_seq=before or query.before_seq))
        read += len(found)
        rows += await _rows(ports, await _wanted(found, plan, words, wanted - len(rows)))
        before = rows[-1]["seq"] if len(rows) == wanted else found[-1].seq if len(found) == size else 0
        if not before:
            break
        size = _PAGE
    return told(caller, {"mutations": rows, "next_before_seq": before})


@router.get(
    "/activity", summary="How many calls were allowed, held and denied by the hour, of everybody or of one actor"
)
async def activity(
    ports: Ports,
    caller: Authenticated,
    hours: Annotated[int, Query(ge=1, le=_MOST_HOURS)] = 24,
    actor: Annotated[str, Query(max_length=256)] = "",
) -> dict[str, Any]:
    """Each hour with its decisions by verdict, oldest first; the last one is not over yet. People and pipelines may ask, others for their own."""
    if not caller.sees_all and actor != caller.actor:
        raise NotAllowed(
            "Only people and pipelines may see how much others do. GET /v1/mutations lists your own calls."
        )
    this_hour = ports.clock.now().astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    starts = [this_hour - timedelta(hours=back) for back in reversed(range(hours))]
    found = await ports.queries.activity(starts, actor)
    shown: dict[datetime, dict[str, int]] = {start: {} for start in starts if start >= found.counted_from}
    for (start, verdict), count in found.counts.items():
        shown[start][verdict.value] = count
    return {
        "counted_from": time_to_json(found.counted_from),
        "hours": [{"start": time_to_json(start), "counts": counts} for start, counts in shown.items()],
    }


def _shown(record: Record, plan: str) -> bool:
    """Whether a decision has a row of its own: what an apply did of its plan is told by the plan's row, unless these calls are asked for."""
    if not isinstance(record.body, DecidedBody):
        return False
    part = record.body.part
    if plan:
        return part is not None and part.plan == plan
    return part is None or not part.uses or not record.body.decision.carried_out


async def _wanted(found: Sequence[Record], plan: str, words: Sequence[str], most: int) -> Sequence[Record]:
    """The first of those decisions that have a row of their own and these words. What became of the others is not read."""

    def chosen() -> list[Record]:
        return list(islice((each for each in found if _shown(each, plan) and has_words(each, words)), most))

    return await off_loop(_BYTES_OF_A_RECORD * len(found) if words else 0, chosen)


async def _rows(ports: ApiPorts, decided: Sequence[Record]) -> list[dict[str, Any]]:
    lives = await ports.queries.lives([record.mutation_id for record in decided]) if decided else {}

    def rows() -> list[dict[str, Any]]:
        made = (change_to_json([without_contest(each) for each in lives[record.mutation_id]]) for record in decided)
        return [row for row in made if row is not None]

    return await off_loop(_BYTES_OF_A_RECORD * sum(map(len, lives.values())), rows)
