"""How well changes from outside are healed: time to repair, false positives, rollbacks; from the ledger's records alone."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from gateway.core.drift_book import DriftAction, DriftOutcome
from gateway.core.records.drift import DriftDecidedBody, DriftedBody, DriftSettledBody
from gateway.core.records.record import Record

ROLLED_BACK_WITHIN: Final = timedelta(days=1)
"""A value that somebody sets again within this time after it was reverted was rolled back: the revert was not wanted."""


@dataclass(slots=True)
class _Life:
    """One change from outside, from its first record to its last."""

    found: datetime
    changed: datetime
    key: tuple[str, str, str]
    live: Any
    action: str = ""
    by_policy: str = ""
    """What policy decided, whatever a human decided later."""
    human: str = ""
    outcome: str = ""
    ended: datetime | None = None
    attempts: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HealReport:
    """The figures of a time."""

    found: int
    open: int
    by_action: Mapping[str, int]
    """How many were decided how, by the last decision."""
    repaired: int
    """Live and code agree again."""
    mean_seconds_to_repair: float | None
    """From the change, or where that is not known from when it was found, to its end; None if nothing was repaired."""
    mean_seconds_to_repair_by_action: Mapping[str, float] = field(default_factory=dict)
    reverted: int
    failed: int
    """Attempts that failed."""
    false_positives: int
    """Changes that policy wanted to revert or quarantine and a human wanted to keep."""
    rollbacks: int
    """Reverted values that somebody set again within a day."""

    def to_json(self) -> dict[str, Any]:
        """The members of the reply."""
        return {
            name: getattr(self, name) if not isinstance(getattr(self, name), Mapping) else dict(getattr(self, name))
            for name in self.__slots__
        }


def heal_report(records: Iterable[Record]) -> HealReport:
    """The figures of these records, in any order; of other stages than those of drift nothing is counted."""
    lives: dict[str, _Life] = {}
    for record in sorted(records, key=lambda each: each.seq):
        _follow(lives, record)
    all_lives = list(lives.values())
    repaired = [life for life in all_lives if life.ended is not None]
    waits: dict[str, list[float]] = {life.action or "none": [] for life in repaired}
    for life in repaired:
        waits[life.action or "none"].append(_seconds(life))
    every = [seconds for group in waits.values() for seconds in group]
    reverted = [life for life in repaired if life.outcome == DriftOutcome.REVERTED]
    return HealReport(
        found=len(all_lives),
        open=len(all_lives) - len(repaired),
        by_action=dict(Counter(life.action for life in all_lives if life.action)),
        repaired=len(repaired),
        mean_seconds_to_repair=sum(every) / len(every) if every else None,
        mean_seconds_to_repair_by_action={name: sum(group) / len(group) for name, group in waits.items()},
        reverted=len(reverted),
        failed=sum(life.attempts for life in all_lives),
        false_positives=sum(map(_is_false_positive, all_lives)),
        rollbacks=sum(_was_rolled_back(life, all_lives) for life in reverted),
    )


def _follow(lives: dict[str, _Life], record: Record) -> None:
    life = lives.get(record.mutation_id)
    match record.body:
        case DriftedBody() as body:
            at = datetime.fromisoformat(body.origin.at) if body.origin else record.at
            key = record.stack, body.address, body.attribute
            lives[record.mutation_id] = _Life(found=record.at, changed=min(at, record.at), key=key, live=body.live)
        case DriftDecidedBody() as body if life is not None:
            life.action = body.action
            if record.actor:
                life.human = life.action
            else:
                life.by_policy = life.action
        case DriftSettledBody() as body if life is not None:
            life.outcome = body.outcome
            life.attempts += life.outcome == DriftOutcome.FAILED
            life.ended = record.at if life.outcome in (DriftOutcome.REVERTED, DriftOutcome.GONE) else None


def _seconds(life: _Life) -> float:
    return (life.ended - life.changed).total_seconds() if life.ended else 0.0


def _is_false_positive(life: _Life) -> bool:
    return life.by_policy in (DriftAction.REVERT, DriftAction.QUARANTINE) and life.human in (
        DriftAction.CODIFY,
        DriftAction.LEAVE,
    )


def _was_rolled_back(reverted: _Life, lives: Iterable[_Life]) -> bool:
    ended = reverted.ended
    return ended is not None and any(
        other.key == reverted.key and other.live == reverted.live and ended <= other.found <= ended + ROLLED_BACK_WITHIN
        for other in lives
        if other is not reverted
    )
