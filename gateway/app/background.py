"""What a running gateway does beside answering: reloads code, records expired claims and counts, and keeps its lease."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import structlog

from gateway.core.errors import SentinelError
from gateway.core.ports import Clock
from gateway.ledger.ledger import SqlLedger
from gateway.line.data_plane import PassedCounts
from gateway.terraform.stacks import Stacks

log = structlog.get_logger()

_RELOAD_SECONDS = 0.5
"""How often to look for changed code, contracts and state."""
_COUNTED_SECONDS = 60.0
"""How often the counts of calls that pass are recorded."""
_RETRY_SECONDS = 5.0
"""How soon they are recorded again if the ledger did not take them."""


async def reload_stacks(stacks: Stacks) -> None:
    """Reload changed code, contracts and state, for ever. An invalid version is logged once; the last valid version stays in use."""
    reported: tuple[str, ...] = ()
    while True:
        await asyncio.sleep(_RELOAD_SECONDS)
        try:
            if await asyncio.to_thread(stacks.refresh):
                log.info("code_reloaded", revision=stacks.revision)
            if stacks.problems != reported:
                reported = stacks.problems
                for problem in reported:
                    log.error("code_broken_last_good_version_in_force", problem=problem)
        except Exception:
            log.exception("code_reload_broke")


async def record_counts(counts: PassedCounts) -> None:
    """Record the counts of calls that passed, for ever."""
    while True:
        await asyncio.sleep(_RETRY_SECONDS if counts.problem else _COUNTED_SECONDS)
        await counts.flush()


async def keep_lease(ledger: SqlLedger, clock: Clock, lasts: timedelta) -> None:
    """Renew this gateway's lease three times while it lasts, and take over what gateways without a lease left, for ever."""

    async def renew() -> None:
        await ledger.renew_lease(clock.now(), lasts)
        await recover(ledger, clock)

    await repeat(renew, lasts.total_seconds() / 3, failed="lease_not_renewed")


async def repeat(work: Callable[[], Awaitable[object]], seconds: float, *, failed: str) -> None:
    """Do the work every so many seconds, for ever. A failure is logged as `failed`, and the next round tries again."""
    while True:
        await asyncio.sleep(seconds)
        try:
            await work()
        except SentinelError as error:
            log.error(failed, reason=str(error))  # noqa: TRY400  the message says enough
        except Exception:
            log.exception(failed)


async def recover(ledger: SqlLedger, clock: Clock) -> None:
    """Mark as in doubt what gateways that no longer live left in flight."""
    if (in_doubt := await ledger.recover(clock.now())) > 0:
        log.warning("in_doubt_without_gateway", mutations=in_doubt)


async def end_lease(ledger: SqlLedger) -> None:
    """End this gateway's lease when it stops. If the ledger does not take that, the lease runs out by itself."""
    try:
        await ledger.end_lease()
    except SentinelError as error:
        log.error("lease_not_ended", reason=str(error))  # noqa: TRY400  the message says enough; the lease runs out by itself
