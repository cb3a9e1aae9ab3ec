"""Counts of calls that pass: one record for each key, stack and operation, and none lost when the ledger is away for a while."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest

from gateway.errors import LedgerUnavailable
from gateway.model.caller import ActorKind, Caller
from gateway.model.data_plane import DataTreatment, Passage, PassedCalls
from gateway.passed_counts import MOST_COUNTERS, MOST_RESOURCES, PassedCounts

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
PUT = Passage(
    caller=Caller(actor="app", kind=ActorKind.SERVICE, key_id="SNTLAPP"),
    service="dynamodb",
    operation="PutItem",
    stack="orders",
    addresses=(),
    treatment=DataTreatment.PASS,
)
RECORDED = replace(PUT, treatment=DataTreatment.RECORD, addresses=("aws_dynamodb_table.a",))


@dataclass
class Ticking:
    """A clock that goes on by a second whenever it is read."""

    at: datetime = NOON

    def now(self) -> datetime:
        self.at += timedelta(seconds=1)
        return self.at


@dataclass
class Recorder:
    """A ledger that keeps what it is given, unless it fails."""

    fails: list[Exception] = field(default_factory=list)
    passed: list[PassedCalls] = field(default_factory=list)

    async def record_passed(self, passed: Sequence[PassedCalls], at: datetime) -> None:
        if self.fails:
            raise self.fails.pop(0)
        self.passed.extend(passed)


@pytest.fixture
def ledger() -> Recorder:
    return Recorder()


@pytest.fixture
def counts(ledger: Recorder) -> PassedCounts:
    return PassedCounts(ledger, Ticking())


async def test_many_calls_are_one_record(counts: PassedCounts, ledger: Recorder) -> None:
    for _ in range(1000):
        counts.add(PUT)
    counts.add_error(PUT)
    await counts.flush()
    (passed,) = ledger.passed
    assert (passed.count, passed.errors, passed.resources) == (1000, 1, {})
    assert NOON < passed.since < passed.until
    await counts.flush()
    assert len(ledger.passed) == 1


async def test_each_key_stack_and_operation_has_its_own(counts: PassedCounts, ledger: Recorder) -> None:
    other = replace(PUT.caller, key_id="SNTSAPP")
    for passage in (PUT, replace(PUT, operation="DeleteItem"), replace(PUT, stack="users"), replace(PUT, caller=other)):
        counts.add(passage)
    await counts.flush()
    assert [passed.count for passed in ledger.passed] == [1, 1, 1, 1]


async def test_resources_are_counted_and_their_number_is_limited(counts: PassedCounts, ledger: Recorder) -> None:
    for number in range(MOST_RESOURCES + 50):
        counts.add(replace(RECORDED, addresses=(f"aws_dynamodb_table.t{number}", "aws_dynamodb_table.t0")))
    await counts.flush()
    (passed,) = ledger.passed
    assert len(passed.resources) == MOST_RESOURCES
    assert passed.resources["aws_dynamodb_table.t0"] == MOST_RESOURCES + 51
    assert passed.others == 50


@pytest.mark.parametrize("error", [LedgerUnavailable("The disk is full."), RuntimeError("odd")])
async def test_nothing_passes_while_nothing_can_be_recorded(
    counts: PassedCounts, ledger: Recorder, error: Exception
) -> None:
    counts.add(RECORDED)
    ledger.fails.append(error)
    await counts.flush()
    assert ledger.passed == []
    with pytest.raises(LedgerUnavailable, match="nothing was sent"):
        counts.add(RECORDED)
    # A call that was sent before may still get its answer.
    counts.add_error(RECORDED)
    await counts.flush()
    assert counts.problem == ""
    counts.add(RECORDED)
    (passed,) = ledger.passed
    assert (passed.count, passed.errors, passed.resources) == (1, 1, {"aws_dynamodb_table.a": 1})


async def test_what_is_counted_while_the_ledger_fails_is_added(ledger: Recorder) -> None:
    counts = PassedCounts(ledger, Ticking())

    class Failing(Recorder):
        async def record_passed(self, passed: Sequence[PassedCalls], at: datetime) -> None:
            counts.add(replace(RECORDED, addresses=("aws_dynamodb_table.b",)))
            raise LedgerUnavailable("The disk is full.")

    counts.add(RECORDED)
    counts._ledger = Failing()
    await counts.flush()
    counts._ledger = ledger
    await counts.flush()
    (passed,) = ledger.passed
    assert (passed.count, passed.resources) == (2, {"aws_dynamodb_table.a": 1, "aws_dynamodb_table.b": 1})


async def test_the_number_of_counters_is_limited(counts: PassedCounts) -> None:
    for number in range(MOST_COUNTERS):
        counts.add(replace(PUT, stack=str(number)))
    with pytest.raises(LedgerUnavailable, match="Too many"):
        counts.add(replace(PUT, stack="one more"))
