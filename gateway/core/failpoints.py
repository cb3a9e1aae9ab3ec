"""Named points between two steps at which tests kill this process. As shipped, each does nothing.

The points are those of the specification of crashes, in the order in which a change passes them. Nothing that a client sends, no setting and no environment
variable reaches them: only Python code that calls `arm` does, and no module of the gateway or the reconciler calls it.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Any


class Point(StrEnum):
    """Where a process may be killed."""

    REQUEST_READ = "CP0"
    AUTHENTICATED = "CP1"
    PARSED = "CP2"
    DECIDED = "CP3"
    INTENT_WRITTEN = "CP4"
    """Claims and DECIDED are written, not committed."""
    STORED = "CP5"
    """The ledger has committed something, and its caller has not been told: CP5 after CP4, CP12 after CP11, R2 after R1, R5 after R4."""
    CONNECTED = "CP6"
    """Connected to AWS; nothing was sent."""
    HALF_SENT = "CP7"
    SENT = "CP8"
    STATUS_READ = "CP9"
    BODY_READ = "CP10"
    OUTCOME_WRITTEN = "CP11"
    """SETTLED is written, not committed."""
    RELEASED = "CP13"
    """The outcome is stored and its claims are as it leaves them; nothing was answered."""
    HALF_ANSWERED = "CP14"
    FILE_EDITED = "CP15"
    COMMITTED = "CP16"
    """The commit of a write-back is made; RECONCILED is not recorded."""
    PUSHED = "CP17"
    """The branch was pushed; the reconciler has not noted it."""
    DOUBT_WRITTEN = "R1"
    """A gateway has marked what a killed one left as in doubt, and not committed."""
    LOOKED = "R3"
    """The reconciler has read back what is live, and recorded nothing."""
    RESOLUTION_WRITTEN = "R4"
    """What was found out is written, not committed."""
    ARCHIVE_WRITTEN = "A1"
    """The files of an archive are on disk, under a name that does not count."""
    ARCHIVE_NAMED = "A2"
    """The archive is complete; the ledger does not know it."""
    ARCHIVE_STORED = "A3"
    """The ledger knows the archive; its records are still in the database."""
    RECORDS_REMOVED = "A4"
    """Some of the archived records have left the database."""


Hit = Callable[..., None]
"""Called with the point, and with what is there to be used: a transport and the bytes that are to be sent."""

_hit: Hit | None = None


def failpoint(point: Point, *there: Any) -> None:
    """Do nothing, unless a test has armed the points."""
    if _hit is not None:
        _hit(point, *there)


def arm(hit: Hit | None) -> None:
    """Call `hit` at every point from now on; None: nothing, as shipped. For tests."""
    global _hit  # noqa: PLW0603  one process has one
    _hit = hit
