"""Verifies the ledger beside a gateway's work: one at a time, a ledger of moderate size, and not again within a minute."""

import asyncio
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

import structlog

from gateway.core.errors import LedgerBroken
from gateway.core.ports import Clock, LedgerQueries, RecordQuery

MOST_RECORDS: Final = 200_000
"""Records that a gateway verifies beside its work: some seconds of one processor. `sentinel verify` takes any number, as a process of its own."""
_AGAIN: Final = timedelta(minutes=1)
"""A caller that asks sooner gets the last answer."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerCheck:
    """What a verification found."""

    at: datetime
    records: int
    problem: str = ""
    """The first record or row that does not fit, as a sentence; empty if all fit."""
    too_many: bool = False
    """Whether there are more records than a gateway verifies, so that nothing was."""


@dataclass(slots=True)
class Verifier:
    """Verifies one at a time, and keeps the last answer."""

    last: LedgerCheck | None = None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def verify(self, queries: LedgerQueries, clock: Clock) -> LedgerCheck:
        """The answer, at most a minute old. Raises `errors.LedgerUnavailable`."""
        async with self._turn:
            if self.last is None or clock.now() - self.last.at >= _AGAIN:
                self.last = await _verified(queries, clock)
            return self.last


async def _verified(queries: LedgerQueries, clock: Clock) -> LedgerCheck:
    newest = await queries.records(RecordQuery(limit=1))
    count = newest[0].seq if newest else 0
    if count > MOST_RECORDS:
        return LedgerCheck(at=clock.now(), records=count, too_many=True)
    try:
        return LedgerCheck(at=clock.now(), records=await queries.verify())
    except LedgerBroken as error:
        log.critical("ledger_broken", problem=str(error))
        return LedgerCheck(at=clock.now(), records=count, problem=str(error))
