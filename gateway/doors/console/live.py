"""The stream of a live list: its rows again whenever the ledger grew and they changed, four times a second at most."""

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias
from urllib.parse import urlencode

from fastapi.sse import format_sse_event
from starlette.responses import Response, StreamingResponse

from gateway.core.errors import SentinelError
from gateway.doors.console.pulse import Pulse
from gateway.doors.console.visit import Visit

ROWS: Final = 50
"""Rows on a page, and in each message of the stream."""
Filter: TypeAlias = Callable[[Mapping[str, str]], dict[str, str]]
"""The members of the API's query that an address gives."""
Draw: TypeAlias = Callable[[Visit, Mapping[str, str]], Awaitable[str]]
"""The newest rows of a filter, as HTML."""


@dataclass(slots=True)
class LiveRows:
    """The stream of one list."""

    pulse: Pulse
    filter_of: Filter
    draw: Draw
    _drawn: dict[tuple[str, str], tuple[int, str]] = field(default_factory=dict)
    """The last rows, by visitor and filter: visitors with the same list share the work."""

    def address(self, path: str, chosen: Mapping[str, str], newest: int, rows: str) -> str:
        """Where the stream is that goes on from a page with these rows and this newest record."""
        return f"{path}?{urlencode({**chosen, 'after': newest, 'have': _digest(rows)})}"

    async def stream(self, visit: Visit) -> Response:
        """The stream. Raises `errors.Overloaded`."""
        self.pulse.require_room(visit.caller.actor)
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(self._messages(visit), media_type="text/event-stream", headers=headers)

    async def _messages(self, visit: Visit) -> AsyncIterator[bytes]:
        chosen = self.filter_of(visit.query)
        given = visit.query.get("after", "")
        start = int(given) if given.isdecimal() and len(given) < 19 else 0  # noqa: PLR2004  digits of the largest number
        had = visit.query.get("have", "")
        yield b": open\n\n"
        async for last in self.pulse.beats(visit.caller.actor, start):
            if not await visit.still_in():
                return
            if not last:
                yield b": ping\n\n"
                continue
            try:
                rows = await self._rows(visit, chosen, last)
            except SentinelError:
                return  # the browser asks again, and is told then
            has = _digest(rows)
            values = {
                "rows": rows if has != had else "",
                "told": visit.caller.sees_all,
                "last": last,
                "more": last - start,
            }
            had = has
            yield format_sse_event(data_str=visit.templates.text("live_message.html", **values), id=str(last))

    async def _rows(self, visit: Visit, chosen: Mapping[str, str], last: int) -> str:
        whose = "" if visit.caller.sees_all else visit.caller.actor
        name = (whose, urlencode(chosen))
        kept = self._drawn.get(name)
        if kept is None or kept[0] < last:
            kept = (last, await self.draw(visit, chosen))
            if len(self._drawn) > ROWS:
                self._drawn.clear()
            self._drawn[name] = kept
        return kept[1]


def _digest(rows: str) -> str:
    return hashlib.sha256(rows.encode()).hexdigest()[:16]
