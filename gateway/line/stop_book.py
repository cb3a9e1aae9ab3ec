"""The standing stops of actors in memory, for calls of the data plane that pass: those read nothing from the ledger.

A mutation does not rely on it: the stops are read from the ledger with its facts, and again in the transaction of its decision.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from gateway.core.errors import LedgerUnavailable, Stopped
from gateway.core.model.caller import Caller
from gateway.core.model.stop import Reach, Stop, StopScope, in_the_way
from gateway.core.ports import Clock, StopLedger

OLDEST: Final = timedelta(seconds=15)
"""How old the stops in memory may be; with older ones nothing passes. They are read every half second."""


@dataclass(slots=True)
class StopBook:
    """The stops as they were last read."""

    ledger: StopLedger
    clock: Clock
    _actors: Sequence[Stop] = ()
    """Those of actors. Wider ones leave the data plane of applications open: it changes nothing that code declares."""
    _read_at: datetime | None = None

    async def refresh(self) -> None:
        """Read the standing stops. Raises `errors.LedgerUnavailable`."""
        asked_at = self.clock.now()
        standing = await self.ledger.stops()
        if self._read_at is None or asked_at >= self._read_at:  # a slow look must not replace what a later one saw
            self._actors = tuple(stop for stop in standing if stop.scope is StopScope.ACTOR)
            self._read_at = asked_at

    def refuse(self, caller: Caller) -> None:
        """Raise `errors.Stopped` if the caller is stopped, `errors.LedgerUnavailable` if that is not known: send nothing then."""
        if self._read_at is None or self.clock.now() - self._read_at > OLDEST:
            raise LedgerUnavailable(
                "Whether this actor is stopped could not be read from the ledger for some time, so nothing was sent. Try again."
            )
        if self._actors:
            actors = frozenset({caller.actor, caller.on_behalf_of} - {""})
            if found := in_the_way(self._actors, Reach(actors=actors)):
                raise Stopped(f"{found[0].sentence} Nothing was sent.")
