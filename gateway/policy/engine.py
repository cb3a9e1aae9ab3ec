"""Opens the policy engine that the settings ask for."""

import asyncio
from collections.abc import Collection
from pathlib import Path
from typing import Protocol

from gateway.errors import SettingsInvalid
from gateway.policy.opa_server import OpaServer
from gateway.policy.select_bundle import select_bundle
from gateway.policy.sources import shipped
from gateway.policy.watch import Watched
from gateway.ports import PolicyEngine
from gateway.settings import PolicyEngineKind, PolicySettings

KEPT = "policy-bundle"
"""Directory, in the data directory, of the bundle that was built last."""


class RunningEngine(PolicyEngine, Protocol):
    """A policy engine in service."""

    def packages(self) -> Collection[str]:
        """The guardrail packages in force, each of which must answer in every decision."""
        ...

    @property
    def problem(self) -> str:
        """What is wrong although it answers, e.g. that an edited policy does not compile; empty where nothing is. For /readyz."""
        ...

    async def close(self) -> None:
        """Give back what it holds."""
        ...


async def open_engine(settings: PolicySettings, data: Path) -> RunningEngine:
    """The engine, ready to be asked. `data` is the gateway's data directory.

    Raises `errors.PolicyInvalid` for policies that cannot run, `errors.PolicyUnavailable` for an OPA server that does not
    answer, `errors.SettingsInvalid` for a server that is not named.
    """
    policies = settings.path or shipped()
    kept = data / KEPT
    if settings.engine is PolicyEngineKind.EMBEDDED:
        return await asyncio.to_thread(
            Watched, policies, kept=kept, deadline_ms=settings.deadline_ms, memory_mb=settings.memory_mb
        )
    if not settings.opa_url:
        raise SettingsInvalid('policy.engine = "opa" needs policy.opa_url, the URL of the OPA server.')
    bundle = await asyncio.to_thread(select_bundle, policies, kept)
    server = OpaServer(
        settings.opa_url,
        deadline_ms=settings.deadline_ms,
        packages=lambda: bundle.packages,
        flip_window=bundle.flip_window,
    )
    await server.open()
    return server
