"""A gateway verifies its ledger at most once a minute, leaves a large one to the command, and says what does not fit."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from gateway.core.errors import LedgerBroken
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Record, Stage
from gateway.doors.api.verifier import MOST_RECORDS, Verifier
from tests.kit.bodies import sample_record
from tests.kit.doubles import NOW


@dataclass
class Ledger:
    """Has so many records, and may be broken."""

    count: int = 3
    problem: str = ""
    verified: int = field(default=0)

    async def records(self, query: RecordQuery) -> Sequence[Record]:
        """The newest."""
        assert query.limit == 1
        return [sample_record(stage=Stage.RELEASED, at=NOW, seq=self.count)] if self.count else []

    async def verify(self) -> int:
        """The number, or what is wrong."""
        self.verified += 1
        if self.problem:
            raise LedgerBroken(self.problem)
        return self.count


@dataclass
class Watch:
    """Shows this time."""

    at: datetime = NOW

    def now(self) -> datetime:
        """The time."""
        return self.at


async def asked(verifier: Verifier, ledger: Ledger, watch: Watch) -> Any:
    return await verifier.verify(ledger, watch)  # type: ignore[arg-type]  # only what is asked


async def test_an_answer_lasts_a_minute() -> None:
    verifier, ledger, watch = Verifier(), Ledger(), Watch()
    first = await asked(verifier, ledger, watch)
    assert (first.records, first.problem, first.too_many) == (3, "", False)
    watch.at += timedelta(seconds=59)
    assert await asked(verifier, ledger, watch) is first
    watch.at += timedelta(seconds=1)
    assert await asked(verifier, ledger, watch) is not first
    assert ledger.verified == 2


async def test_what_does_not_fit_is_told() -> None:
    found = await asked(Verifier(), Ledger(problem="Record 2 was changed."), Watch())
    assert (found.problem, found.records) == ("Record 2 was changed.", 3)


async def test_a_large_ledger_is_left_to_the_command() -> None:
    ledger = Ledger(count=MOST_RECORDS + 1)
    found = await asked(Verifier(), ledger, Watch())
    assert found.too_many
    assert ledger.verified == 0
