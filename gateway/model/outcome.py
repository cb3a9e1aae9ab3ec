"""What became of a mutation: `Applied`, `Refused`, `Failed` or `InDoubt`."""

from dataclasses import dataclass
from typing import TypeAlias

from gateway.model.verdict import Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """AWS's own answer, passed on byte for byte."""

    status: int
    headers: tuple[tuple[str, str], ...]
    """As received, hop-by-hop fields removed."""
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """AWS did it and said so: modelled status, an AWS request id, a body of the right shape."""

    reply: Reply
    request_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """We said no (deny) or not yet (hold). Nothing was sent."""

    decision: Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """AWS said no, with a request id and a definite error; or nothing was sent at all. Nothing changed."""

    code: str
    message: str
    reply: Reply | None = None
    """AWS's answer; None where no byte was sent."""
    request_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InDoubt:
    """Bytes were sent and no trustworthy answer came. Never sent again; the claim stays until the truth is read back."""

    reason: str


Sent: TypeAlias = Applied | Failed | InDoubt
"""What can come of sending."""

Outcome: TypeAlias = Applied | Refused | Failed | InDoubt
"""What can come of a mutation."""
