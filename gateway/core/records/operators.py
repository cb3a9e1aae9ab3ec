"""The bodies of STOPPED, RESUMED and BREAKER: what is shut, by a person or by the circuit breaker of an actor."""

from typing import ClassVar

from gateway.core.model.circuit_breaker import BreakerState
from gateway.core.model.stop import StopScope
from gateway.core.records.record import Body, Stage


class StoppedBody(Body, frozen=True, kw_only=True):
    """A person stopped changes."""

    stage: ClassVar[Stage] = Stage.STOPPED

    scope: StopScope
    name: str
    """Empty for all."""
    reason: str


class ResumedBody(Body, frozen=True, kw_only=True):
    """A person ended a stop; `reason` says why, or is empty."""

    stage: ClassVar[Stage] = Stage.RESUMED

    scope: StopScope
    name: str
    reason: str


class BreakerBody(Body, frozen=True, kw_only=True):
    """The state of an actor's circuit breaker changed; the record's mutation changed it, or its actor, a person, reset it."""

    stage: ClassVar[Stage] = Stage.BREAKER

    of: str
    """The actor."""
    state: BreakerState
    refused_in_a_row: int
    until: str | None
    """When one call is tried."""
    trial: str
    """The mutation that is tried."""
    reason: str
    """Of the person who reset it."""
