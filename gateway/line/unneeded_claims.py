"""Finds the claims whose value the code declares, when the code has changed."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from gateway.core.errors import Ambiguous
from gateway.core.model.claim import Claim
from gateway.core.model.path import WHOLE
from gateway.core.ports import Clock
from gateway.terraform.stacks import Stacks

_AT_ONCE: Final = 200
"""Most claims ended in one transaction, so that mutations do not wait long behind it."""


class ClaimLedger(Protocol):
    """Lists claims and ends those that nobody needs."""

    async def claims(self, *, address: str = "", actor: str = "", open_only: bool = True) -> Sequence[Claim]:
        """Claims, newest first."""
        ...

    async def end_unneeded(self, claims: Sequence[str], at: datetime) -> int:
        """End those of these claims that nobody needs. Raises `errors.LedgerUnavailable`."""
        ...


@dataclass(slots=True)
class UnneededClaims:
    """Looks at the open claims when the code has changed."""

    stacks: Stacks
    ledger: ClaimLedger
    clock: Clock
    _looked_at: str = ""
    _again: bool = True
    """Whether a claim may have been missed: one that was decided by the code of before while the first look was taken."""

    async def end(self) -> int:
        """End what nobody needs, if the code has changed since the last time; the number ended. Raises `errors.LedgerUnavailable`."""
        loaded = self.stacks.snapshot()
        first = loaded.declared != self._looked_at
        if not first and not self._again:
            return 0
        claims = await self.ledger.claims()
        found = await asyncio.to_thread(_in_code, loaded, claims)
        settled = [claim.id for claim in found if not claim.unsettled]
        ended = 0
        for start in range(0, len(settled), _AT_ONCE):
            ended += await self.ledger.end_unneeded(settled[start : start + _AT_ONCE], self.clock.now())
        self._looked_at = loaded.declared
        self._again = first or len(settled) < len(found)
        return ended


def _in_code(loaded: Stacks, claims: Sequence[Claim]) -> list[Claim]:
    """The claims whose value the code declares."""
    return [claim for claim in claims if claim.attribute != WHOLE and claim.value is not None and _is_in(loaded, claim)]


def _is_in(loaded: Stacks, claim: Claim) -> bool:
    try:
        stack = loaded.declaring(claim.address)
    except Ambiguous:
        return False
    return stack is not None and stack.declared(claim.address, claim.attribute) == claim.value
