"""Opens the policy engine that the settings select."""

import asyncio
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Protocol

from gateway.core.errors import SettingsInvalid
from gateway.core.model.claim import Couplings
from gateway.core.model.verdict import RuleText
from gateway.core.ports import PolicyEngine
from gateway.core.settings import PolicyEngineKind, PolicySettings
from gateway.policy.bundle_selection import select_bundle
from gateway.policy.sources import shipped
from gateway.policy.watch import Watched

BUNDLE_CACHE = "policy-bundle"
"""Subdirectory of the data directory with the bundle that was built last."""


class RunningEngine(PolicyEngine, Protocol):
    """An open policy engine."""

    def packages(self) -> Collection[str]:
        """The guardrail packages in force. Each must be evaluated in every decision."""
        ...

    def couplings(self) -> Couplings:
        """Which attributes belong together, by the data in force."""
        ...

    def rules(self) -> Mapping[str, RuleText]:
        """Title and place of each rule in force, by its id. What has no METADATA is not there."""
        ...

    def answers(self, entrypoint: str) -> bool:
        """Whether the policies in force have this entrypoint; some are optional."""
        ...

    @property
    def problem(self) -> str:
        """A problem that does not stop the engine, e.g. an edited policy that does not compile; empty if there is none. For /readyz."""
        ...

    async def close(self) -> None:
        """Release the engine's resources."""
        ...


async def open_engine(settings: PolicySettings, data: Path) -> RunningEngine:
    """The engine, ready to evaluate. `data` is the gateway's data directory.

    Raises `errors.PolicyInvalid` if the policies cannot run, `errors.PolicyUnavailable` if the OPA server does not answer,
    and `errors.SettingsInvalid` if no OPA server is set.
    """
    policies = settings.path or shipped()
    cache = data / BUNDLE_CACHE
    if settings.engine is PolicyEngineKind.EMBEDDED:
        return await asyncio.to_thread(
            Watched, policies, cache=cache, deadline_ms=settings.deadline_ms, memory_mb=settings.memory_mb
        )
    if not settings.opa_url:
        raise SettingsInvalid('policy.engine = "opa" needs policy.opa_url, the URL of the OPA server.')
    bundle = await asyncio.to_thread(select_bundle, policies, cache)
    from gateway.policy.opa_server import OpaServer  # noqa: PLC0415  its HTTP client takes 18 MB and a quarter of a second to import

    server = OpaServer(
        settings.opa_url,
        deadline_ms=settings.deadline_ms,
        packages=lambda: bundle.packages,
        flip_window=bundle.flip_window,
        manifest=bundle.manifest,
        couplings=bundle.couplings,
    )
    await server.open()
    return server
