"""Opens the policy engine that the settings select. The embedded one reloads an edited policy: an edit that compiles takes effect, any other changes nothing."""

import asyncio
import ipaddress
import threading
import weakref
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any

import structlog

from gateway.core.errors import PolicyInvalid, SettingsInvalid
from gateway.core.model.json import Json
from gateway.core.settings import PolicyEngineKind, PolicySettings
from gateway.policy.bundle import Bundle, RunningEngine, select_bundle
from gateway.policy.bundle_check import check_answers
from gateway.policy.embedded import Embedded
from gateway.policy.kept_code import KeptCode
from gateway.policy.pulled import Fetch, PulledEngine, from_server
from gateway.policy.sources import read_sources, shipped, source_paths

log = structlog.get_logger()

Fingerprint = Mapping[Path, tuple[int, int, int]]
"""Modification time, size and inode of each file, by path; they differ if a file was changed."""


class ReloadingEngine(RunningEngine):
    """An embedded engine for a directory of policies. A thread checks the sources every `poll_seconds`."""

    def __init__(
        self,
        policies: Path,
        *,
        cache: Path,
        deadline_ms: int,
        memory_mb: int,
        poll_seconds: float = 1.0,
        tested: bool = False,
        kept: KeptCode | None = None,
    ) -> None:
        """Opens the engine. New builds are stored in the directory `cache`; `tested` says whether the policies' tests must pass for one.
        `kept` keeps the machine code between starts.

        Raises `errors.PolicyInvalid`.
        """
        self._policies = policies
        self._tested = tested
        self._cache = cache
        self._kept = kept
        self._limits = (deadline_ms, memory_mb)
        # Before the sources are read, so that an edit made meanwhile is noticed later.
        self._fingerprint = fingerprint(policies, tests=tested)
        self._engine = self._open_engine()
        self._problem = ""
        self._stop = threading.Event()
        self._end = weakref.finalize(self, self._stop.set)
        thread = threading.Thread(
            target=_poll, args=(weakref.ref(self), self._stop, poll_seconds), name="policy-watch", daemon=True
        )
        thread.start()

    @property
    def bundle(self) -> Bundle:
        """The bundle of the last valid sources."""
        return self._engine.bundle

    @property
    def problem(self) -> str:
        """Why the current sources are not in force; empty if they are."""
        return self._problem

    def ask(self, entrypoint: str, document: Json) -> Coroutine[Any, Any, Json]:
        """The value of a rule, evaluated with the last valid sources. Raises `errors.PolicyUnavailable`."""
        return self._engine.ask(entrypoint, document)

    async def close(self) -> None:
        """Stop the thread and close the engine."""
        self._end()
        await self._engine.close()

    def reload_if_changed(self) -> None:
        """Rebuild if the sources changed since the last call. If they are invalid, log it, set `problem` and keep the old bundle."""
        found = fingerprint(self._policies, tests=self._tested)
        if found == self._fingerprint:
            return
        self._fingerprint = found
        try:
            engine = self._open_engine()
        except PolicyInvalid as error:
            self._problem = f"The changed policies are not in force; the previous ones still are. {error}"
            log.error("policy_not_swapped", problem=self._problem, revision=self.revision)  # noqa: TRY400  an author's mistake needs no traceback
            return
        # A single assignment: a running evaluation finishes on the old engine, which is then garbage-collected.
        before, self._engine = self._engine.revision, engine
        self._problem = ""
        log.info("policy_swapped", before=before, revision=engine.revision)

    def _open_engine(self) -> Embedded:
        deadline_ms, memory_mb = self._limits
        bundle = select_bundle(self._policies, self._cache, tested=self._tested)
        engine = Embedded(bundle, deadline_ms=deadline_ms, memory_mb=memory_mb, kept=self._kept)
        check_answers(engine, read_sources(self._policies).files)
        return engine


def fingerprint(policies: Path, *, tests: bool) -> Fingerprint:
    """The fingerprint of the sources, and of their tests if these count; empty if they cannot be read."""
    try:
        paths = [*source_paths(policies), *(sorted(policies.rglob("*_test.rego")) if tests else ())]
        stats = {path: path.stat() for path in paths}
    except (OSError, PolicyInvalid):
        return {}
    return {path: (stat.st_mtime_ns, stat.st_size, stat.st_ino) for path, stat in stats.items()}


def _poll(reloading: "weakref.ref[ReloadingEngine]", stop: threading.Event, seconds: float) -> None:
    """Poll until stopped. Holds only a weak reference between polls, so the thread ends when the engine is garbage-collected."""
    while not stop.wait(seconds):
        engine = reloading()
        if engine is None:
            return
        try:
            engine.reload_if_changed()
        except Exception:
            log.exception("policy_watch_failed")
        del engine


BUNDLE_CACHE = "policy-bundle"
"""Subdirectory of the data directory with the bundle that was built last."""


async def open_engine(
    settings: PolicySettings, data: Path, fetch: Fetch | None = None, kept: KeptCode | None = None
) -> RunningEngine:
    """The engine, ready to evaluate. `data` is the gateway's data directory; `fetch` reads a bundle that is in S3; `kept` keeps the machine
    code of the embedded engine between starts.

    Raises `errors.PolicyInvalid` if the policies cannot run, `errors.PolicyUnavailable` if the OPA server does not answer,
    and `errors.SettingsInvalid` if no OPA server is set.
    """
    if settings.control_plane.bundle:
        networks = tuple(map(ipaddress.ip_network, settings.control_plane.private_addresses))
        pulled = PulledEngine(
            settings.control_plane,
            fetch=fetch or from_server(settings.control_plane, networks),
            directory=data,
            deadline_ms=settings.deadline_ms,
            memory_mb=settings.memory_mb,
            kept=kept,
        )
        await pulled.open()
        return pulled
    policies = settings.path or shipped()
    cache = data / BUNDLE_CACHE
    if settings.engine is PolicyEngineKind.EMBEDDED:
        return await asyncio.to_thread(
            ReloadingEngine,
            policies,
            cache=cache,
            deadline_ms=settings.deadline_ms,
            memory_mb=settings.memory_mb,
            tested=settings.green_tests,
            kept=kept,
        )
    if not settings.opa_url:
        raise SettingsInvalid('policy.engine = "opa" needs policy.opa_url, the URL of the OPA server.')
    bundle = await asyncio.to_thread(select_bundle, policies, cache, tested=settings.green_tests)
    from gateway.policy.opa_server import OpaServer  # noqa: PLC0415  its HTTP client takes 18 MB and a quarter of a second to import

    server = OpaServer(settings.opa_url, deadline_ms=settings.deadline_ms, bundle=bundle)
    await server.open()
    return server
