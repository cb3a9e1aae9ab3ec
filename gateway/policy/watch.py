"""The embedded engine that follows its sources: an edit that compiles is swapped in, one that does not changes nothing."""

import threading
import weakref
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import structlog

from gateway.errors import PolicyInvalid
from gateway.model.json import Json
from gateway.policy.embedded import Embedded
from gateway.policy.select_bundle import select_bundle
from gateway.policy.sources import source_paths

log = structlog.get_logger()

Stamp = Mapping[Path, tuple[int, int, int]]
"""What tells that a file changed: time of change, size and inode, by path."""


class Watched:
    """An embedded engine for a directory of policies. Its sources are looked at every `poll_seconds`, in a thread."""

    def __init__(
        self, policies: Path, *, kept: Path, deadline_ms: int, memory_mb: int, poll_seconds: float = 1.0
    ) -> None:
        """Opens the engine. `kept` is where newly built bundles are put. Raises `errors.PolicyInvalid`."""
        self._policies = policies
        self._kept = kept
        self._limits = (deadline_ms, memory_mb)
        # Taken before the sources are read, so that an edit made meanwhile is seen as one.
        self._stamp = _stamp(policies)
        self._engine = self._opened()
        self._problem = ""
        self._stop = threading.Event()
        self._end = weakref.finalize(self, self._stop.set)
        follow = threading.Thread(
            target=_follow, args=(weakref.ref(self), self._stop, poll_seconds), name="policy-watch", daemon=True
        )
        follow.start()

    @property
    def revision(self) -> str:
        """Digest of the bundle in force."""
        return self._engine.revision

    @property
    def flip_window(self) -> timedelta:
        """How far back changes of an attribute's holder are counted, from the data in force."""
        return self._engine.flip_window

    def packages(self) -> frozenset[str]:
        """The guardrail packages in force."""
        return self._engine.packages()

    @property
    def problem(self) -> str:
        """Why the sources as they stand are not in force; empty where they are."""
        return self._problem

    async def ask(self, entrypoint: str, document: Json) -> Json:
        """The value of a rule, by the last sources that were good. Raises `errors.PolicyUnavailable`."""
        return await self._engine.ask(entrypoint, document)

    async def close(self) -> None:
        """Stop looking, and stop answering."""
        self._end()
        await self._engine.close()

    def look(self) -> None:
        """Swap in what changed since the last look, if it is good; say so if it is not. Never raises."""
        stamp = _stamp(self._policies)
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            engine = self._opened()
        except PolicyInvalid as error:
            self._problem = f"The policies were changed and are not in force; those of before still are. {error}"
            log.error("policy_not_swapped", problem=self._problem, revision=self.revision)  # noqa: TRY400  an author's mistake has no traceback
            return
        # One assignment: a decision under way ends on the engine it began on, which goes when nobody uses it any more.
        before, self._engine = self._engine.revision, engine
        self._problem = ""
        log.info("policy_swapped", before=before, revision=engine.revision)

    def _opened(self) -> Embedded:
        deadline_ms, memory_mb = self._limits
        return Embedded(select_bundle(self._policies, self._kept), deadline_ms=deadline_ms, memory_mb=memory_mb)


def _stamp(policies: Path) -> Stamp:
    """The sources' stamps; empty where they cannot be looked at."""
    try:
        stats = {path: path.stat() for path in source_paths(policies)}
    except (OSError, PolicyInvalid):
        return {}
    return {path: (found.st_mtime_ns, found.st_size, found.st_ino) for path, found in stats.items()}


def _follow(watched: "weakref.ref[Watched]", stop: threading.Event, seconds: float) -> None:
    """Look until told to stop. Holds no reference meanwhile, so an engine that nobody has any more ends its thread."""
    while not stop.wait(seconds):
        engine = watched()
        if engine is None:
            return
        try:
            engine.look()
        except Exception:
            log.exception("policy_watch_broke")
        del engine
