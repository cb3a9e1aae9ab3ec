"""The bodies of APPROVED, BROKE_GLASS, REJECTED and WITHDRAWN: what people said about a held call. The record's actor is the person."""

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
    keys: tuple[str, ...] = ()
    """The keys of those who consented, in that order, the approver's last; absent from records of before revocations reached approvals."""

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


class WithdrawnBody(Body, frozen=True, kw_only=True):
    """A key was revoked that an unused approval was given with; the record's actor is the key's. The call waits for people again."""

    stage: ClassVar[Stage] = Stage.WITHDRAWN

    approval: str
    requester: str
    approvers: tuple[str, ...]
    """Who had consented; with other keys they may do so again."""
    key: str
    """The revoked key, or the one whose session it was given in."""
