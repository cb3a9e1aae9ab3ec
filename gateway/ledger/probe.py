"""Asks now and then whether the ledger answers, for the readiness of a gateway."""

import asyncio
from time import monotonic
from typing import Final

from sqlalchemy import text

from gateway.errors import LedgerUnavailable
from gateway.ledger.reader import Reader

FRESH_SECONDS: Final = 1.0
"""How long an answer counts, so that frequent readiness checks cost the ledger one query a second."""
ANSWER_SECONDS: Final = 2.0
"""How long to wait for the ledger. An unreachable server takes longer to be noticed."""

_QUESTION: Final = text("SELECT 1 FROM records WHERE seq = 1")


class Probe:
    """Asks through a reader, one question at a time."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._asked: asyncio.Future[str] | None = None
        self._answered_at = float("-inf")

    async def problem(self) -> str:
        """Why the ledger cannot be read, as a sentence; empty if it can. At most `FRESH_SECONDS` old. Raises nothing."""
        if self._asked is None or (self._asked.done() and monotonic() - self._answered_at >= FRESH_SECONDS):
            self._asked = asyncio.ensure_future(self._ask())
        try:
            return await asyncio.wait_for(asyncio.shield(self._asked), ANSWER_SECONDS)
        except TimeoutError:
            return f"The ledger has not answered for {ANSWER_SECONDS:.0f} seconds. Changes are refused until it does."

    async def _ask(self) -> str:
        try:
            await self._reader.read(lambda connection: connection.execute(_QUESTION).first())
        except LedgerUnavailable as error:
            return str(error)
        except Exception as error:  # noqa: BLE001  a probe that breaks tells that something is wrong, whatever it is
            return f"The ledger cannot be read ({type(error).__name__})."
        finally:
            self._answered_at = monotonic()
        return ""
