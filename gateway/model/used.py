"""What one actor has used of its share."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gateway.model.breaker import Breaker
from gateway.model.budget import Levels


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """What an actor has used of its budgets, its circuit breaker, and how many claims it holds."""

    levels: Levels = field(default_factory=dict)
    breaker: Breaker = field(default_factory=Breaker)
    claims: Mapping[str, int] = field(default_factory=dict)
    """By motivation; under the empty text those without a motive."""
