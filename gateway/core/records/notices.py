"""The bodies of NOTIFIED and RESEND_ASKED: what became of notices to one receiver, and which a person wants sent again."""

from collections.abc import Mapping
from typing import ClassVar

import msgspec

from gateway.core.records.record import Body, Stage


class WaitingNotice(msgspec.Struct, frozen=True, kw_only=True):
    """A notice that still waits."""

    seq: int
    mutation_id: str
    asked: int
    attempts: int
    again_at: float


class RecordedDelivery(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of one attempt."""

    id: str
    seq: int
    asked: int
    type: str
    mutation_id: str
    state: str
    """`delivered`, `retrying` or `given_up`."""
    attempt: int
    status: int
    error: str
    again_at: float | None
    message: str = ""
    """Where the chat has the card; only of cards that a bot posted."""


class NotifiedBody(Body, frozen=True, kw_only=True):
    """What became of a batch of notices."""

    stage: ClassVar[Stage] = Stage.NOTIFIED

    receiver: str
    read: int
    """The last record looked at."""
    based_on: int
    """The `notified` record before."""
    failures: int
    resume_at: float
    totals: Mapping[str, int]
    """Attempts so far by state."""
    open: tuple[WaitingNotice, ...]
    results: tuple[RecordedDelivery, ...]


class ResendAskedBody(Body, frozen=True, kw_only=True):
    """A person wants a notice sent again."""

    stage: ClassVar[Stage] = Stage.RESEND_ASKED

    receiver: str
    seq: int
    id: str
