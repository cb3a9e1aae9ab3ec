"""A burst of changes from outside, and the words that a model may find for it. The words are shown to people and decide nothing."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from gateway.model.json import Json


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
    """One of `gateway.model.motive.Intent`; empty if the changes do not show one."""
    summary: str


NameIntent = Callable[[Sequence[ChangedOutside]], Awaitable[NamedIntent | None]]
"""Names the intent of a burst; None if nothing was found, or nobody may be asked. Never raises."""
