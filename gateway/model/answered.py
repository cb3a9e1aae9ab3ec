"""What people said, or still have to say, about a call that one actor repeats."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from gateway.model.binding import Binding


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """A human's no to one call."""

    mutation_id: str
    by: str
    reason: str
    at: datetime
    binding: Binding | None
    """The circumstances that it was given in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What people said, or still have to say, about one actor's same call."""

    held: Mapping[str, Binding | None] = field(default_factory=dict)
    """The mutations that are held for it, each with its circumstances, newest first."""
    rejection: Rejection | None = None
    """The latest one."""
