"""What must hold after a process was killed at each point, by the specification of crashes."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gateway.core.failpoints import Point


class Held(StrEnum):
    """What the ledger holds after the kill."""

    NOTHING = "nothing"
    IN_FLIGHT = "in flight"
    """DECIDED without SETTLED: it will be in doubt."""
    APPLIED = "applied"


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashPoint:
    """One of the 18 points."""

    name: str
    point: Point
    after: Point | None = None
    """The point counts only after this one: a commit after what was written in it."""
    sent: bool = False
    """Whether AWS has the whole request, and so carries it out."""
    held: Held = Held.NOTHING
    reconciler: bool = False


GATEWAY: Final = (
    CrashPoint(name="CP0", point=Point.REQUEST_READ),
    CrashPoint(name="CP1", point=Point.AUTHENTICATED),
    CrashPoint(name="CP2", point=Point.PARSED),
    CrashPoint(name="CP3", point=Point.DECIDED),
    CrashPoint(name="CP4", point=Point.INTENT_WRITTEN),
    CrashPoint(name="CP5", point=Point.STORED, after=Point.INTENT_WRITTEN, held=Held.IN_FLIGHT),
    CrashPoint(name="CP6", point=Point.CONNECTED, held=Held.IN_FLIGHT),
    CrashPoint(name="CP7", point=Point.HALF_SENT, held=Held.IN_FLIGHT),
    CrashPoint(name="CP8", point=Point.SENT, sent=True, held=Held.IN_FLIGHT),
    CrashPoint(name="CP9", point=Point.STATUS_READ, sent=True, held=Held.IN_FLIGHT),
    CrashPoint(name="CP10", point=Point.BODY_READ, sent=True, held=Held.IN_FLIGHT),
    CrashPoint(name="CP11", point=Point.OUTCOME_WRITTEN, sent=True, held=Held.IN_FLIGHT),
    CrashPoint(name="CP12", point=Point.STORED, after=Point.OUTCOME_WRITTEN, sent=True, held=Held.APPLIED),
    CrashPoint(name="CP13", point=Point.RELEASED, sent=True, held=Held.APPLIED),
    CrashPoint(name="CP14", point=Point.HALF_ANSWERED, sent=True, held=Held.APPLIED),
)
RECONCILER: Final = tuple(
    CrashPoint(name=point.value, point=point, sent=True, held=Held.APPLIED, reconciler=True)
    for point in (Point.FILE_EDITED, Point.COMMITTED, Point.PUSHED)
)
ALL: Final = (*GATEWAY, *RECONCILER)

DOUBTFUL: Final = (
    CrashPoint(name="R1", point=Point.DOUBT_WRITTEN),
    CrashPoint(name="R2", point=Point.STORED, after=Point.DOUBT_WRITTEN),
    CrashPoint(name="R3", point=Point.LOOKED),
    CrashPoint(name="R4", point=Point.RESOLUTION_WRITTEN),
    CrashPoint(name="R5", point=Point.STORED, after=Point.RESOLUTION_WRITTEN),
)
"""Where a process that recovers from the first kill is killed again, if the first left a mutation in flight."""


def again(first: CrashPoint) -> tuple[CrashPoint, ...]:
    """Where the recovery from a kill can be killed: at every step that it takes itself, or in the client's repeat."""
    if first.reconciler:
        return RECONCILER[RECONCILER.index(first) :]
    match first.held:
        case Held.NOTHING:
            return GATEWAY
        case Held.IN_FLIGHT:
            return DOUBTFUL
        case Held.APPLIED:
            return GATEWAY[:3]
