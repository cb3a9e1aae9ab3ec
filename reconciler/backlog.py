"""Keeps, from the ledger's records, which mutations still wait to be written back, and which explain a difference."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import structlog

from gateway.model.mutation import WHOLE, EffectAction
from gateway.model.record import Record, Stage
from gateway.ports import LedgerQueries, RecordQuery
from reconciler.drift.applied import AppliedMutation, applied_mutation, carried_out
from reconciler.terraform.plan import ResourceChange

_PAGE = 1_000

log = structlog.get_logger()


@dataclass(slots=True)
class Backlog:
    """The mutations of one stack that are not in its code. Reads every record once, in the order of the ledger."""

    stack: str
    decided: dict[str, AppliedMutation] = field(default_factory=dict)
    """Carried out and neither failed nor written into code, by id, in the order of their records."""
    settled: dict[str, Record] = field(default_factory=dict)
    """SETTLED records, applied, of mutations that are not reconciled yet."""
    committed: set[str] = field(default_factory=set)
    """Written to the stack's branch, and not known to be merged into the protected one."""
    approvers: dict[str, str] = field(default_factory=dict)
    """Who gave an approval, by its id."""
    seq: int = 0
    """The last record read."""

    async def read(self, archive: LedgerQueries) -> None:
        """Take in what the ledger has got since the last time. Raises `errors.LedgerUnavailable`."""
        while records := await archive.records(RecordQuery(after_seq=self.seq, limit=_PAGE, newest_first=False)):
            for record in records:
                self._take(record)
            self.seq = records[-1].seq

    def pending(self) -> tuple[AppliedMutation, ...]:
        """AppliedMutation and not reconciled, oldest first."""
        return tuple(applied for applied in self.decided.values() if applied.id in self.settled)

    def overtaken(self, applied: AppliedMutation) -> Mapping[tuple[str, str], str]:
        """By (address, attribute): the id of the last applied mutation after this one that set the same attribute."""
        later = [other for other in self.pending() if other.seq > applied.seq]
        return {
            (effect.address, effect.attribute): other.id
            for other in later
            for effect in other.effects
            if effect.action is EffectAction.SET
        }

    def explain(self, change: ResourceChange, without: AppliedMutation) -> str:
        """The other mutation that a change in a plan belongs to, empty where it belongs to none."""
        for other in self.decided.values():
            if other.id != without.id and any(
                _touches(effect.address, effect.attribute, change) for effect in other.effects
            ):
                return f"belongs to {other.id}, which is not in the code"
        return ""

    def _take(self, record: Record) -> None:
        if record.stage is Stage.APPROVED:
            self._take_approval(record)
        elif record.stack and record.stack != self.stack:
            return
        elif record.stage is Stage.DECIDED:
            self._take_decided(record)
        elif record.stage is Stage.SETTLED:
            self._take_settled(record)
        elif record.stage is Stage.RECONCILED:
            self.settled.pop(record.mutation_id, None)
            if record.body.get("merged") is True:
                self.committed.discard(record.mutation_id)
            elif "commit" in record.body:
                self.committed.add(record.mutation_id)
            if "commit" in record.body or "nothing_to_do" in record.body:
                self.decided.pop(record.mutation_id, None)

    def _take_decided(self, record: Record) -> None:
        try:
            if not carried_out(record):
                return
            applied = applied_mutation(record, self.approvers)
        except (KeyError, TypeError, ValueError) as error:
            # One record that cannot be read must not keep all others from being written back.
            log.error("record_unreadable", seq=record.seq, mutation=record.mutation_id, error=repr(error))  # noqa: TRY400  one line
            return
        if applied.effects and record.stack == self.stack:
            self.decided[applied.id] = applied

    def _take_settled(self, record: Record) -> None:
        outcome = record.body.get("outcome")
        if outcome == "failed":
            self.decided.pop(record.mutation_id, None)
        elif outcome == "applied" and record.mutation_id in self.decided:
            self.settled[record.mutation_id] = record
            applied = self.decided[record.mutation_id]
            self.decided[applied.id] = replace(applied, settled_at=record.at)

    def _take_approval(self, record: Record) -> None:
        approval, approver = record.body.get("approval"), record.body.get("approver")
        if isinstance(approval, str) and approval:
            self.approvers[approval] = approver if isinstance(approver, str) else record.actor


def _touches(address: str, attribute: str, change: ResourceChange) -> bool:
    if address != change.address:
        return False
    return WHOLE in (attribute, change.attribute) or attribute.partition(".")[0] == change.top
