"""What runs beside the answers goes on after a failure, and takes over what other gateways left."""

import asyncio
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest

from gateway.app import background
from gateway.core.errors import LedgerUnavailable
from tests.kit.doubles import FixedClock

TIMES = 3


@dataclass
class Failing:
    """Ledger, stacks and counts in one: every call is noted, and all but the last of `TIMES` fail."""

    calls: list[str] = field(default_factory=list)
    done: asyncio.Event = field(default_factory=asyncio.Event)
    recovered: asyncio.Event = field(default_factory=asyncio.Event)
    problem: str = "The ledger is away."
    problems: tuple[str, ...] = ()
    revision: str = "r"

    def refresh(self) -> bool:
        return self._called("refresh", OSError("disk"))

    async def expire(self, at: datetime) -> int:
        broken = KeyError("at") if "expire" in self.calls else LedgerUnavailable("away")
        return self._called("expire", broken)

    async def renew_lease(self, at: datetime, lasts: timedelta) -> None:
        broken = KeyError("at") if "renew" in self.calls else LedgerUnavailable("away")
        self._called("renew", broken)

    async def recover(self, at: datetime) -> int:
        self.calls.append("recover")
        self.recovered.set()
        return 1

    async def flush(self) -> None:
        if len(self.calls) < TIMES:
            self.calls.append("flush")
        else:
            self.done.set()

    async def follow(self) -> None:
        broken = KeyError("at") if "follow" in self.calls else LedgerUnavailable("away")
        self._called("follow", broken)

    async def end_lease(self) -> None:
        self._called("end", LedgerUnavailable("away"))

    def _called(self, name: str, error: Exception) -> bool:
        self.calls.append(name)
        if self.calls.count(name) < TIMES:
            raise error
        self._loop.call_soon_threadsafe(self.done.set)
        return True

    def __post_init__(self) -> None:
        self._loop = asyncio.get_running_loop()


WORK: dict[str, Any] = {
    "refresh": background.reload_stacks,
    "expire": lambda double: background.repeat(lambda: double.expire(FixedClock().now()), 0, failed="claims_not_ended"),
    "renew": lambda double: background.keep_lease(double, FixedClock(), timedelta()),
    "flush": background.record_counts,
    "follow": lambda double: background.repeat(double.follow, 0, failed="drift_not_followed"),
}


@pytest.mark.parametrize("name", WORK)
async def test_a_failure_does_not_end_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for constant in ("_RELOAD_SECONDS", "_COUNTED_SECONDS", "_RETRY_SECONDS"):
        monkeypatch.setattr(background, constant, 0)
    double = Failing()
    task = asyncio.ensure_future(WORK[name](double))
    await asyncio.wait_for(double.done.wait(), 300)
    assert not task.done()
    task.cancel()
    assert double.calls.count(name) >= TIMES


async def test_what_nobody_will_settle_is_taken_over_with_each_renewal() -> None:
    double = Failing(calls=["renew"] * (TIMES - 1))
    task = asyncio.ensure_future(WORK["renew"](double))
    await asyncio.wait_for(double.recovered.wait(), 300)
    task.cancel()


async def test_a_ledger_that_is_away_does_not_keep_a_gateway_from_stopping() -> None:
    double: Any = Failing()
    await background.end_lease(double)
    assert double.calls == ["end"]
