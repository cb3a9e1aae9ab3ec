"""Counts how often each rule spoke, by the hour, from the newest decision back; what was read once is not read again."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

import structlog

from gateway.core.errors import SentinelError
from gateway.core.model.verdict import Verdict
from gateway.core.ports import LedgerQueries, RuleSpoke, Spoken

MOST_DECISIONS: Final = 100_000
"""Decisions back from the newest one that are counted: what is older is said not to be."""
LONGEST: Final = timedelta(days=90)
"""The longest range that is counted."""
_AT_ONCE: Final = 250
"""Decisions of one query. It keeps the reader of the ledger busy for some milliseconds."""
_PAUSE: Final = 0.02
"""Seconds between two queries of the way back, which others need the reader in."""
_NAMED: Final = 10
"""The newest mutations that are named for each rule."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCount:
    """How often a rule spoke in a range, and when last, whenever that was."""

    denied: int = 0
    held: int = 0
    warned: int = 0
    """How often it would have held or denied if it were not only tried."""
    last: datetime | None = None
    latest: tuple[RuleSpoke, ...] = ()
    """The newest times that it spoke, newest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCounts:
    """The counts of a range."""

    since: datetime
    counted_from: datetime
    """What is before is not counted: later than `since` where there are too many decisions, or they are still being read."""
    reading: bool
    """Whether older decisions are still being read."""
    by_rule: Mapping[str, RuleCount]


@dataclass(slots=True, kw_only=True)
class RuleTally:
    """The counts of one process. The first question begins to read; later ones read what is new."""

    queries: LedgerQueries
    _hours: dict[datetime, dict[tuple[str, str], int]] = field(default_factory=dict)
    """By the hour: by rule and what it did, how often."""
    _latest: dict[str, list[RuleSpoke]] = field(default_factory=dict)
    _newest: int = 0
    """The newest record that was read."""
    _oldest: int = 0
    _read: int = 0
    _oldest_at: datetime | None = None
    _whole: bool = False
    """Whether there is nothing older to read."""
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _going_back: asyncio.Future[None] | None = None

    async def close(self) -> None:
        """End the reading."""
        if self._going_back is not None:
            self._going_back.cancel()
            with suppress(asyncio.CancelledError):
                await self._going_back

    async def since(self, since: datetime) -> RuleCounts:
        """The counts from the beginning of that hour on. Raises `errors.LedgerUnavailable`."""
        async with self._lock:
            await self._catch_up()
        reading = not self._whole and self._read < MOST_DECISIONS
        if reading and (self._going_back is None or self._going_back.done()):
            self._going_back = asyncio.ensure_future(self._go_back())
        start, archived = _hour(since), await self.queries.archived()
        # Older records than these have left the database, or are not read yet.
        ends = [archived.until] if archived is not None else []
        ends += [self._oldest_at] if self._oldest_at is not None and not self._whole else []
        counted_from = max([start, *ends])
        return RuleCounts(since=start, counted_from=counted_from, reading=reading, by_rule=self._by_rule(start))

    def _by_rule(self, start: datetime) -> Mapping[str, RuleCount]:
        sums: dict[tuple[str, str], int] = {}
        for hour, counts in self._hours.items():
            if hour >= start:
                for key, count in counts.items():
                    sums[key] = sums.get(key, 0) + count
        return {
            rule: RuleCount(
                denied=sums.get((rule, Verdict.DENY.value), 0),
                held=sums.get((rule, Verdict.HOLD.value), 0),
                warned=sums.get((rule, _TRIED), 0),
                last=latest[0].at,
                latest=tuple(latest),
            )
            for rule, latest in self._latest.items()
        }

    async def _catch_up(self) -> None:
        """Read what is new. Where that is more than one query gives, forget all and begin from the newest: counts have no gap."""
        found = await self.queries.rules_spoken(after_seq=self._newest, limit=_AT_ONCE)
        if not found.decisions:
            self._whole = self._whole or not self._newest
            return
        if self._newest and found.decisions == _AT_ONCE:
            self._hours.clear()
            self._latest.clear()
            self._newest = self._read = 0
        if not self._newest:
            self._oldest, self._oldest_at = found.first_seq, found.oldest
            self._whole = found.decisions < _AT_ONCE
        self._newest = found.last_seq
        self._add(found)

    async def _go_back(self) -> None:
        try:
            while not self._whole and self._read < MOST_DECISIONS:
                async with self._lock:
                    found = await self.queries.rules_spoken(before_seq=self._oldest, limit=_AT_ONCE)
                    self._whole = found.decisions < _AT_ONCE
                    if found.decisions:
                        self._oldest, self._oldest_at = found.first_seq, found.oldest
                        self._add(found)
                await asyncio.sleep(_PAUSE)
        except SentinelError as error:
            log.warning("rules_not_counted", reason=str(error))  # the next question goes on

    def _add(self, found: Spoken) -> None:
        self._read += found.decisions
        for each in found.said:
            counts = self._hours.setdefault(_hour(each.at), {})
            key = each.rule, _TRIED if each.tried else each.verdict.value
            counts[key] = counts.get(key, 0) + 1
        for rule in {each.rule for each in found.said}:
            latest = [*self._latest.get(rule, ()), *(each for each in found.said if each.rule == rule)]
            self._latest[rule] = sorted(latest, key=lambda each: -each.seq)[:_NAMED]


_TRIED: Final = "warn"


def _hour(time: datetime) -> datetime:
    return time.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
