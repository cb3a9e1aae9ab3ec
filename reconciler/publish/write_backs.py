"""Who wanted a write-back and why, from the ledger, for the text of a pull request."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from gateway.core.drift_book import DriftBook
from gateway.core.ports import LedgerQueries, RecordQuery
from gateway.core.records.drift import DriftSettledBody
from gateway.core.records.record import Record, Stage
from gateway.core.records.write_backs import ReconciledBody
from reconciler.changes.applied_mutation import AppliedMutation, applied_mutation, mutation_of_drift
from reconciler.changes.backlog import Backlog
from reconciler.publish.pull_request_text import WriteBack


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteBacks:
    """The records of one stack's write-backs."""

    queries: LedgerQueries
    backlog: Backlog

    @property
    def commits(self) -> Collection[str]:
        """The commits of this stack that records name."""
        return frozenset(self.backlog.commits)

    async def of(self, key: str) -> WriteBack:
        """The story of a write-back, named by its mutation and, if it corrects a record, `@` and that record's number.

        Raises `gateway.core.errors.LedgerUnavailable`.
        """
        if key.startswith("fgn_"):
            return await self._of_drift(key)
        mutation, _, corrects = key.partition("@")
        records = await self.queries.records(RecordQuery(mutation_id=mutation, newest_first=False, limit=1_000))
        written = _record_of_commit(records, int(corrects) if corrects else 0)
        return WriteBack(key=key, applied=self._applied(records), body=written or ReconciledBody())

    async def _of_drift(self, key: str) -> WriteBack:
        """The story of a change from outside that is proposed for the code."""
        records = await self.queries.records(RecordQuery(mutation_id=key, newest_first=False, limit=1_000))
        book = DriftBook()
        for record in records:
            book.add(record)
        drift = book.open.get(key)
        bodies = [record.body for record in reversed(records) if isinstance(record.body, DriftSettledBody)]
        written = next((body for body in bodies if body.commit), None)
        return WriteBack(key=key, applied=mutation_of_drift(drift) if drift else None, body=written or ReconciledBody())

    def _applied(self, records: Sequence[Record]) -> AppliedMutation | None:
        decided = (record for record in records if record.stage is Stage.DECIDED)
        return next((applied_mutation(record, self.backlog.approvers) for record in decided), None)


def _record_of_commit(records: Sequence[Record], corrects: int) -> ReconciledBody | None:
    """The record that names the commit of this write-back."""
    bodies = (record.body for record in records)
    return next(
        (body for body in bodies if isinstance(body, ReconciledBody) and body.commit and body.corrects == corrects),
        None,
    )
