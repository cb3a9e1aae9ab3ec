"""The bodies of APPROVED, BROKE_GLASS and REJECTED: what people said about a held call. The record's actor is the person."""

from typing import ClassVar

from gateway.core.model.approval import Binding
from gateway.core.records.record import Body, Stage


class ConsentBody(Body, frozen=True, kw_only=True):
    """What both ways to pass a held call record."""

    approval: str
    requester: str
    digest: str
    """Of the call."""
    until: str
    binding: Binding | None
    reason: str = ""
    door: str = ""
    """`api`, `console` or `chat`."""

    @property
    def others(self) -> tuple[str, ...]:
        """Who consented before; who breaks the glass needs nobody."""
        return ()

    @property
    def missing(self) -> int:
        """How many more must consent before the call may pass."""
        return 0


class ApprovedBody(ConsentBody, frozen=True, kw_only=True):
    """One person's consent to a held call."""

    stage: ClassVar[Stage] = Stage.APPROVED

    others: tuple[str, ...]
    """Who consented before."""
    missing: int
    """How many more must consent before the call may pass."""


class BrokeGlassBody(ConsentBody, frozen=True, kw_only=True):
    """A person passed a held call in an emergency."""

    stage: ClassVar[Stage] = Stage.BROKE_GLASS

    reason: str


class RejectedBody(Body, frozen=True, kw_only=True):
    """A person said no to a held call."""

    stage: ClassVar[Stage] = Stage.REJECTED

    reason: str
    requester: str
    digest: str
    withdrawn: str
    """The unused approval that it ended, or empty."""
    door: str = ""
