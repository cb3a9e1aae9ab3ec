"""The `Sender` that a request came from, as far as its connection tells: for investigators, never for a decision."""

from dataclasses import dataclass
from typing import Final

from gateway.model.inbound import Inbound

LONGEST_USER_AGENT: Final = 256
"""Characters of a user agent that are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Where a request came from. Its caller wrote the user agent, so it proves nothing."""

    peer: str = ""
    """Network address of the other end of the connection, which may be a proxy; empty if it is not known."""
    user_agent: str = ""
    """The `User-Agent` header, cut; characters that cannot be printed are replaced by `?`."""


UNKNOWN: Final = Sender()


def sender_of(inbound: Inbound) -> Sender:
    """The sender of a request."""
    return Sender(peer=inbound.peer, user_agent=_printable(inbound.header("user-agent") or ""))


def _printable(text: str) -> str:
    kept = text[:LONGEST_USER_AGENT]
    if kept.isprintable():  # nearly always; looking at each character would cost a read 20 µs
        return kept
    return "".join(each if each.isprintable() else "?" for each in kept)
