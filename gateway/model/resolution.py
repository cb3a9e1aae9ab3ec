"""How a mutation in doubt was settled: what was found out, by what means, and why that is so."""

from dataclasses import dataclass
from enum import StrEnum


class SettledBy(StrEnum):
    """What showed whether AWS carried out a mutation that was in doubt."""

    READ_BACK = "read_back"
    """The live values of the resources it changes."""
    CLOUDTRAIL = "cloudtrail"
    """CloudTrail's event of the call."""
    HUMAN = "human"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """The truth about a mutation in doubt."""

    carried_out: bool
    by: SettledBy
    reason: str
    """A whole sentence. It holds no value, because a value may be a secret."""
    actor: str = ""
    """The human who settled it; empty for the other means."""
    request_id: str = ""
    """AWS's id of the request, if CloudTrail tells it."""
