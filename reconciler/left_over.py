"""Decides when something that was left to a human is tried again: when what it may hang on has changed, else rarely."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from gateway.model.json import Json

_FIRST_WAIT = 600.0
_LONGEST_WAIT = 86_400.0


@dataclass(slots=True, kw_only=True)
class _Tried:
    circumstances: Mapping[str, Json]
    wait: float = _FIRST_WAIT
    again_at: float = field(default_factory=lambda: time.monotonic() + _FIRST_WAIT)


@dataclass(slots=True)
class LeftOver:
    """In which circumstances each mutation was tried last.

    Not everything that a reason hangs on can be seen without a plan: a live value that somebody sets back, a permission. So each is
    also tried after ten minutes, then after twice the time and so on, at last once a day.
    """

    _tried: dict[str, _Tried] = field(default_factory=dict)

    def due(self, mutation: str, recorded: Json, now: Mapping[str, Json]) -> bool:
        """Whether to try again; `recorded` are the circumstances in the record that left it, `now` those of now."""
        if mutation not in self._tried:
            self._tried[mutation] = _Tried(circumstances=recorded if isinstance(recorded, Mapping) else {})
        tried = self._tried[mutation]
        return tried.circumstances != now or tried.again_at <= time.monotonic()

    def tried(self, mutation: str, circumstances: Mapping[str, Json]) -> None:
        """Note that it was tried in these circumstances."""
        before = self._tried.get(mutation)
        wait = _FIRST_WAIT
        if before is not None and before.circumstances == circumstances:
            wait = min(2 * before.wait, _LONGEST_WAIT)
        self._tried[mutation] = _Tried(circumstances=circumstances, wait=wait, again_at=time.monotonic() + wait)

    def keep(self, mutations: frozenset[str]) -> None:
        """Forget all but these."""
        for mutation in self._tried.keys() - mutations:
            del self._tried[mutation]
