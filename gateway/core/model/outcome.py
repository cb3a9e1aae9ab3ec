"""The outcome of a mutation: `Applied`, `Refused`, `Failed` or `InDoubt`, and how a doubt was resolved."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from gateway.core.model.verdict import Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The reply of AWS, which is passed on byte for byte; to an agent without the secrets that it hands out (`gateway.line.withheld`)."""

    status: int
    headers: tuple[tuple[str, str], ...]
    """As received, without hop-by-hop fields."""
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """AWS confirmed the change: the expected status, an AWS request id and a well-formed body."""

    reply: Reply
    request_id: str
    made: str = ""
    """The id that AWS chose for the one resource that the call created; empty if it chose none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Sentinel denied or held the mutation. Nothing was sent."""

    decision: Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """AWS refused the call with a definite error, or nothing could be sent. Nothing changed."""

    code: str
    message: str
    reply: Reply | None = None
    """The reply of AWS; None if nothing was sent."""
    request_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InDoubt:
    """Bytes were sent, but no reliable answer came. The call is not sent again, and its claims stay until it is settled."""

    reason: str
    settled: bool = False
    """Whether the ledger holds the truth by now, and only AWS's reply is missing. The claims do not wait for anything then."""
    reply: Reply | None = None
    """The reply of AWS if it names what of the call failed: its client reads it as it would without Sentinel."""


Sent: TypeAlias = Applied | Failed | InDoubt
"""Possible outcomes of sending."""

Outcome: TypeAlias = Applied | Refused | Failed | InDoubt
"""Possible outcomes of a mutation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """An earlier attempt with the same idempotency key that was not refused."""

    mutation_id: str
    call_digest: str
    outcome: Outcome | None
    """None while it is in flight."""


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
