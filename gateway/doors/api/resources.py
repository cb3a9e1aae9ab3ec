"""The API's routes about resources: which there are, what is known about one, what changed it, and who set an attribute.

Any caller may ask: an agent must know what it would touch, and whom it would contradict.
"""

from datetime import timedelta
from typing import Annotated, Any, Final

from fastapi import Query

from gateway.context.lookup import MOST_LISTED, ResourceQuery
from gateway.context.ports import HistoryQuery
from gateway.context.stack_map import MARKS, MOST_OPEN
from gateway.core.model.caller import Caller
from gateway.core.model.path import written_path
from gateway.doors.api.ports import MAX_INTEGER, ApiPorts, Authenticated, Ports, told
from gateway.doors.api.routers import keyed_router
from gateway.presentation.changes import addresses_of

OLDEST_SECONDS = 86_400.0
"""The greatest age of live values that a caller may ask for."""
MOST_CHANGES = 200
"""Changes in one answer."""
MOST_MARKED: Final = 1_000
"""Claims, the newest, whose resources the map marks as held; and those taken within a day, as changed."""
_MOST_HELD: Final = 50
_DAY: Final = timedelta(days=1)
_LONGEST = Query(max_length=1_024)

Name = Annotated[str, _LONGEST]
Seq = Annotated[int, Query(ge=0, le=MAX_INTEGER)]


router = keyed_router()


@router.get("/resources", summary="Which resources the stacks have, by a part of a name, by ARN, type or stack")
async def resources(
    ports: Ports,
    caller: Authenticated,
    *,
    q: Name = "",
    arn: Name = "",
    resource_type: Annotated[str, Query(alias="type", max_length=128)] = "",
    stack: Name = "",
    after: Name = "",
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = 50,
) -> dict[str, Any]:
    """The resources that fit all members of the filter."""
    query = ResourceQuery(q=q, arn=arn, resource_type=resource_type, stack=stack, after=after, limit=limit)
    return told(caller, await ports.readers.resources(caller, query))


@router.get(
    "/context",
    summary="What is declared, recorded and live, within which bounds, who holds it and until when, what changed last and why",
)
async def resource_context(
    ports: Ports,
    caller: Authenticated,
    address: Name,
    attribute: Name = "",
    max_age_seconds: Annotated[float | None, Query(ge=0, le=OLDEST_SECONDS, allow_inf_nan=False)] = None,
) -> dict[str, Any]:
    """The context of the resource: declared, recorded and live values, bounds, claims and latest changes."""
    return told(caller, await ports.readers.context(caller, address, attribute, max_age_seconds))


@router.get("/history", summary="What changed a resource, or one attribute of it: who, when, for what goal and why")
async def history(
    ports: Ports,
    caller: Authenticated,
    address: Name,
    *,
    attribute: Name = "",
    after_seq: Seq = 0,
    before_seq: Seq = 0,
    limit: Annotated[int, Query(ge=1, le=MOST_CHANGES)] = 50,
) -> dict[str, Any]:
    """The changes of the resource, newest first."""
    query = HistoryQuery(attribute=written_path(attribute), after_seq=after_seq, before_seq=before_seq, limit=limit)
    older = {} if after_seq else await ports.archived()
    return told(caller, {**await ports.readers.history(caller, address, query), **older})


@router.get("/blame", summary="Who set an attribute, for what goal, and why at that time")
async def blame(ports: Ports, caller: Authenticated, address: str, attribute: str) -> dict[str, Any]:
    """The last mutation of the attribute."""
    return await ports.blame(caller, address, written_path(attribute))


@router.get(
    "/map",
    summary="What depends on what in a stack, and what is held, waits, has drifted or was changed in the last day",
)
async def stack_map(
    ports: Ports,
    caller: Authenticated,
    *,
    stack: Name = "",
    at: Name = "",
    opened: Annotated[list[Name] | None, Query(alias="open", max_length=MOST_OPEN)] = None,
) -> dict[str, Any]:
    """The nodes and edges of the stack. Resources of a module, or many of a type, are one node unless `open` names it; without it as many
    are open as fit. `at` is a resource that is shown in any case.
    """
    found = await ports.maps.of(stack, opened=opened, at=at, marked=await _marked(ports, caller))
    return told(caller, found)


async def _marked(ports: ApiPorts, caller: Caller) -> dict[str, list[str]]:
    """The addresses of each of `MARKS`, as far as the caller may see them."""
    now = ports.clock.now()
    marked = {
        "held": list(await ports.queries.claimed_addresses(limit=MOST_MARKED)),
        "changed": list(await ports.queries.claimed_addresses(since=now - _DAY, open_only=False, limit=MOST_MARKED)),
    }
    if caller.sees_all:
        holds = await ports.queries.holds(limit=_MOST_HELD)
        lives = await ports.queries.lives([each.mutation_id for each in holds])
        await ports.drift.book.read(ports.queries)
        outside = [each.address for each in ports.drift.book.open.values()]
        marked["waits"] = [address for records in lives.values() for address in addresses_of(records)]
        marked["drifted"] = [*outside, *await ports.readers.applied_drift()]
    return {mark: marked.get(mark, []) for mark in MARKS}
