"""What the crash tests play in: a ledger, AWS with its own log, a repository with a remote, and the clock, which only goes forward."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any, Final

from gateway.core.model.caller import ActorKind
from gateway.core.ports import Key
from gateway.core.settings import Settings
from gateway.core.times import SystemClock
from gateway.ledger.keyring import SqlKeyRing
from gateway.ledger.ledger_keys import master_key_of
from gateway.ledger.sealed_ledger import open_sealed_ledger
from tests.chaos import child
from tests.chaos.aws import LoggingAws, append
from tests.chaos.stack import write_stack
from tests.kit.fork_server import ForkServer

QUEUES: Final = 24
_RECOVERY: Final = 1_200.0
"""Seconds after a kill by which leases have run out and AWS accepts no old request any more (16 minutes)."""


@dataclass(kw_only=True)
class World:
    """One ledger and everything beside it."""

    directory: Path
    ledger: str
    """URL of the ledger; empty for SQLite."""
    aws: LoggingAws
    stack: Path
    remote: Path
    state: str
    """Terraform's state as it was at first."""
    key: Key
    forks: ForkServer
    ahead: float = 0.0
    """Seconds by which the clock of the world is ahead of this machine's."""
    processes: Iterator[int] = field(default_factory=lambda: count(1))
    trace: Path | None = None
    """Where the points that processes pass are written; None: nowhere."""
    seen: dict[str, Any] = field(default_factory=dict)
    """What the last process saw that was not killed."""

    @property
    def settings(self) -> Settings:
        """Those of the ledger."""
        return Settings(data=self.directory / "data", ledger=self.ledger)

    def run(self, **spec: Any) -> int:
        """A process; its exit code, negative if it was killed."""
        told = self.directory / "told.json"
        told.unlink(missing_ok=True)
        common = {
            "data": str(self.directory / "data"),
            "ledger": self.ledger,
            "aws": self.aws.port,
            "log": str(self.aws.log),
            "stack": str(self.stack),
            "ahead": self.ahead,
            "key_id": self.key.id,
            "secret": self.key.secret,
            "told": str(told),
            "trace": str(self.trace) if self.trace else "",
            "process": next(self.processes),
        }
        code = self.forks.run({**common, **spec})
        if self.trace is not None:
            append(self.trace, {"process": common["process"], "event": "ENDED"})
        self.seen = json.loads(told.read_text()) if told.exists() else {}
        return code

    def begin_trace(self, name: str) -> Path:
        """A new trace: what happens from now on is appended to this file."""
        self.trace = self.aws.trace = self.directory / f"{name}.trace"
        self.processes = count(1)
        return self.trace

    def wait(self) -> None:
        """Let the time pass after which nothing that was sent can arrive any more."""
        self.ahead += _RECOVERY


@contextmanager
def world(directory: Path, forks: ForkServer, ledger: str = "") -> Iterator[World]:
    """A world in an empty directory, on the ledger at a URL (empty: SQLite)."""
    settings = Settings(data=directory / "data", ledger=ledger)
    settings.data.mkdir(parents=True)
    remote = directory / "remote.git"
    stack = write_stack(directory / "stack", remote, QUEUES)
    with LoggingAws(directory / "aws.log") as aws:
        yield World(
            directory=directory,
            ledger=ledger,
            aws=aws,
            stack=stack,
            remote=remote,
            state=(stack / "terraform.tfstate").read_text(),
            key=asyncio.run(_issue(settings)),
            forks=forks,
        )


def forks() -> ForkServer:
    """What the processes of any number of worlds are forked from; end it with its block."""
    return ForkServer(child.__name__)


async def _issue(settings: Settings) -> Key:
    async with open_sealed_ledger(settings) as ledger:
        ring = SqlKeyRing(ledger, master=master_key_of(settings), clock=SystemClock())
        return await ring.issue(actor="human", kind=ActorKind.HUMAN, lasts=timedelta(days=80))
