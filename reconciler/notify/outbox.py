"""The outbox of one receiver, as a value: which notices are due, and how an attempt changes that. Each NOTIFIED record holds it whole."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from gateway.core.model.json import Json
from gateway.core.records.notice import DeliveryState

MOST_OPEN: Final = 200
"""Notices that wait for one receiver; no more records are read for it meanwhile. So its NOTIFIED records stay small."""
AT_ONCE: Final = 20
"""Notices sent together, each about another mutation."""
_LONGEST_PAUSE: Final = 600.0
_GONE: Final = 410
_LATER: Final = frozenset({0, 408, 425, 429})
"""Statuses that say nothing about the notice; 0 is no answer."""
_SERVER_ERROR: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenNotice:
    """A record that the receiver has not taken yet."""

    seq: int
    mutation_id: str
    asked: int = 0
    """The number of the record by which a person asked for it again; 0 if nobody did."""
    attempts: int = 0
    again_at: float = 0.0
    """Unix seconds before which it is not tried."""

    @property
    def key(self) -> tuple[int, int]:
        """The key of the notice, which no other notice has."""
        return self.seq, self.asked


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryAttempt:
    """The receiver's answer to one attempt."""

    seq: int
    asked: int
    id: str
    type: str
    mutation_id: str
    status: int = 0
    """Its HTTP status; 0 if there was no answer."""
    error: str = ""
    """Why it counts as a failure, as a sentence; empty if it was taken."""
    retry_after: float = 0.0
    """Seconds that the receiver wants to be left alone."""
    for_good: bool = False
    """Whether trying again is of no use."""
    message: str = ""
    """Where a chat has the card, so that it can be edited later."""

    @property
    def unavailable(self) -> bool:
        """Whether the receiver, rather than this notice, is what failed."""
        return bool(self.error) and (self.status in _LATER or self.status >= _SERVER_ERROR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outbox:
    """The notices of one receiver."""

    read: int
    """The last record that was looked at."""
    open: tuple[OpenNotice, ...] = ()
    """In the order in which they were found."""
    based_on: int = 0
    """The number of the NOTIFIED record that this follows; 0 for a receiver that has none."""
    failures: int = 0
    """Batches in a row in which the receiver was not available."""
    resume_at: float = 0.0
    totals: Mapping[str, int] = field(default_factory=dict)
    """Attempts so far by what came of them, so that to show them takes only the last record."""

    @property
    def full(self) -> bool:
        """Whether no more may be added."""
        return len(self.open) >= MOST_OPEN

    def with_record(self, seq: int, *found: OpenNotice) -> "Outbox":
        """After a record was looked at, and what of it is to be told."""
        return replace(self, read=seq, open=(*self.open, *found))

    def due(self, now: float) -> tuple[OpenNotice, ...]:
        """The notices that are tried now: of each mutation only the first, so that a receiver gets them in order.

        A receiver that was not available is asked with one notice only, not always the same.
        """
        if now < self.resume_at:
            return ()
        first: dict[str, OpenNotice] = {}
        for notice in self.open:
            first.setdefault(notice.mutation_id or str(notice.key), notice)
        ready = [notice for notice in first.values() if notice.again_at <= now]
        if self.failures:
            return tuple(sorted(ready, key=lambda notice: notice.attempts)[:1])
        return tuple(ready[:AT_ONCE])

    def after(
        self, attempted: Sequence[DeliveryAttempt], now: float, schedule: Sequence[float]
    ) -> tuple["Outbox", list[dict[str, Json]]]:
        """The outbox after these attempts, and one result for each, as records hold it."""
        answers = {(each.seq, each.asked): each for each in attempted}
        left: list[OpenNotice] = []
        results: list[dict[str, Json]] = []
        for notice in self.open:
            answer = answers.get(notice.key)
            if answer is None:
                left.append(notice)
                continue
            kept = _kept(notice, answer, now, schedule)
            left.extend([kept] if kept else [])
            results.append(_result(notice, answer, kept))
        down = bool(attempted) and all(each.unavailable for each in attempted)
        failures = self.failures + 1 if down else 0
        asked = max((each.retry_after for each in attempted if each.error), default=0.0)
        pause = max(min(2.0**failures, _LONGEST_PAUSE), asked) if down else asked
        resume_at = now + pause if pause else 0.0
        totals = dict(Counter(self.totals) + Counter(str(each["state"]) for each in results))
        return replace(self, open=tuple(left), failures=failures, resume_at=resume_at, totals=totals), results

    def to_json(self) -> dict[str, Json]:
        """The form in records and in the workflow."""
        return {
            "read": self.read,
            "based_on": self.based_on,
            "failures": self.failures,
            "resume_at": self.resume_at,
            "totals": dict(self.totals),
            "open": [asdict(notice) for notice in self.open],
        }

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> "Outbox":
        """The inverse of `to_json`."""
        return cls(
            read=form["read"],
            based_on=form["based_on"],
            failures=form["failures"],
            resume_at=form["resume_at"],
            totals=form["totals"],
            open=tuple(OpenNotice(**each) for each in form["open"]),
        )


def _kept(notice: OpenNotice, answer: DeliveryAttempt, now: float, schedule: Sequence[float]) -> OpenNotice | None:
    """The notice as it waits after a failure; None if it was taken or is given up."""
    given_up = notice.attempts >= len(schedule) or answer.for_good or answer.status == _GONE
    if not answer.error or given_up:
        return None
    wait = max(schedule[notice.attempts], answer.retry_after)
    return replace(notice, attempts=notice.attempts + 1, again_at=now + wait)


def _result(notice: OpenNotice, answer: DeliveryAttempt, kept: OpenNotice | None) -> dict[str, Json]:
    state = DeliveryState.RETRYING if kept else DeliveryState.GIVEN_UP if answer.error else DeliveryState.DELIVERED
    place: dict[str, Json] = {"message": answer.message} if answer.message else {}
    return {
        **place,
        "id": answer.id,
        "seq": notice.seq,
        "asked": notice.asked,
        "type": answer.type,
        "mutation_id": answer.mutation_id,
        "state": state.value,
        "attempt": notice.attempts + 1,
        "status": answer.status,
        "error": answer.error,
        "again_at": kept.again_at if kept else None,
    }
