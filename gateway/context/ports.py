"""The port to the ledger for answers about resources: when values were applied, and who changed which attribute last."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from gateway.core.model.caller import ActorKind
from gateway.core.model.claim import Claim
from gateway.core.model.json import Json
from gateway.core.model.motive import Motive


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedValue:
    """The last value that Sentinel applied to an attribute, while the code does not declare it."""

    address: str
    attribute: str
    value: Json
    at: datetime
    mutation_id: str
    seq: int
    """Number of the record of the outcome."""
    branch: str = ""
    """Branch and commit that propose it for the code; empty before that."""
    commit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LatestChange:
    """The last change of an attribute that AWS did not refuse, as its claim tells."""

    actor: str
    kind: ActorKind
    motive: Motive | None
    at: datetime
    mutation_id: str
    commit: str = ""
    """With which it was written into the code; empty before that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownResource:
    """Everything that the ledger knows about one resource, and the open claims on some others, read in one snapshot."""

    claims: tuple[Claim, ...] = ()
    """Open claims on the resource and on the other addresses that were asked for."""
    values: Mapping[str, AppliedValue] = field(default_factory=dict)
    """By attribute."""
    changes: Mapping[str, LatestChange] = field(default_factory=dict)
    """The last change of each attribute that was ever claimed."""
    flips: Mapping[str, int] = field(default_factory=dict)
    """How often each attribute changed its holder within the flip window; absent where never."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentChange:
    """One mutation of a resource that was sent, as the history lists it."""

    seq: int
    at: datetime
    mutation_id: str
    actor: str
    kind: str
    on_behalf_of: str
    outcome: str
    """`applied`, `in_doubt` or `in_flight`."""
    operation: str
    """`service:Operation`."""
    motive: Mapping[str, Json] | None
    changes: tuple[Mapping[str, Json], ...]
    """What it did to the resource: attribute, action, value, and the value before."""
    approver: str = ""
    branch: str = ""
    commit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryQuery:
    """Which changes of a resource to list, newest first."""

    addresses: Sequence[str] = ()
    """The names of the resource: what it is called now, and what it was called while another stack had its address too."""
    attribute: str = ""
    """Only changes of this attribute, of a part of it, or of what is around it; empty for all."""
    after_seq: int = 0
    """Only changes whose records come after this one."""
    before_seq: int = 0
    """Only changes whose records come before this one; 0 for no limit. For the next page."""
    limit: int = 50


class ContextLedger(Protocol):
    """Reads the context of a resource from the ledger."""

    async def known(
        self, *, addresses: Sequence[str], others: Sequence[str], now: datetime, flips_from: datetime
    ) -> KnownResource:
        """What is known about the resource, by all its names, and the claims on the `others`. Raises `errors.LedgerUnavailable`."""
        ...

    async def history(self, query: HistoryQuery) -> Sequence[SentChange]:
        """The changes of a resource that AWS did not refuse. Raises `errors.LedgerUnavailable`."""
        ...

    async def applied(self, *, after: tuple[str, str], limit: int) -> Sequence[AppliedValue]:
        """Applied values that the code does not declare yet, by address and attribute, those after `after`. Raises `errors.LedgerUnavailable`."""
        ...
