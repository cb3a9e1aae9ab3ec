"""Changes from outside, as the ledger tells them: what was found, what is to be done about it, and what came of that."""

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

import structlog

from gateway.core.model.json import Json
from gateway.core.ports import LedgerQueries, RecordQuery
from gateway.core.records.drift import DriftDecidedBody, DriftedBody, DriftLookedBody, DriftSettledBody, RecordedOrigin
from gateway.core.records.record import Record, Stage

log = structlog.get_logger()

_PAGE: Final = 1_000
_STAGES: Final = (Stage.DRIFT_SETTLED, Stage.DRIFT_DECIDED, Stage.DRIFTED, Stage.DRIFT_LOOKED)
"""In the order in which they are read: what follows from a record that is appended meanwhile is then read the next time."""


class DriftAction(StrEnum):
    """What is to be done about a change from outside."""

    CODIFY = "codify"
    """Propose it for the code."""
    REVERT = "revert"
    """Set the declared value again."""
    QUARANTINE = "quarantine"
    """Only people may change the resource, until one of them decides."""
    HUMAN = "human"
    """A human must decide."""
    LEAVE = "leave"
    """Nothing: a controller owns the value."""


class DriftOutcome(StrEnum):
    """What came of a decision."""

    CODIFIED = "codified"
    REVERTED = "reverted"
    FAILED = "failed"
    """It could not be done; a human must decide again."""
    GONE = "gone"
    """Live and code agree again, by whatever way."""


ENDS: Final = frozenset({DriftOutcome.REVERTED, DriftOutcome.GONE})
"""After these, the same value is another change from outside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignDrift:
    """One value that somebody changed round Sentinel, with what became of it so far."""

    id: str
    seq: int = 0
    """Number of the record that says so."""
    at: datetime
    """When it was found."""
    stack: str
    address: str
    attribute: str
    resource_type: str = ""
    live: Json = None
    """None for a secret."""
    declared: Json = None
    sensitive: bool = False
    origin: RecordedOrigin | None = None
    """Who did it; None if that is not known."""
    action: DriftAction | None = None
    """The latest decision; None before there is one."""
    rule: str = ""
    reason: str = ""
    decided_by: str = ""
    """The human who decided; empty for the policy."""
    decided_at: datetime | None = None
    decision: int = 0
    """Number of the record of the decision."""
    outcome: DriftOutcome | None = None
    """What came of this decision; None while nothing did."""
    commit: str = ""
    """The commit that proposes it for the code, once there is one."""
    written: frozenset[str] = frozenset()
    """The addresses that the commit changes."""

    @property
    def key(self) -> tuple[str, str, str]:
        """(stack, address, attribute)."""
        return self.stack, self.address, self.attribute

    @property
    def waits(self) -> bool:
        """Whether the decision is still to be carried out."""
        return self.action in (DriftAction.CODIFY, DriftAction.REVERT) and self.outcome is None

    @property
    def needs_human(self) -> bool:
        """Whether a human must decide."""
        asks = self.action in (DriftAction.HUMAN, DriftAction.QUARANTINE)
        return asks or self.outcome is DriftOutcome.FAILED


@dataclass(slots=True)
class DriftBook:
    """Every change from outside that live and code still differ by. Reads each record once."""

    open: dict[str, ForeignDrift] = field(default_factory=dict)
    """By id, in the order in which they were found."""
    ended: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """How often each value was set right again, by (stack, address, attribute)."""
    commits: dict[str, set[str]] = field(default_factory=dict)
    """The commits that propose changes from outside, by stack."""
    looked: dict[str, datetime] = field(default_factory=dict)
    """When each stack was last looked through for changes from outside, as far as recorded: to the hour. A stack that nobody looked at is absent."""
    quarantined: Mapping[str, tuple[ForeignDrift, ...]] = field(default_factory=dict)
    """Those that are quarantined, by address, which several stacks may have: every mutation asks, so it is not looked for each time."""
    seq: dict[Stage, int] = field(default_factory=dict)
    """The last record read of each stage."""
    _reading: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)
    """Workflows read in another thread."""

    async def read(self, queries: LedgerQueries) -> None:
        """Read the records that were appended since the last call. Raises `errors.LedgerUnavailable`."""
        found = [record for stage in _STAGES for record in await self._new(queries, stage)]
        with self._reading:
            for record in sorted(found, key=lambda record: record.seq):
                if record.seq > self.seq.get(record.stage, 0):
                    self.seq[record.stage] = record.seq
                    self._take(record)
            if found:
                held: dict[str, list[ForeignDrift]] = {}
                for each in self.open.values():
                    if each.action is DriftAction.QUARANTINE:
                        held.setdefault(each.address, []).append(each)
                self.quarantined = {address: tuple(drifts) for address, drifts in held.items()}

    async def _new(self, queries: LedgerQueries, stage: Stage) -> list[Record]:
        found: list[Record] = []
        after = self.seq.get(stage, 0)
        while records := await queries.records(
            RecordQuery(stage=stage, after_seq=after, limit=_PAGE, newest_first=False)
        ):
            found += records
            after = records[-1].seq
        return found

    def _take(self, record: Record) -> None:
        try:
            self.add(record)
        except ValueError as error:
            # A newer version of Sentinel may know actions that this one does not; the drift then stays as it was.
            log.error("record_unreadable", seq=record.seq, drift=record.mutation_id, error=repr(error))  # noqa: TRY400  one line

    def add(self, record: Record) -> None:
        """Take one record into account; those of other stages and of drift that has ended change nothing."""
        known = self.open.get(record.mutation_id)
        if isinstance(record.body, DriftLookedBody | DriftedBody):
            self.looked[record.stack] = max(record.at, self.looked.get(record.stack, record.at))
        match record.body:
            case DriftedBody() as body:
                self.open[record.mutation_id] = _found(record, body)
            case DriftDecidedBody() as body if known is not None:
                self.open[known.id] = _decided(known, record, body)
            case DriftSettledBody() as body if known is not None:
                self._settle(known, body)

    def _settle(self, known: ForeignDrift, body: DriftSettledBody) -> None:
        outcome = DriftOutcome(body.outcome)
        if body.commit:
            self.commits.setdefault(known.stack, set()).add(body.commit)
        if outcome in ENDS:
            self.ended[known.key] += 1
            del self.open[known.id]
        else:
            self.open[known.id] = replace(
                known, outcome=outcome, commit=body.commit, written=frozenset(body.edited_addresses)
            )


def _found(record: Record, body: DriftedBody) -> ForeignDrift:
    return ForeignDrift(
        id=record.mutation_id,
        seq=record.seq,
        at=record.at,
        stack=record.stack,
        address=body.address,
        attribute=body.attribute,
        resource_type=body.resource_type,
        live=body.live,
        declared=body.declared,
        sensitive=body.sensitive,
        origin=body.origin,
    )


def _decided(known: ForeignDrift, record: Record, body: DriftDecidedBody) -> ForeignDrift:
    return replace(
        known,
        action=DriftAction(body.action),
        rule=body.rule,
        reason=body.reason,
        decided_by=record.actor,
        decided_at=record.at,
        decision=record.seq,
        outcome=None,
    )
