"""What the sources of signals need from outside: a ledger of signals. No implementations."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from gateway.model.signal import Signal, SignalEvent, SignalState

MOST_OPEN_SIGNALS = 1_000
"""How many signals of one source may be open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalQuery:
    """Which signals to list. Empty fields do not restrict the result."""

    state: SignalState | None = None
    source: str = ""
    stack: str = ""
    """A stack that the signal concerns."""
    service: str = ""
    limit: int = 1_000


class SignalLedger(Protocol):
    """What outside sources say about alerts and the like."""

    async def record_signals(self, events: Sequence[SignalEvent], at: datetime) -> int:
        """Record what is news, and downgrade the claims whose last proof closes; the number of signals that changed.

        Raises `errors.Overloaded` if a source has too many open, `errors.LedgerUnavailable`; nothing was then stored.
        """
        ...

    async def signals_version(self) -> int:
        """A number that grows whenever a signal changes. Raises `errors.LedgerUnavailable`."""
        ...

    async def signals(self, query: SignalQuery) -> Sequence[Signal]:
        """Signals, the latest first. Raises `errors.LedgerUnavailable`."""
        ...
