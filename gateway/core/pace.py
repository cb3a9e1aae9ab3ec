"""Limits how often each caller may ask for what takes long: so many times within a minute."""

from collections import OrderedDict, deque
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from gateway.core.errors import TryLater
from gateway.core.ports import Clock

_MINUTE: Final = 60.0
_MOST_CALLERS: Final = 1_000
"""Callers that are remembered, the latest ones."""
_WAIT: Final = 5


@dataclass(slots=True, kw_only=True)
class Pace:
    """The latest times at which each caller asked."""

    clock: Clock
    most: int
    """So many times may each caller ask in a minute."""
    of: str
    """What is asked for, in the plural, as it stands in a sentence."""
    _asked: OrderedDict[str, deque[datetime]] = field(default_factory=OrderedDict)

    def charge(self, actor: str) -> None:
        """Count one more. Raises `errors.TryLater`, and then counts nothing, for an actor that has asked too often."""
        now = self.clock.now()
        asked = self._asked.setdefault(actor, deque())
        self._asked.move_to_end(actor)
        while len(self._asked) > _MOST_CALLERS:
            self._asked.popitem(last=False)
        while asked and (now - asked[0]).total_seconds() > _MINUTE:
            asked.popleft()
        if len(asked) >= self.most:
            raise TryLater(
                f"You have begun {self.most} {self.of} within a minute. Nothing was done; wait, and send it again.",
                seconds=_WAIT,
            )
        asked.append(now)
