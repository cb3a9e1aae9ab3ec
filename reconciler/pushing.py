"""Pushes a stack's branch whenever it has new commits. It runs beside the line, so that a slow or dead remote holds up no write-back."""

import asyncio
from dataclasses import dataclass, field

import structlog

from gateway.errors import SentinelError
from reconciler.backlog import Backlog
from reconciler.publish.push import Remote
from reconciler.retry import Retry

log = structlog.get_logger()


@dataclass(slots=True)
class Pushing:
    """Keeps the branch of one stack at a remote as it is here. A failure is logged and tried again; every commit stays here."""

    stack: str
    remote: Remote
    backlog: Backlog
    pushed: int = -1
    """How many of our commits the ledger named when the branch was last pushed; -1 before the first time."""
    retry: Retry = field(default_factory=Retry)

    async def push_once(self) -> bool:
        """Push if there are new commits and no failure has to be waited for; returns whether that succeeded."""
        known = len(self.backlog.commits)
        if known == self.pushed or not self.retry.due:
            return False
        bound = log.bind(stack=self.stack, remote=self.remote.name, branch=self.remote.branch)
        try:
            commit = await self.remote.push(frozenset(self.backlog.commits))
        except (SentinelError, OSError) as error:
            bound.error("not_pushed", error=str(error), again_in_seconds=self.retry.failed())
            return False
        self.pushed, self.retry = known, Retry()
        if commit:
            bound.info("pushed", commit=commit)
        return True

    async def run(self, poll_seconds: float, stop: asyncio.Event) -> None:
        """Push until `stop` is set; a push that is under way then is ended."""
        pushing = asyncio.ensure_future(self._forever(poll_seconds))
        stopping = asyncio.ensure_future(stop.wait())
        await asyncio.wait({pushing, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        pushing.cancel()
        try:
            await pushing
        except asyncio.CancelledError:
            return

    async def _forever(self, poll_seconds: float) -> None:
        while True:
            await self.push_once()
            await asyncio.sleep(poll_seconds)
