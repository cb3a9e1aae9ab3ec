"""The composition root, which alone names adapters and doors together. Read `running.py` first.

Read from here: `parts.py` opens settings and adapters, `checks.py` has the ordered list of checks, `doors.py` the list of doors, and
`background.py` the loops that run beside the requests.
"""

import asyncio
import ipaddress
import socket
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta

import structlog

from gateway.app import background
from gateway.app.doors import open_doors
from gateway.app.parts import Parts, open_parts
from gateway.core.outbound.client import OutboundClient
from gateway.core.settings import Settings, without_password
from gateway.core.times import SystemClock
from gateway.core.version import software_version
from gateway.doors.router import DoorRouter
from gateway.line.checks.priorities import idle_layers
from gateway.line.own_handles import databases_of
from gateway.line.unneeded_claims import UnneededClaims
from gateway.policy.control_plane import ControlPlane
from gateway.policy.pulled import PulledEngine
from gateway.policy.sources import shipped
from gateway.policy.stages import StageBook

log = structlog.get_logger()


@asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[DoorRouter]:
    """The ASGI application, with its adapters open and its background tasks running until the block ends.

    Raises `errors.SentinelError` if the code, a contract, a policy or a setting is invalid, or the ledger cannot be opened.
    """
    async with AsyncExitStack() as stack:
        parts = await open_parts(settings, SystemClock(), stack)
        await _warn(parts)
        for work in _background(parts):
            stack.callback(asyncio.ensure_future(work).cancel)
        router = open_doors(parts, stack)
        _log_start(parts)
        yield router


def _background(parts: Parts) -> tuple[Coroutine[None, None, None], ...]:
    """THE list of what runs beside the requests until the gateway stops."""
    ledger, clock, repeat = parts.ledger, parts.clock, background.repeat
    unneeded = UnneededClaims(parts.stacks, ledger, clock)
    return (
        background.reload_stacks(parts.stacks),
        background.keep_lease(ledger, clock, timedelta(seconds=parts.settings.server.lease_seconds)),
        background.record_counts(parts.counts),
        # A claim has no effect after its `until`, even before its end is recorded.
        repeat(lambda: ledger.expire(clock.now()), 5.0, failed="claims_not_ended"),
        repeat(lambda: ledger.end_expired_plans(clock.now()), 5.0, failed="plan_sessions_not_ended"),
        repeat(unneeded.end, 5.0, failed="claims_not_ended"),
        repeat(parts.drift.follow, 2.0, failed="drift_not_followed"),
        # Other gateways of the ledger record signals and stops too.
        repeat(parts.signals.refresh, 1.0, failed="signals_not_followed"),
        repeat(parts.stops.refresh, 0.5, failed="stops_not_followed"),
        repeat(_stage_book(parts).look, 2.0, failed="policy_stages_not_recorded"),
        repeat(parts.key_ends.look, 600.0, failed="key_ends_not_looked_for"),
        parts.wakeups.follow(ledger),
        *_control_plane(parts),
    )


def _control_plane(parts: Parts) -> tuple[Coroutine[None, None, None], ...]:
    """Pulls policies from where they are set to come from, and reports there."""
    plane, engine = parts.settings.policy.control_plane, parts.engine
    if not isinstance(engine, PulledEngine):
        return ()
    networks = tuple(map(ipaddress.ip_network, plane.private_addresses))
    control = ControlPlane(
        settings=plane,
        engine=engine,
        queries=parts.ledger,
        directory=parts.settings.data,
        labels={"id": socket.gethostname(), "app": "sentinel", "version": software_version()},
        client=OutboundClient(seconds=30.0, most_bytes=64 * 1024, networks=networks),
    )
    return (
        background.repeat(control.pull, plane.poll_seconds, failed="policy_not_pulled"),
        background.repeat(control.report_decisions, 2.0, failed="decisions_not_reported"),
    )


def _stage_book(parts: Parts) -> StageBook:
    policies = parts.settings.policy.path or shipped()
    return StageBook(
        engine=parts.engine, events=parts.ledger, queries=parts.ledger, clock=parts.clock, policies=policies
    )


async def _warn(parts: Parts) -> None:
    stacks = parts.stacks
    for warning in await idle_layers(parts.engine, [stack.name for stack in stacks.all]):
        log.warning("priority_layer", warning=warning)
    for warning in stacks.warnings:
        log.warning("contract_warning", warning=warning)
    for warning in stacks.origin_warnings:
        log.warning("contract_origin", warning=warning)
    if not parts.settings.reconcile.gateway_identity and not parts.settings.upstream.simulated:
        log.warning(
            "own_identity_unknown",
            consequence="Nobody can tell which IAM role is this gateway's, so calls that change it are judged as any other. Set reconcile.gateway_identity.",
        )
    if databases_of(parts.settings.ledger_url, parts.settings.ledger_databases)[1]:
        log.warning(
            "own_database_unknown",
            consequence="The host of the ledger does not say which database of RDS it is, so calls that change it are judged as any other. Set ledger_databases.",
        )


def _log_start(parts: Parts) -> None:
    """Log what this gateway is: where it listens, what it guards and by which revisions."""
    settings = parts.settings
    log.info(
        "started",
        address=f"http://{settings.server.host}:{settings.server.port}",
        stacks={stack.name: stack.mode.value for stack in parts.stacks.all},
        mode=settings.mode.value,
        ledger=without_password(settings.ledger_url),
        policy=parts.engine.revision,
        policy_engine=settings.policy.engine.value,
        code=parts.stacks.revision,
        aws=settings.upstream.simulated or "real",
    )
    if not parts.stacks.all:
        log.warning(
            "no_stack", consequence="No stack is set, so every resource counts as not declared. Add [[stacks]]."
        )
