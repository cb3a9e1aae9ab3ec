"""Pushes a stack's branch whenever it has new commits, and proposes it where pull requests are wanted.

It runs beside the line, so that a slow or dead remote holds up no write-back.
"""

import asyncio
import time
from dataclasses import dataclass, field

import structlog

from gateway.core.errors import SentinelError
from gateway.core.failpoints import Point, failpoint
from reconciler.changes.backlog import Backlog
from reconciler.errors import GitHubBusy
from reconciler.publish.push import Remote
from reconciler.publish.stack_pull_request import StackPullRequest
from reconciler.retry import Retry

log = structlog.get_logger()


@dataclass(slots=True)
class Publisher:
    """Keeps the branch of one stack at a remote as it is here. A failure is logged and tried again; every commit stays here."""

    stack: str
    remote: Remote
    backlog: Backlog
    proposing: StackPullRequest | None = None
    """Keeps the pull request of the branch, if that is wanted."""
    window_seconds: float = 0.0
    """How long after the first change the others are waited for, so that a burst is proposed once."""
    look_seconds: float = 0.0
    """How often the pull request is looked at without a change of ours; 0: never."""
    pushed: tuple[int, int] = (-1, -1)
    """How many of our commits the ledger named, and how many of them were not merged, when the branch was last pushed."""
    retry: Retry = field(default_factory=Retry)
    changed_at: float | None = None
    """When the first change that is not pushed was seen (monotonic seconds)."""
    looked_at: float = 0.0

    async def push_once(self) -> bool:
        """Push if there are new commits and neither a burst nor a failure has to be waited for; returns whether that succeeded."""
        known = (len(self.backlog.commits), len(self.backlog.committed))
        if not self._due(known):
            return False
        bound = log.bind(stack=self.stack, remote=self.remote.name, branch=self.remote.branch)
        commit = ""
        try:
            if self.proposing is not None:
                await self.remote.fetch_protected()
            commit = await self.remote.push(frozenset(self.backlog.commits))
            failpoint(Point.PUSHED)
            if self.proposing is not None:
                await self.proposing.propose(commit)
        except (SentinelError, OSError, ValueError, KeyError, TypeError) as error:
            wait = error.wait_seconds if isinstance(error, GitHubBusy) else 0.0
            bound.error("not_pushed", error=str(error), again_in_seconds=self.retry.failed(wait))
            await self._record_failure(commit, error)
            return False
        if commit and known != self.pushed:
            bound.info("pushed", commit=commit)
        self.pushed, self.retry, self.changed_at, self.looked_at = known, Retry(), None, time.monotonic()
        return True

    def _due(self, known: tuple[int, int]) -> bool:
        now = time.monotonic()
        if not self.retry.due:
            return False
        if known == self.pushed:
            return bool(self.look_seconds) and now >= self.looked_at + self.look_seconds
        if self.pushed == (-1, -1):
            return True
        self.changed_at = now if self.changed_at is None else self.changed_at
        return now >= self.changed_at + self.window_seconds

    async def _record_failure(self, commit: str, error: Exception) -> None:
        """Record why a pull request is not as it should be; waiting as GitHub asked is none."""
        if self.proposing is None or isinstance(error, GitHubBusy):
            return
        try:
            await self.proposing.failed(commit, str(error))
        except SentinelError as unrecorded:
            log.error("failure_not_recorded", stack=self.stack, error=str(unrecorded))  # noqa: TRY400  the sentence is complete without a traceback

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
            try:
                await self.push_once()
            except Exception:
                # An odd answer of a remote or a host must not end the reconciler: every commit stays here.
                log.exception("push_broke", stack=self.stack, again_in_seconds=self.retry.failed())
            await asyncio.sleep(poll_seconds)
