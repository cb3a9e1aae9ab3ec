"""The bodies of records about claims after they were taken. The record's mutation is the one that took the claim."""

from typing import Any, ClassVar

import msgspec

from gateway.core.model.claim import ConflictClass
from gateway.core.records.record import Body, Stage


class ClaimBody(Body, frozen=True, kw_only=True):
    """Which claim a record is about."""

    claim: str
    address: str
    attribute: str


class ExpiredBody(ClaimBody, frozen=True, kw_only=True):
    """The time of a claim is up."""

    stage: ClassVar[Stage] = Stage.EXPIRED

    until: str | None


class UnneededBody(ClaimBody, frozen=True, kw_only=True):
    """The code came to declare the claimed value."""

    stage: ClassVar[Stage] = Stage.UNNEEDED

    reason: str


class DowngradedBody(ClaimBody, frozen=True, kw_only=True):
    """The last signal that proved a claim has closed."""

    stage: ClassVar[Stage] = Stage.DOWNGRADED

    signal: str
    reason: str


class RecordedUndoneBy(msgspec.Struct, frozen=True, kw_only=True):
    """Who probably changed a claimed value."""

    actor: str
    mutation: str
    event: str


class UndoneBody(ClaimBody, frozen=True, kw_only=True):
    """The live value of a claimed attribute is another one, or is the claimed one again."""

    stage: ClassVar[Stage] = Stage.UNDONE

    conflict: ConflictClass
    stands: bool
    """Whether it is the claimed value again."""
    live: Any
    """Null for a secret, a long value, or a resource that is gone."""
    by: RecordedUndoneBy | None


class ReleasedBody(Body, frozen=True, kw_only=True):
    """A mutation's claims were ended early; the record's actor is who did."""

    stage: ClassVar[Stage] = Stage.RELEASED

    claims: tuple[str, ...]
    holder: str
