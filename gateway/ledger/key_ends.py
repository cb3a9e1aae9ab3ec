"""Warns of standing keys that end soon: in the log once a day, and to those who ask."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import structlog

from gateway.core.ports import Clock
from gateway.ledger.ask.key_ends import EndingKey, ending_keys
from gateway.ledger.ledger import SqlLedger

log = structlog.get_logger()

_LOGGED_EVERY: Final = timedelta(days=1)


class KeyEnds:
    """The keys of a ledger that end soon."""

    def __init__(self, ledger: SqlLedger, clock: Clock) -> None:
        self._ledger = ledger
        self._clock = clock
        self._logged: dict[str, datetime] = {}
        self.ending: Sequence[EndingKey] = ()
        """As of the last look."""

    async def look(self) -> None:
        """Look again, and log what was not logged within a day. Raises `errors.LedgerUnavailable`."""
        now = self._clock.now()
        self.ending = await self._ledger.query(lambda session: ending_keys(session, now))
        self._logged = {
            key.id: self._logged[key.id]
            for key in self.ending
            if key.id in self._logged and now - self._logged[key.id] < _LOGGED_EVERY
        }
        for key in self.ending:
            if key.id not in self._logged:
                self._logged[key.id] = now
                cure = f"sentinel key renew {key.id}"
                log.warning("key_ends_soon", key=key.id, actor=key.actor, kind=key.kind, at=key.expires_at, cure=cure)
