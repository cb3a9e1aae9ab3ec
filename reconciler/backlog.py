"""Which mutations still wait to be written back, according to the ledger, and which one explains a change in a plan."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import structlog

from gateway.model.mutation import WHOLE, EffectAction
from gateway.model.path import AttributePath
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
    """Allowed mutations that neither failed nor are written into code, by id, in the order of their records."""
    settled: dict[str, Record] = field(default_factory=dict)
    """SETTLED records, outcome applied, of mutations that are not reconciled yet."""
    committed: set[str] = field(default_factory=set)
    """Mutations that are committed to the stack's branch and not yet seen in the protected branch."""
    commits: set[str] = field(default_factory=set)
    """The commits of this stack that RECONCILED records name: our own."""
    approvers: dict[str, str] = field(default_factory=dict)
    """Who gave an approval, by the approval's id."""
    seq: int = 0
    """The last record read."""

    async def read(self, ledger: LedgerQueries) -> None:
        """Read the records that were appended since the last call. Raises `errors.LedgerUnavailable`."""
        while records := await ledger.records(RecordQuery(after_seq=self.seq, limit=_PAGE, newest_first=False)):
            for record in records:
                self._add(record)
            self.seq = records[-1].seq

    def pending(self) -> tuple[AppliedMutation, ...]:
        """Mutations that were applied and are not reconciled, oldest first."""
        return tuple(applied for applied in self.decided.values() if applied.id in self.settled)

    def superseded(self, applied: AppliedMutation) -> Mapping[tuple[str, str], str]:
        """By (address, attribute): the id of the last applied mutation after this one that set the same attribute."""
        later = [other for other in self.pending() if other.seq > applied.seq]
        return {
            (effect.address, effect.attribute): other.id
            for other in later
            for effect in other.effects
            if effect.action is EffectAction.SET
        }

    def explain(self, change: ResourceChange, without: AppliedMutation) -> str:
        """The mutation other than `without` that caused a change in a plan, as half a sentence; empty if there is none."""
        for other in self.decided.values():
            if other.id != without.id and any(
                _touches(effect.address, effect.attribute, change) for effect in other.effects
            ):
                return f"belongs to {other.id}, which is not in the code"
        return ""

    def _add(self, record: Record) -> None:
        if record.stage is Stage.APPROVED:
            self._add_approval(record)
        elif record.stack and record.stack != self.stack:
            return
        elif record.stage is Stage.DECIDED:
            self._add_decided(record)
        elif record.stage is Stage.SETTLED:
            self._add_settled(record)
        elif record.stage is Stage.RECONCILED:
            self.settled.pop(record.mutation_id, None)
            if record.body.get("merged") is True:
                self.committed.discard(record.mutation_id)
            elif "commit" in record.body:
                self.committed.add(record.mutation_id)
            if isinstance(commit := record.body.get("commit"), str):
                self.commits.add(commit)
            if "commit" in record.body or "nothing_to_do" in record.body:
                self.decided.pop(record.mutation_id, None)

    def _add_decided(self, record: Record) -> None:
        try:
            if not carried_out(record):
                return
            applied = applied_mutation(record, self.approvers)
        except (KeyError, TypeError, ValueError) as error:
            # One unreadable record must not keep the others from being written back.
            log.error("record_unreadable", seq=record.seq, mutation=record.mutation_id, error=repr(error))  # noqa: TRY400  one line
            return
        if applied.effects and record.stack == self.stack:
            self.decided[applied.id] = applied

    def _add_settled(self, record: Record) -> None:
        outcome = record.body.get("outcome")
        if outcome == "failed":
            self.decided.pop(record.mutation_id, None)
        elif outcome == "applied" and record.mutation_id in self.decided:
            self.settled[record.mutation_id] = record
            applied = self.decided[record.mutation_id]
            self.decided[applied.id] = replace(applied, settled_at=record.at)

    def _add_approval(self, record: Record) -> None:
        approval, approver = record.body.get("approval"), record.body.get("approver")
        if isinstance(approval, str) and approval:
            self.approvers[approval] = approver if isinstance(approver, str) else record.actor


def _touches(address: str, attribute: str, change: ResourceChange) -> bool:
    if address != change.address:
        return False
    return WHOLE in (attribute, change.attribute) or AttributePath(attribute).top == change.top
