"""What a running gateway does beside answering: reloads code, records expired claims and counts, and keeps its lease."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import structlog

from gateway.core.errors import SentinelError
from gateway.core.ports import Clock
from gateway.drift.decisions import DriftDecisions
from gateway.ledger.ledger import SqlLedger
from gateway.line.data_plane import PassedCounts
from gateway.line.stops import StopBook
from gateway.line.unneeded_claims import UnneededClaims
from gateway.signals.open_signals import OpenSignals
from gateway.terraform.stacks import Stacks

log = structlog.get_logger()

_RELOAD_SECONDS = 0.5
"""How often to look for changed code, contracts and state."""
_COUNTED_SECONDS = 60.0
"""How often the counts of calls that pass are recorded."""
_RETRY_SECONDS = 5.0
"""How soon they are recorded again if the ledger did not take them."""
_DRIFT_SECONDS = 2.0
"""How often to look for changes from outside, and for resources that are quarantined."""
_SIGNALS_SECONDS = 1.0
"""How often to look for signals that opened or closed."""
_STOPS_SECONDS = 0.5
"""How often to look for stops of actors, for calls of the data plane that pass."""
_EXPIRE_SECONDS = 5.0
"""How often to record expired claims."""


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


async def expire_claims(ledger: SqlLedger, clock: Clock) -> None:
    """Record the end of expired claims, for ever. A claim has no effect after its `until`, even before this is recorded."""
    await _repeat(lambda: ledger.expire(clock.now()), _EXPIRE_SECONDS, failed="claims_not_ended")


async def end_unneeded_claims(unneeded: UnneededClaims) -> None:
    """End the claims whose value the code came to declare, for ever."""
    await _repeat(unneeded.end, _EXPIRE_SECONDS, failed="claims_not_ended")


async def record_counts(counts: PassedCounts) -> None:
    """Record the counts of calls that passed, for ever."""
    while True:
        await asyncio.sleep(_RETRY_SECONDS if counts.problem else _COUNTED_SECONDS)
        await counts.flush()


async def decide_drift(watch: DriftDecisions) -> None:
    """Have policy decide about changes from outside, for ever."""
    await _repeat(watch.follow, _DRIFT_SECONDS, failed="drift_not_followed")


async def follow_signals(book: OpenSignals) -> None:
    """Read which signals are open, as other gateways may have recorded them, for ever."""
    await _repeat(book.refresh, _SIGNALS_SECONDS, failed="signals_not_followed")


async def follow_stops(book: StopBook) -> None:
    """Read which actors are stopped, as other gateways may have recorded it, for ever."""
    await _repeat(book.refresh, _STOPS_SECONDS, failed="stops_not_followed")


async def keep_lease(ledger: SqlLedger, clock: Clock, lasts: timedelta) -> None:
    """Renew this gateway's lease three times while it lasts, and take over what gateways without a lease left, for ever."""

    async def renew() -> None:
        await ledger.renew_lease(clock.now(), lasts)
        await recover(ledger, clock)

    await _repeat(renew, lasts.total_seconds() / 3, failed="lease_not_renewed")


async def _repeat(work: Callable[[], Awaitable[object]], seconds: float, *, failed: str) -> None:
    """Do the work every so many seconds, for ever. `failed` is what is logged when it fails; the next round tries again."""
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
