"""Keeps the reads that AWS charges for within the share that the policies give each kind of actor.

Reads leave no record, so they are counted in memory: each gateway counts for itself, and a restart begins again.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from gateway.core.errors import PolicyUnavailable
from gateway.core.model.budget import Levels, charged, refuse_if_spent
from gateway.core.model.caller import Caller
from gateway.core.ports import Clock
from gateway.line.checks.fairness import FairLimitsOf

_MOST_ACTORS: Final = 10_000
"""How many actors are counted. Keys are issued, so only a mistake comes near it; then the one that was idle longest is forgotten."""


class ReadBudget:
    """Counts the charged reads of each actor."""

    def __init__(self, limits: FairLimitsOf, is_billed: Callable[[str, str], bool], clock: Clock) -> None:
        self._limits = limits
        self.is_billed = is_billed
        """Whether AWS charges a read, by service and operation."""
        self._clock = clock
        self._levels: OrderedDict[str, Levels] = OrderedDict()

    async def charge(self, caller: Caller, service: str, operation: str) -> None:
        """Count a read that AWS charges for; others cost nothing.

        Raises `errors.BudgetSpent` if the actor has none left, `errors.PolicyUnavailable` if the policies do not say.
        """
        if not self.is_billed(service, operation):
            return
        try:
            charges = (await self._limits.of(caller.kind)).billed_reads
        except PolicyUnavailable as error:
            raise PolicyUnavailable(
                f"{error} {service}:{operation} is charged for by AWS, so it was not sent."
            ) from error
        now, levels = self._clock.now(), self._levels.pop(caller.actor, {})
        try:
            refuse_if_spent(levels, charges, caller.actor, now, sent=True)
            levels = charged(levels, charges, now, sent=True)
        finally:
            self._levels[caller.actor] = levels
            if len(self._levels) > _MOST_ACTORS:
                self._levels.popitem(last=False)
