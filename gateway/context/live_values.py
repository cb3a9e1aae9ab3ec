"""Reads live values from AWS through a cache, with a deadline and a limit of reads a minute for each caller."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Protocol

import structlog

from gateway.context.health import ReadStatus
from gateway.core.errors import SentinelError
from gateway.core.model.json import Json
from gateway.core.ports import Clock

log = structlog.get_logger()

_MOST_KEPT: Final = 2_000
"""Resources whose live values are kept in memory."""
_MOST_CALLERS: Final = 10_000
"""Callers whose reads are counted; beyond, the one that has not read for the longest is forgotten."""
_MOST_AT_ONCE: Final = 4
_WINDOW: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveTarget:
    """A resource whose live values are wanted."""

    address: str
    resource_type: str
    recorded: Mapping[str, Json]
    """The attributes in the state, which identify it in the call to AWS."""
    account: str = ""
    region: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveAnswer:
    """The live values of one resource, as far as they are known."""

    status: ReadStatus
    values: Mapping[str, Json] = field(default_factory=dict)
    """By attribute path. Secrets are masked."""
    read_at: datetime | None = None
    error: str = ""
    """Why there are no values, or no newer ones, as a sentence."""


class LiveSource(Protocol):
    """Reads a resource from AWS."""

    def supports(self, target: LiveTarget) -> str:
        """Why resources like this cannot be read, as a sentence; empty if they can."""
        ...

    async def read(self, target: LiveTarget) -> Mapping[str, Json]:
        """The live values by attribute path, secrets masked; empty if the resource is gone. Raises `errors.SentinelError`."""
        ...


@dataclass(slots=True, kw_only=True)
class LiveReadThrough:
    """The bounded read-through. One answer reads one resource by one call, whatever it is asked for."""

    source: LiveSource | None
    """None if live reads are switched off."""
    clock: Clock
    reads_per_minute: int = 60
    """For each caller."""
    deadline_seconds: float = 5.0
    _kept: "OrderedDict[str, LiveAnswer]" = field(default_factory=OrderedDict)
    _reads: "OrderedDict[str, deque[datetime]]" = field(default_factory=OrderedDict)
    _under_way: dict[str, asyncio.Future[LiveAnswer]] = field(default_factory=dict)
    _places: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_MOST_AT_ONCE))

    async def of(self, target: LiveTarget, actor: str, max_age: float | None) -> LiveAnswer:
        """The live values, read again if they are older than `max_age` seconds; None: those that are known, and nothing is read."""
        if self.source is None:
            return LiveAnswer(status=ReadStatus.UNSUPPORTED, error="Live reads are switched off (`context.live`).")
        if problem := self.source.supports(target):
            return LiveAnswer(status=ReadStatus.UNSUPPORTED, error=problem)
        known = self._kept.get(target.address)
        if max_age is None:
            return known or _not_read(
                "Live values are read on request only: give `max_age_seconds` (`--max-age` of the command)."
            )
        if known is not None and known.read_at is not None and self.age(known.read_at) <= max_age:
            return known
        reading = self._under_way.get(target.address)
        if reading is None:
            if not self._admits(actor):
                return _older(known, f"You had {self.reads_per_minute} live reads within a minute; ask again later.")
            reading = self._under_way[target.address] = asyncio.ensure_future(self._read(target, self.source))
            reading.add_done_callback(lambda _: self._under_way.pop(target.address, None))
        # A caller who hangs up does not end a read that others wait for too.
        answer = await asyncio.shield(reading)
        return answer if answer.status is ReadStatus.OK else _older(known, answer.error, answer.status)

    def age(self, read_at: datetime) -> float:
        """Seconds since then."""
        return max(0.0, (self.clock.now() - read_at).total_seconds())

    async def _read(self, target: LiveTarget, source: LiveSource) -> LiveAnswer:
        try:
            async with asyncio.timeout(self.deadline_seconds), self._places:
                values = await source.read(target)
        except TimeoutError:
            return _failed(f"AWS did not answer within {self.deadline_seconds:g} s.")
        except SentinelError as error:
            return _failed(str(error))
        except Exception as error:
            log.exception("live_read_broke", address=target.address)
            return _failed(f"Sentinel could not understand AWS's answer ({type(error).__name__}).")
        gone = "" if values else "AWS's answer does not show this resource; it may be gone."
        answer = LiveAnswer(status=ReadStatus.OK, values=values, read_at=self.clock.now(), error=gone)
        self._kept[target.address] = answer
        self._kept.move_to_end(target.address)
        while len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return answer

    def _admits(self, actor: str) -> bool:
        """Whether the caller may have one more read now; it is then counted."""
        now = self.clock.now()
        reads = self._reads.setdefault(actor, deque())
        self._reads.move_to_end(actor)
        while len(self._reads) > _MOST_CALLERS:
            self._reads.popitem(last=False)
        while reads and now - reads[0] >= _WINDOW:
            reads.popleft()
        if len(reads) >= self.reads_per_minute:
            return False
        reads.append(now)
        return True


def _not_read(error: str) -> LiveAnswer:
    return LiveAnswer(status=ReadStatus.NOT_READ, error=error)


def _failed(error: str) -> LiveAnswer:
    return LiveAnswer(status=ReadStatus.FAILED, error=error)


def _older(known: LiveAnswer | None, error: str, status: ReadStatus = ReadStatus.NOT_READ) -> LiveAnswer:
    """The earlier answer, with the reason why it is not newer."""
    if known is None:
        return LiveAnswer(status=status, error=error)
    return LiveAnswer(status=status, values=known.values, read_at=known.read_at, error=error)
