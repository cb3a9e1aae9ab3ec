"""The values that go to a model and come from it: the question about a wanted value, and the changes whose intent is to be named."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gateway.core.model.json import Json
from reconciler.model import Left, Wanted

LONGEST_REPLACEMENT = 20_000
"""Characters that one replacement may hold."""
MOST_REPLACEMENTS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A value that the code must declare and that no editor could write, with the code it may be written in."""

    left: Left
    before: Json
    """The value that the code declares now, if it is known."""
    files: Mapping[Path, bytes]
    """The files of the modules on the way to the value, by path relative to the stack's root. Only these may change."""
    sensitive: frozenset[str] = frozenset()
    """Names of variables that any module of the stack marks as sensitive: what is given to them is not shown."""

    @property
    def wanted(self) -> Wanted:
        """The value."""
        return self.left.wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """Text that occurs exactly once in a file, and what takes its place."""

    path: str
    find: str
    replace: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """Replacements that may declare the wanted value."""

    replacements: tuple[Replacement, ...]
    reason: str = ""
    """The suggester's own words. They are never shown as a fact."""
    tokens: int = 0
    """The tokens that the suggestion cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedOutside:
    """One value that somebody changed without Sentinel, and that is proposed for the code."""

    address: str
    resource_type: str
    attribute: str
    before: Json
    after: Json
    actor: str
    event: str
    """`service:Operation`; `unknown` if no event tells."""
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedIntent:
    """A model's words for a burst."""

    intent: str
    """One of `gateway.core.model.motive.Intent`; empty if the changes do not show one."""
    summary: str


NameIntent = Callable[[Sequence[ChangedOutside]], Awaitable[NamedIntent | None]]
"""Names the intent of a burst; None if nothing was found, or nobody may be asked. Never raises."""
