"""A time-boxed change: what is put back at its end, where it stands, and the mutation that puts it back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from gateway.core.model.json import Json
from gateway.core.model.mutation import Call


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimSpans:
    """For how many seconds policy grants a claim whose change is wanted for long enough."""

    by_motivation: Mapping[str, float | None] = field(default_factory=dict)
    """None: without end."""
    without_motive: float = 0
    longest: Mapping[str, float] = field(default_factory=dict)
    """By kind of actor, whatever the motivation."""

    def seconds(self, motivation: str, kind: str) -> float:
        """The span of a claim with this motivation, empty for none, of an actor of this kind; 0 where policy does not say."""
        usual = self.by_motivation.get(motivation, 0) if motivation else self.without_motive
        longest = self.longest.get(kind, 0)
        return longest if usual is None else min(usual, longest)


NO_SPANS: Final = ClaimSpans()
"""Nothing beyond what the decision granted."""


class TimeBoxState(StrEnum):
    """What became of one attribute of a time-boxed change."""

    STANDING = "standing"
    """It waits for its end, or for the outcome of its mutation."""
    PUTTING_BACK = "putting_back"
    """A mutation that puts it back is under way, or in doubt."""
    PUT_BACK = "put_back"
    FAILED = "failed"
    """Its own mutation was not carried out, so there is nothing to put back."""
    SUPERSEDED = "superseded"
    """A later change has the attribute."""
    STILL_WANTED = "still_wanted"
    """Another time-boxed change wants the same value for longer, and puts it back."""
    CHANGED_OUTSIDE = "changed_outside"
    """Somebody changed it past Sentinel: left to a human."""
    LEFT = "left"
    """It could not be put back: left to a human."""


OPEN = frozenset({TimeBoxState.STANDING, TimeBoxState.PUTTING_BACK})
"""The states in which it is still to be put back."""
TO_HUMAN = frozenset({TimeBoxState.CHANGED_OUTSIDE, TimeBoxState.LEFT})
"""The states in which a human must decide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeBoxPart:
    """One attribute of a time-boxed change."""

    mutation_id: str
    address: str
    attribute: str
    value: Json
    """What the change set."""
    base: Json
    """What is put back: the value before the change, or before the first of several on top of each other."""
    root: str
    """The first of the time-boxed changes on top of each other; this one itself if it is the first."""
    actor: str
    """The holder: who made the change."""
    stack: str
    since: datetime
    """When the change was decided."""
    until: datetime
    state: TimeBoxState = TimeBoxState.STANDING
    ended_by: str = ""
    """The mutation that puts or put it back, or that has the attribute now; empty if none."""
    seq: int = 0
    """Number of the DECIDED record of the change."""

    @property
    def key(self) -> tuple[str, str]:
        """Address and attribute."""
        return self.address, self.attribute


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeBox:
    """What a decision foresees for the end of a time-boxed change."""

    until: datetime | None = None
    bases: Mapping[tuple[str, str], Json] = field(default_factory=dict)
    """What is put back, by address and attribute; empty if the change changes nothing."""
    roots: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """The first of the time-boxed changes that the attribute has on top of each other; absent if it has none yet."""
    call: Call | None = None
    """The call that puts all of it back."""
    refusal: str = ""
    """Why it cannot be put back, as a sentence; empty if it can."""
