"""The bodies of DRIFT_LOOKED, DRIFTED, DRIFT_DECIDED and DRIFT_SETTLED: a look for changes from outside, one of them, and what becomes of it."""

from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec

from gateway.core.records.record import Body, Stage
from gateway.core.records.write_backs import WriteBackBody


class RecordedOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """Who changed it, as far as CloudTrail tells."""

    actor: str
    event: str
    at: str
    event_id: str
    service: bool
    """Whether the actor is a service of AWS."""


class DriftedBody(Body, frozen=True, kw_only=True):
    """A value that live and code differ by and that no mutation explains."""

    stage: ClassVar[Stage] = Stage.DRIFTED

    address: str
    attribute: str
    resource_type: str
    live: Any
    """Null for a secret."""
    declared: Any
    """Null for a secret."""
    sensitive: bool
    origin: RecordedOrigin | None


class DriftLookedBody(Body, frozen=True, kw_only=True):
    """The stack of the record was looked through for changes from outside."""

    stage: ClassVar[Stage] = Stage.DRIFT_LOOKED

    found: int
    """How many values differed, those found before too."""


class DriftDecidedBody(Body, frozen=True, kw_only=True):
    """What is to be done about it; the record's actor is the human who decided, or empty for the policy. The latest one counts."""

    stage: ClassVar[Stage] = Stage.DRIFT_DECIDED

    address: str
    attribute: str
    action: str
    """`codify`, `revert`, `quarantine`, `human` or `leave`."""
    rule: str
    reason: str
    bundle: str


class RecordedHealing(msgspec.Struct, frozen=True, kw_only=True):
    """How the declared value was set again, or was to be."""

    action: str
    directory: str
    sha256: Mapping[str, str]
    """Of plan, decision and log."""


class DriftSettledBody(WriteBackBody, frozen=True, kw_only=True):
    """What came of the decision; with `codified` what was written into the code."""

    stage: ClassVar[Stage] = Stage.DRIFT_SETTLED

    outcome: str
    """`codified`, `reverted`, `failed` or `gone`."""
    reason: str
    address: str
    attribute: str
    healing: RecordedHealing | None = None
