"""Reads that AWS charges for have a budget, those that cost nothing have none."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest

from gateway.aws.models.billed_reads import is_billed
from gateway.core.errors import BudgetSpent, PolicyUnavailable
from gateway.core.model.budget import Charge
from gateway.line.checks.fairness import FairLimits
from gateway.line.read_budget import ReadBudget
from tests.kit.doubles import AGENT, HUMAN, NOW


@dataclass
class Clock:
    at: datetime = field(default=NOW)

    def now(self) -> datetime:
        return self.at


@dataclass
class Limits:
    charges: dict[str, Charge]
    fails: bool = False

    async def of(self, kind: object) -> FairLimits:
        if self.fails:
            raise PolicyUnavailable("The policies did not answer.")
        return FairLimits(billed_reads=self.charges)


def budget(clock: Clock, *, most: int = 2, fails: bool = False) -> ReadBudget:
    limits: Any = Limits({"billed reads/minute": Charge(most=most, seconds=60)}, fails)
    return ReadBudget(limits, is_billed, clock)


async def test_an_actor_waits_when_its_budget_is_used() -> None:
    clock = Clock()
    reads = budget(clock)
    for _ in range(2):
        await reads.charge(AGENT, "ce", "GetCostAndUsage")
    with pytest.raises(BudgetSpent, match="reads that AWS charges for a minute"):
        await reads.charge(AGENT, "textract", "AnalyzeDocument")
    await reads.charge(HUMAN, "ce", "GetCostAndUsage")
    clock.at += timedelta(seconds=31)
    await reads.charge(AGENT, "ce", "GetCostAndUsage")


async def test_what_costs_nothing_is_not_counted() -> None:
    reads = budget(Clock(), most=1)
    for _ in range(5):
        await reads.charge(AGENT, "ec2", "DescribeInstances")
        await reads.charge(AGENT, "s3", "GetObject")
        await reads.charge(AGENT, "logs", "DescribeLogGroups")
    await reads.charge(AGENT, "logs", "StartQuery")


async def test_without_an_answer_of_the_policies_nothing_is_bought() -> None:
    reads = budget(Clock(), fails=True)
    await reads.charge(AGENT, "ec2", "DescribeInstances")
    with pytest.raises(PolicyUnavailable):
        await reads.charge(AGENT, "ce", "GetCostAndUsage")
