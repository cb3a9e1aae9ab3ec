"""Third audit, 10: calls beyond the open holds are evaluated and rolled back, and cost their caller nothing.

The attack: an agent whose holds are used up goes on asking. Each call is read, surveyed and judged by every policy, and the transaction that
would have charged it is rolled back. What must hold: what was evaluated for nothing is charged as a question is, for whatever reason it was
rolled back; and once that budget is spent, the next call is turned away before anything is evaluated.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from gateway.core.errors import ApprovalSpent, BudgetSpent, ClaimTaken, SentinelError, Stopped, TooManyHeld
from gateway.core.model.budget import Charge
from gateway.line.checks.fairness import Admission, FairLimits
from gateway.line.pipeline import Pipeline
from tests.kit.doubles import AGENT, HUMAN, CloudDouble, LedgerDouble, asked, line


@dataclass
class Limits:
    """Two questions a minute."""

    async def of(self, kind: object) -> FairLimits:
        return FairLimits(questions={"minute": Charge(most=2, seconds=60)})


def guarded(ledger: LedgerDouble) -> Pipeline:
    limits: Any = Limits()
    return line(ledger, CloudDouble(ledger.events), make=partial(Pipeline, admission=Admission(limits)))


@pytest.mark.parametrize(
    ("error", "times"),
    [(TooManyHeld("full"), 1), (ClaimTaken("taken"), 2), (Stopped("stopped"), 2), (ApprovalSpent("spent"), 1)],
    ids=["holds", "claims", "stops", "approvals"],
)
async def test_what_is_rolled_back_is_charged_and_then_not_evaluated(error: SentinelError, times: int) -> None:
    ledger = LedgerDouble(decided_fails=[*[error] * times * 4])
    pipeline = guarded(ledger)
    for _ in range(3):
        with pytest.raises(type(error)):
            await pipeline.execute(AGENT, asked())
    seen = len(ledger.events)
    for _ in range(5):
        with pytest.raises(BudgetSpent):
            await pipeline.execute(AGENT, asked())
    assert len(ledger.events) == seen
    assert [refusal.code for refusal in ledger.refusals[3:]] == ["budget_spent"] * 5


async def test_others_and_what_is_recorded_pay_nothing() -> None:
    ledger = LedgerDouble(decided_fails=[TooManyHeld("full")] * 3)
    pipeline = guarded(ledger)
    for _ in range(3):
        with pytest.raises(TooManyHeld):
            await pipeline.execute(AGENT, asked())
    for _ in range(5):
        assert (await pipeline.execute(HUMAN, asked())).decision is not None


async def test_one_who_has_questions_left_is_evaluated() -> None:
    ledger = LedgerDouble(decided_fails=[TooManyHeld("full")])
    pipeline = guarded(ledger)
    with pytest.raises(TooManyHeld):
        await pipeline.execute(AGENT, asked())
    for _ in range(5):
        assert (await pipeline.execute(AGENT, asked())).decision is not None
