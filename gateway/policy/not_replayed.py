"""Why a recorded decision cannot be replayed. Nothing is guessed in place of what a record does not have."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class NotReplayed(StrEnum):
    """Why a decision is not replayed."""

    NO_FACTS = "no_facts"
    """Its record is from before facts were kept, or the policies were not asked."""
    NEWER = "newer"
    """Its facts have a form that only a newer Sentinel can read."""
    SIZE = "size"
    """Its facts were larger than a record has room for."""
    SECRET = "secret"  # noqa: S105  a reason
    """The policies decided by a secret, which is never stored."""
    UNREADABLE = "unreadable"
    """Its facts are not what a Sentinel writes."""
    NO_CONTRACTS = "no_contracts"
    """Its record is from before it was kept what contracts were judged on."""
    SESSION = "session"
    """It is a call of a plan's session."""
    INNER = "inner"
    """Calls inside of it are known by derived rows only, and their parameters are not kept."""
    NO_STACK = "no_stack"
    """No code has its resource any more."""


SENTENCES: Final[Mapping[NotReplayed, str]] = {
    NotReplayed.NO_FACTS: "from before facts were kept, or decided without the policies",
    NotReplayed.NEWER: "with facts of a newer version of Sentinel: replay them with that one",
    NotReplayed.SIZE: "with facts larger than a record has room for",
    NotReplayed.SECRET: "decided by a secret, which is never stored",
    NotReplayed.UNREADABLE: "with facts that cannot be read",
    NotReplayed.NO_CONTRACTS: "from before it was kept what contracts were judged on",
    NotReplayed.SESSION: "in the session of a plan, with which their contracts were judged",
    NotReplayed.INNER: "with calls inside of them of which too little is kept to judge contracts",
    NotReplayed.NO_STACK: "about resources that no stack has any more",
}
"""What the decisions are that were not replayed, after their number."""
