"""Of several reports about one mutation, the newest counts: it corrects the earlier ones."""

from datetime import UTC, datetime

from gateway.doors.api.left import left_to_humans, newest_of_each
from gateway.doubt_ports import Doubt
from gateway.model.record import Record, Stage
from gateway.ports import RecordQuery

NOW = datetime(2026, 3, 1, tzinfo=UTC)
LEFT = {"address": "a.b", "attribute": "c", "value": 1, "reason": "Because.", "chain": []}


def reported(seq: int, mutation: str, **body: object) -> Record:
    return Record(stage=Stage.RECONCILED, at=NOW, mutation_id=mutation, actor="ann", seq=seq, body=body)  # type: ignore[arg-type]  # JSON


class Ledger:
    """Has two mutations, the first with a correction."""

    asked: RecordQuery | None = None

    async def records(self, query: RecordQuery) -> list[Record]:
        """The reports, newest first."""
        self.asked = query
        return [reported(3, "m1", left=[]), reported(2, "m2", left=[LEFT]), reported(1, "m1", left=[LEFT])]

    async def in_doubt(self) -> list[Doubt]:
        """One that the reconciler still looks at."""
        return [Doubt(mutation_id="m3", stack="s", decided_at=NOW)]


def test_the_newest_report_of_each_mutation() -> None:
    found = newest_of_each([reported(3, "m1"), reported(2, "m2"), reported(1, "m1")])
    assert [record.seq for record in found] == [3, 2]


async def test_what_a_later_report_does_not_leave_is_not_left() -> None:
    ledger = Ledger()
    left = await left_to_humans(ledger, ledger, actor="ann")  # type: ignore[arg-type]  # only what is asked
    assert [entry["mutation_id"] for entry in left] == ["m2"]
    assert ledger.asked is not None
    assert (ledger.asked.actor, ledger.asked.stage) == ("ann", Stage.RECONCILED)
