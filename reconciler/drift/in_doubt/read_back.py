"""Settles mutations in doubt: looks at the live values, and at CloudTrail where configured, until something shows the outcome.

While AWS may still accept the request (a signature is valid for up to 15 minutes), only `applied` can be concluded, also from CloudTrail.
Then CloudTrail's event of the gateway's own call decides, else the values, or the mutation is left to a human.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from time import monotonic
from typing import Final, Protocol

import structlog

from gateway.core.errors import NotAllowed, SentinelError
from gateway.core.failpoints import Point, failpoint
from gateway.core.model.outcome import Resolution
from gateway.core.ports import Clock, Doubt, DoubtLedger, LedgerQueries, RecordQuery
from gateway.core.records.record import Stage
from reconciler.changes.applied_mutation import AppliedMutation, readable_mutations
from reconciler.drift.in_doubt.live_evidence import DoubtAnswer, DoubtVerdict, judge_live_values, unreadable
from reconciler.drift.in_doubt.trail_evidence import Trail, verdict_of_trail
from reconciler.terraform.refresh import Refreshed

log = structlog.get_logger()

_LONGEST_WAIT: Final = 300.0
_PATIENCE: Final = 4
"""How many times the stated time live values may be unreadable, e.g. while AWS cannot be reached, before a human is asked."""
_LATE_EVENTS: Final = timedelta(days=1)
"""How long CloudTrail is looked at after a mutation was left to a human; its events may come late."""


class LiveReader(Protocol):
    """Reads live values."""

    async def __call__(self, targets: list[str]) -> Refreshed:
        """The live attributes of resources. Raises an `errors.SentinelError` if they cannot be read now."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadBack:
    """Settles the mutations in doubt of some stacks."""

    ledger: DoubtLedger
    queries: LedgerQueries
    clock: Clock
    concerns: Callable[[str], bool]
    """Whether a stack is one of these."""
    read_live: LiveReader | None
    """None for stacks that the reconciler does not know: nothing of them can be read."""
    first_look: timedelta
    settle_after: timedelta
    """After the decision: how long AWS may still accept the request. Afterwards, what nothing shows is left to a human."""
    trail: Trail | None = None
    """None if no CloudTrail events are configured."""
    looks: dict[str, tuple[float, float]] = field(default_factory=dict)
    """When each mutation may be looked at again (monotonic seconds), and the wait that led there."""

    async def due(self) -> list[Doubt]:
        """The mutations to look at now, oldest first."""
        doubts = [doubt for doubt in await self.ledger.in_doubt() if self.concerns(doubt.stack)]
        for known in set(self.looks) - {doubt.mutation_id for doubt in doubts}:
            del self.looks[known]
        return [doubt for doubt in doubts if self._is_due(doubt)]

    def looked(self, mutation_id: str) -> None:
        """Note that a mutation was looked at: the next look is due after twice the wait."""
        _, waited = self.looks.get(mutation_id, (0.0, self.first_look.total_seconds() / 2))
        wait = min(waited * 2, _LONGEST_WAIT)
        self.looks[mutation_id] = monotonic() + wait, wait

    async def look(self, mutation_id: str) -> DoubtVerdict:
        """What shows the outcome now. Changes nothing."""
        doubt = next((doubt for doubt in await self.ledger.in_doubt() if doubt.mutation_id == mutation_id), None)
        if doubt is None:
            return DoubtVerdict(answer=DoubtAnswer.WAIT, reason="It is not in doubt any more.")
        applied = await self._applied(mutation_id)
        final = self.clock.now() - doubt.decided_at >= self.settle_after
        told = self._told(applied) if applied is not None else None
        if told is not None and (final or told.answer is DoubtAnswer.APPLIED):
            return told
        if doubt.left_to_human:
            return DoubtVerdict(answer=DoubtAnswer.WAIT, reason="It is left to a human.")
        return await self._look(doubt, applied)

    async def settle(self, mutation_id: str, verdict: DoubtVerdict) -> None:
        """Record a verdict, once. If the mutation was settled meanwhile, nothing is recorded."""
        now = self.clock.now()
        failpoint(Point.LOOKED)
        try:
            match verdict.answer:
                case DoubtAnswer.APPLIED | DoubtAnswer.FAILED:
                    given = Resolution(
                        carried_out=verdict.answer is DoubtAnswer.APPLIED,
                        by=verdict.by,
                        reason=verdict.reason,
                        request_id=verdict.request_id,
                    )
                    await self.ledger.resolve(mutation_id, given, now)
                case DoubtAnswer.HUMAN:
                    if not await self.ledger.leave_to_human(mutation_id, verdict.reason, now):
                        return
                case DoubtAnswer.WAIT:
                    return
        except NotAllowed as error:
            log.info("doubt_settled_already", mutation=mutation_id, reason=str(error))
            return
        log.info("doubt_settled", mutation=mutation_id, answer=verdict.answer.value, reason=verdict.reason)

    def _is_due(self, doubt: Doubt) -> bool:
        age = self.clock.now() - doubt.decided_at
        if age < self.first_look or self.looks.get(doubt.mutation_id, (0.0, 0.0))[0] > monotonic():
            return False
        return not doubt.left_to_human or (self.trail is not None and age < _LATE_EVENTS)

    async def _applied(self, mutation_id: str) -> AppliedMutation | None:
        """The mutation, from its DECIDED record; None if that cannot be read."""
        query = RecordQuery(mutation_id=mutation_id, stage=Stage.DECIDED, limit=1)
        return next(readable_mutations(await self.queries.records(query), {}), None)

    def _told(self, applied: AppliedMutation) -> DoubtVerdict | None:
        """What CloudTrail says; None if it says nothing or cannot be read."""
        if self.trail is None:
            return None
        try:
            return verdict_of_trail(self.trail, applied)
        except SentinelError as error:
            log.error("trail_unreadable", error=str(error))  # noqa: TRY400  the sentence is complete without a traceback
            return None

    async def _look(self, doubt: Doubt, applied: AppliedMutation | None) -> DoubtVerdict:
        age = self.clock.now() - doubt.decided_at
        final = age >= self.settle_after
        reason = "Its record cannot be read." if applied is None else unreadable(applied)
        if applied is None or reason or self.read_live is None:
            return _undecided(reason or "No stack of the reconciler declares what it changes.", final=final)
        try:
            live = await self.read_live(sorted({effect.address for effect in applied.effects}))
        except (SentinelError, OSError, ValueError, KeyError, TypeError) as error:
            log.warning("not_read_back", mutation=doubt.mutation_id, error=str(error))
            code = error.code if isinstance(error, SentinelError) else type(error).__name__
            return _undecided(
                f"Its live values could not be read ({code}); the reconciler's log says why.",
                final=age >= self.settle_after * _PATIENCE,
            )
        return judge_live_values(applied, live, final=final)


def _undecided(reason: str, *, final: bool) -> DoubtVerdict:
    return DoubtVerdict(answer=DoubtAnswer.HUMAN if final else DoubtAnswer.WAIT, reason=reason)
