"""The reconciler's read-back in a process of its own (see `tests.kit.fork_server`) that kills itself at one point: reading, read, settling or
settled; or `never`.
"""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from gateway.ledger.ledger import SqlLedger, open_ledger
from reconciler.changes.backlog import Backlog
from reconciler.drift.in_doubt.read_back import ReadBack
from reconciler.line.loop import Line
from reconciler.proof.proved_edit import DeclaredCache
from reconciler.terraform.cli import Terraform
from reconciler.terraform.refresh import Refreshed
from reconciler.workflows import Worker, durable
from tests.kit.stores import KEYS

GROUP = "aws_autoscaling_group.web"


class Tomorrow:
    """A clock by which AWS accepts no old request any more."""

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(days=1)


@dataclass
class Live:
    """One group, with one value."""

    value: int
    dies: str

    async def __call__(self, targets: list[str]) -> Refreshed:
        if self.dies == "reading":
            _die()
        return Refreshed(read=frozenset(targets), objects={GROUP: {"desired_capacity": self.value}})


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _dying(method: Callable[..., Awaitable[Any]], *, after: bool) -> Callable[..., Awaitable[Any]]:
    async def die(*arguments: Any) -> Any:
        if after:
            await method(*arguments)
        _die()

    return die


async def main(ledger_url: str, database: str, dies: str, value: int) -> None:
    """Settle what is in doubt, or die."""
    points = {"read": (ReadBack, "settle"), "settling": (SqlLedger, "resolve"), "settled": (SqlLedger, "resolve")}
    if dies in points:
        owner, name = points[dies]
        setattr(owner, name, _dying(getattr(owner, name), after=dies == "settled"))
    async with open_ledger(ledger_url, KEYS) as ledger:
        worker = _worker(ledger, Live(value=value, dies=dies))
        async with durable({"shop": worker}, database=database, key=b"a key for tests", poll_seconds=0.05) as runner:
            for _ in range(100):
                await worker.run_once(runner)
                if not await ledger.in_doubt():
                    return
                await asyncio.sleep(0.05)


def _worker(ledger: SqlLedger, live: Live) -> Worker:
    nowhere = Path("nowhere")
    line = Line(
        stack="shop",
        source=nowhere,
        state=None,
        branch="sentinel/shop",
        worktree=nowhere,
        terraform=Terraform(environment={}, workdir=nowhere, executable="no-terraform-here"),
        queries=ledger,
        commands=ledger,
        clock=Tomorrow(),
        declared_cache=DeclaredCache(),
    )
    read_back = ReadBack(
        ledger=ledger,
        queries=ledger,
        clock=Tomorrow(),
        concerns=lambda stack: stack == "shop",
        read_live=live,
        first_look=timedelta(0),
        settle_after=timedelta(minutes=16),
    )
    return Worker(line=line, backlog=Backlog(stack="shop"), read_back=read_back)
