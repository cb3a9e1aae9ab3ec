"""One mutation with its records, at once or as soon as it is decided or settled."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any

from gateway.doors.motive import duration
from gateway.doors.mutation_state import UNDECIDED, mutation_state
from gateway.doors.serialize import record_to_json
from gateway.errors import Malformed, NotFound
from gateway.model.record import Record, Stage
from gateway.wakeups import Wakeups

LONGEST_WAIT = timedelta(seconds=60)
"""The longest that one request waits; proxies often end a request without an answer after a minute."""

ReadRecords = Callable[[], Awaitable[Sequence[Record]]]
"""Reads the records of one mutation that the caller may see, oldest first."""


def wait_seconds(text: str) -> float:
    """How long a request wants to wait; 0 for none. Raises `errors.Malformed` for more than `LONGEST_WAIT`."""
    if not text:
        return 0.0
    wanted = duration(text)
    if wanted > LONGEST_WAIT:
        raise Malformed(f"A request waits for {LONGEST_WAIT.total_seconds():.0f}s at most; ask for less, and again.")
    return wanted.total_seconds()


async def mutation_when_decided(
    wakeups: Wakeups, mutation_id: str, actor: str, read: ReadRecords, seconds: float
) -> dict[str, Any]:
    """The mutation's state and records, as soon as it waits for nothing any more, or after this time as it is then.

    The ledger is read once, and again each time something about the mutation was recorded. Raises `errors.NotFound`, `errors.Overloaded`.
    """
    if not seconds:
        return _document(mutation_id, await read())
    end = asyncio.get_running_loop().time() + seconds
    with wakeups.waiting(mutation_id, actor) as event:
        while True:
            event.clear()
            document = _document(mutation_id, await read())
            if document["state"] not in UNDECIDED or not await _set_before(event, end):
                return document


async def _set_before(event: asyncio.Event, end: float) -> bool:
    """Whether the event is set before this time of the loop."""
    try:
        async with asyncio.timeout_at(end):
            await event.wait()
    except TimeoutError:
        return False
    return True


def _document(mutation_id: str, records: Sequence[Record]) -> dict[str, Any]:
    if not records:
        raise NotFound(f"There is no mutation {mutation_id[:64]} that this key may see.")
    decided = any(record.stage is Stage.DECIDED for record in records)
    return {
        "mutation_id": mutation_id,
        "state": mutation_state(records) if decided else None,
        "records": [record_to_json(record) for record in records],
    }
