"""Rules are counted by the hour from the newest decision back, without a gap, and what was read is not read again."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from gateway.core.model.verdict import Verdict
from gateway.core.ports import ArchivedRecords, RuleSpoke, Spoken
from gateway.policy import rule_counts
from gateway.policy.rule_counts import RuleTally
from tests.kit.doubles import NOW


class Decisions:
    """As many decisions as are added, a minute apart and each refused by one rule; it counts what is read."""

    def __init__(self, many: int) -> None:
        self.seqs: list[int] = []
        self.read: list[int] = []
        self.old: ArchivedRecords | None = None
        self.add(many)

    def add(self, many: int) -> None:
        self.seqs += [len(self.seqs) + 1 + each for each in range(many)]

    async def rules_spoken(self, *, after_seq: int = 0, before_seq: int = 0, limit: int) -> Spoken:
        found = [each for each in self.seqs if each > after_seq and (not before_seq or each < before_seq)][-limit:]
        self.read += found
        said = [self._said(seq) for seq in reversed(found)]
        ends = (found[0], found[-1]) if found else (0, 0)
        return Spoken(
            decisions=len(found),
            first_seq=ends[0],
            last_seq=ends[1],
            oldest=said[-1].at if said else None,
            said=said,
        )

    async def archived(self) -> ArchivedRecords | None:
        return self.old

    @staticmethod
    def _said(seq: int) -> RuleSpoke:
        verdict = Verdict.DENY if seq % 2 else Verdict.HOLD
        at = NOW + timedelta(minutes=seq)
        return RuleSpoke(rule="SEN-X", verdict=verdict, tried=seq % 10 == 0, at=at, mutation_id=f"mut_{seq}", seq=seq)


def tally_of(decisions: Any) -> RuleTally:
    return RuleTally(queries=decisions)


async def read_all(tally: RuleTally) -> None:
    async with asyncio.timeout(60):
        while (await tally.since(NOW)).reading:  # noqa: ASYNC110  it is read in the background, and each question says whether it is over
            await asyncio.sleep(0.01)


@pytest.fixture
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule_counts, "_AT_ONCE", 10)
    monkeypatch.setattr(rule_counts, "_PAUSE", 0)


@pytest.mark.usefixtures("few_at_once")
async def test_everything_is_counted_once_however_it_comes() -> None:
    decisions = Decisions(95)
    tally = tally_of(decisions)
    await read_all(tally)
    decisions.add(4)
    counts = await tally.since(NOW)
    assert sorted(decisions.read) == decisions.seqs
    count = counts.by_rule["SEN-X"]
    assert (count.denied, count.held, count.warned) == (50, 40, 9)
    assert [each.seq for each in count.latest] == [*range(99, 89, -1)]
    assert counts.counted_from == counts.since
    await tally.close()


@pytest.mark.usefixtures("few_at_once")
async def test_a_gap_is_not_left_out_in_silence() -> None:
    decisions = Decisions(20)
    tally = tally_of(decisions)
    await read_all(tally)
    decisions.add(40)
    first = await tally.since(NOW)
    assert first.reading
    assert first.counted_from > first.since
    await read_all(tally)
    count = (await tally.since(NOW)).by_rule["SEN-X"]
    assert count.denied + count.held + count.warned == 60
    await tally.close()


@pytest.mark.usefixtures("few_at_once")
async def test_what_left_the_database_is_not_counted_and_that_is_said() -> None:
    decisions = Decisions(20)
    decisions.old = ArchivedRecords(last=3, until=NOW + timedelta(minutes=3))
    tally = tally_of(decisions)
    await read_all(tally)
    assert (await tally.since(NOW - timedelta(hours=5))).counted_from == NOW + timedelta(minutes=3)
    await tally.close()


@pytest.mark.usefixtures("few_at_once")
async def test_a_range_has_the_hours_in_it() -> None:
    tally = tally_of(Decisions(120))
    await read_all(tally)
    whole = (await tally.since(NOW)).by_rule["SEN-X"]
    later = (await tally.since(NOW + timedelta(hours=1))).by_rule["SEN-X"]
    assert later.denied + later.held < whole.denied + whole.held
    assert later.last == whole.last
    await tally.close()


@pytest.mark.usefixtures("few_at_once")
async def test_only_so_many_decisions_are_read_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule_counts, "MOST_DECISIONS", 40)
    decisions = Decisions(500)
    tally = tally_of(decisions)
    await read_all(tally)
    counts = await tally.since(NOW)
    assert len(decisions.read) <= 60
    assert counts.counted_from > counts.since
    assert not counts.reading
    await tally.close()
