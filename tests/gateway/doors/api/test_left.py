"""What the reconciler's reports leave is listed. Of several about one mutation the ledger gives the newest: tests/ports/test_record_search.py."""

from datetime import UTC, datetime

from gateway.core.ports import Doubt, RecordQuery
from gateway.core.records.record import Record, Stage
from gateway.doors.api.left import left_to_humans
from tests.kit.bodies import sample_record

NOW = datetime(2026, 3, 1, tzinfo=UTC)
LEFT = {"address": "a.b", "attribute": "c", "value": 1, "reason": "Because.", "chain": []}


def reported(seq: int, mutation: str, **body: object) -> Record:
    return sample_record(stage=Stage.RECONCILED, at=NOW, mutation_id=mutation, actor="ann", seq=seq, body=body)


class Ledger:
    """Has a report that leaves a value."""

    asked: RecordQuery | None = None

    async def records(self, query: RecordQuery) -> list[Record]:
        """The report."""
        self.asked = query
        return [reported(2, "m2", left=[LEFT])]

    async def in_doubt(self) -> list[Doubt]:
        """One that the reconciler still looks at."""
        return [Doubt(mutation_id="m3", stack="s", decided_at=NOW)]


async def test_what_a_report_leaves_is_left() -> None:
    ledger = Ledger()
    left, more = await left_to_humans(ledger, ledger, actor="ann")  # type: ignore[arg-type]  # only what is asked
    assert [entry["mutation_id"] for entry in left] == ["m2"]
    assert not more
    assert ledger.asked is not None
    assert (ledger.asked.actor, ledger.asked.stage, ledger.asked.left) == ("ann", Stage.RECONCILED, True)
