"""A stop: a person's order that nothing is changed by an actor, in a stack, of an AWS service, or at all, until a person resumes it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gateway.core.quick_init import quick_init
from gateway.core.times import utc_seconds


class StopScope(StrEnum):
    """What a stop is about."""

    ACTOR = "actor"
    """What this actor does, or another one on its behalf."""
    STACK = "stack"
    SERVICE = "service"
    """An AWS service, by its botocore name."""
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Who stopped what, why and when. It stands while `ended_at` is None."""

    id: str
    """`stp_…`"""
    scope: StopScope
    name: str
    """The actor, stack or service; empty for `all`."""
    by: str
    """The person to ask."""
    reason: str
    at: datetime
    ended_at: datetime | None = None
    ended_by: str = ""

    @property
    def what(self) -> str:
        """What is stopped, for a sentence."""
        match self.scope:
            case StopScope.ALL:
                return "every change"
            case StopScope.ACTOR:
                return f"every change by {self.name} or on its behalf"
            case StopScope.STACK:
                return f"every change in the stack {self.name}"
            case StopScope.SERVICE:
                return f"every change through the service {self.name}"

    @property
    def sentence(self) -> str:
        """What is stopped, since when, by whom and why, and who can end it."""
        since = utc_seconds(self.at)
        said = self.reason if self.reason.endswith((".", "!", "?")) else f"{self.reason}."
        return f"{self.by} stopped {self.what} at {since} ({self.id}): {said} Ask {self.by}; reads stay open."


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What a change touches, as far as stops can be about it."""

    actors: frozenset[str] = frozenset()
    """Who asks, and on whose behalf."""
    service: str = ""
    stacks: frozenset[str] = frozenset()
    any_stack: bool = False
    """Whether it may touch any stack, because nobody knows what it does."""

    def stopped_by(self, stop: Stop) -> bool:
        """Whether this stop is about the change."""
        match stop.scope:
            case StopScope.ALL:
                return True
            case StopScope.ACTOR:
                return stop.name in self.actors
            case StopScope.STACK:
                return self.any_stack or stop.name in self.stacks
            case StopScope.SERVICE:
                return stop.name == self.service


def in_the_way(stops: Iterable[Stop], reach: Reach) -> tuple[Stop, ...]:
    """The standing stops that are about the change, oldest first."""
    found = [stop for stop in stops if stop.ended_at is None and reach.stopped_by(stop)]
    return tuple(sorted(found, key=lambda stop: (stop.at, stop.id)))
