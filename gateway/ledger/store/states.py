"""The states of attempts and approvals, each with the text that the tables store."""

from enum import StrEnum


class AttemptState(StrEnum):
    """How far a mutation that was carried out has come."""

    IN_FLIGHT = "in_flight"
    """Its decision is recorded, its outcome is not."""
    APPLIED = "applied"
    FAILED = "failed"
    IN_DOUBT = "in_doubt"
    """Sent, but no reply proves what AWS did."""


class ApprovalState(StrEnum):
    """Whether an approval can still be used. At most one approval of a call is unused or partial."""

    UNUSED = "open"
    PARTIAL = "partial"
    """More people must consent before it permits the call."""
    USED = "used"
    EXPIRED = "ended"
    WITHDRAWN = "withdrawn"
    """Its call was rejected later, or a key was revoked that it was given with."""
