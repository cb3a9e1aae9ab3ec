"""What was true when we decided: the `Facts` that every check is shown."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from gateway.model.claim import StandingClaim
from gateway.model.contract import Contract
from gateway.model.json import Json
from gateway.model.mutation import Effect, EffectAction
from gateway.model.verdict import Mode


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependant:
    """A thing that depends on the one that is changed."""

    address: str
    direct: bool
    critical: bool = False
    managed_by_agent: bool = False
    """Whether its own contract lets agents touch it."""
    source: str = ""
    """`file:line` of its block, empty where only the state knows it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One effect with everything known about its thing."""

    effect: Effect
    before: Json
    """The value now, as far as we know: of the standing claim, else the last value applied through us, else the state's."""
    declared: Json
    """The value that the code declares; None where it declares none or it cannot be evaluated."""
    attributes_before: Mapping[str, Json]
    """All recorded attributes of the thing before the change."""
    attributes_after: Mapping[str, Json]
    """The same after all effects of this mutation."""
    contract: Contract
    dependants: tuple[Dependant, ...] = ()
    exists: bool = True
    """Whether the state knows the thing already."""

    @property
    def changes(self) -> bool:
        """Whether the effect changes anything, as far as we know. Create, delete and invoke always do."""
        return self.effect.action is not EffectAction.SET or self.effect.value != self.before


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """A human's consent to exactly one call."""

    id: str
    mutation_id: str
    """The held mutation that was approved."""
    approver: str
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the checks judge by. Gathered once; nothing in it changes while they run."""

    now: datetime
    stack: str
    """Name of the stack that declares the thing; empty where none does."""
    mode: Mode
    subjects: tuple[Subject, ...]
    claims: tuple[StandingClaim, ...] = ()
    approval: Approval | None = None
    """An unused approval for exactly this call by this actor."""
    flips: Mapping[str, int] = field(default_factory=dict)
    """How often each `address.attribute` changed hands within the window."""
    signals: tuple[str, ...] = ()
    """Open alerts, by reference."""
    code: str = ""
    """Digest of the code, contracts and state that were looked at."""
