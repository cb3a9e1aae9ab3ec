"""The body of SETTLED: what came of a mutation that was carried out, or that its outcome is not known."""

from typing import ClassVar

import msgspec

from gateway.core.model.outcome import SettledBy
from gateway.core.records.record import Body, Stage


class RecordedResolution(msgspec.Struct, frozen=True, kw_only=True):
    """How the outcome was found out after a doubt."""

    means: SettledBy
    actor: str
    """Who settled it by hand; empty if nobody had to."""


class SettledBody(Body, frozen=True, kw_only=True):
    """The outcome. Which members it has depends on that: what is absent is None."""

    stage: ClassVar[Stage] = Stage.SETTLED

    outcome: str
    """`applied`, `failed` or `in_doubt`."""
    request_id: str | None = None
    status: int | None = None
    """AWS's HTTP status; absent if the outcome was found out after a doubt."""
    reply: str | None = None
    """SHA-256 of the reply that is kept for a repeat; empty if none is kept."""
    made: str = ""
    """The id that AWS chose for the one resource that was created."""
    code: str | None = None
    message: str | None = None
    sent: bool | msgspec.UnsetType | None = msgspec.UNSET
    """Of a failure: whether AWS answered; null if it was found out after a doubt."""
    reason: str | None = None
    """Why it is in doubt."""
    left_to_human: bool = False
    """True once nothing showed the outcome."""
    settled_by: RecordedResolution | None = None
    why: str | None = None
    """How the outcome was found out."""
    claims_ended: tuple[str, ...] | None = None
    """Of an applied mutation those on restated values."""
    claims_reopened: tuple[str, ...] | None = None
    refused_in_a_row: int | None = None
    """Present if it changes that count for the actor's breaker."""
    refusals_until: str | None = None
    """When that row ends by itself; absent if it does not, or the breaker is open."""
