"""Who wanted a write-back and why, from the ledger, for the text of a pull request."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import structlog

from gateway.core.drift_book import DriftBook
from gateway.core.ports import LedgerQueries, RecordQuery
from gateway.core.records.record import Record, Stage
from reconciler.changes.applied_mutation import AppliedMutation, applied_mutation, mutation_of_drift
from reconciler.changes.backlog import Backlog
from reconciler.publish.pull_request_text import WriteBack

log = structlog.get_logger()


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
        body = written.body if written else {}
        return WriteBack(key=key, commit=str(body.get("commit") or ""), applied=self._applied(records), body=body)

    async def _of_drift(self, key: str) -> WriteBack:
        """The story of a change from outside that is proposed for the code."""
        records = await self.queries.records(RecordQuery(mutation_id=key, newest_first=False, limit=1_000))
        book = DriftBook()
        for record in records:
            book.add(record)
        drift = book.open.get(key)
        written = next((record for record in reversed(records) if "commit" in record.body), None)
        body = written.body if written else {}
        applied = mutation_of_drift(drift) if drift else None
        return WriteBack(key=key, commit=str(body.get("commit") or ""), applied=applied, body=body)

    def _applied(self, records: Sequence[Record]) -> AppliedMutation | None:
        for record in records:
            if record.stage is Stage.DECIDED:
                try:
                    return applied_mutation(record, self.backlog.approvers)
                except (AttributeError, KeyError, TypeError, ValueError) as error:
                    log.error("record_unreadable", seq=record.seq, mutation=record.mutation_id, error=repr(error))  # noqa: TRY400  one line
        return None


def _record_of_commit(records: Sequence[Record], corrects: int) -> Record | None:
    """The record that names the commit of this write-back."""
    named = (record for record in records if record.stage is Stage.RECONCILED and "commit" in record.body)
    return next((record for record in named if (record.body.get("corrects") or 0) == corrects), None)
