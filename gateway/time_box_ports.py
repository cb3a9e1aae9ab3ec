"""What time-boxed changes need from outside: a ledger that knows them. No implementations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from gateway.model.caller import Caller
from gateway.model.json import Json
from gateway.model.mutation import Call
from gateway.model.time_box import TimeBoxPart, TimeBoxState

MOST_MOVES = 100
"""How often the end of one time-boxed change may be moved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DueChange:
    """A time-boxed change whose end has come, with what is to become of each attribute."""

    mutation_id: str
    stack: str
    until: datetime
    waits: str = ""
    """Why it must wait, as a sentence: an outcome is not known yet. Empty if it can be put back."""
    back: tuple[TimeBoxPart, ...] = ()
    """What is to be put back."""
    alone: tuple[tuple[TimeBoxPart, TimeBoxState, str], ...] = ()
    """What is left alone: the part, the state that it ends in, and the mutation that has the attribute."""


class TimeBoxLedger(Protocol):
    """Knows the time-boxed changes. Every write is one durable transaction."""

    async def standing_time_boxes(self, addresses: Sequence[str]) -> Sequence[TimeBoxPart]:
        """The parts whose values the attributes of these resources have now, as far as Sentinel knows. Raises `errors.LedgerUnavailable`."""
        ...

    async def time_boxes(
        self, *, mutation_id: str = "", ended: bool = False, actor: str = "", left: bool = False
    ) -> Sequence[TimeBoxPart]:
        """The parts that are still to be put back or left to a human, soonest end first; with `ended` all of a mutation, with `actor` those of
        this actor, with `left` those that are left to a human. Raises `errors.LedgerUnavailable`.
        """
        ...

    async def due_mutations(self, now: datetime, *, stack: str = "") -> Sequence[str]:
        """The time-boxed changes whose end has come, the earliest first, and those that wait for an outcome last. Raises `errors.LedgerUnavailable`."""
        ...

    async def due_change(self, now: datetime, mutation_id: str) -> DueChange | None:
        """What is to become of a time-boxed change; None if its end has not come, or it is over. Raises `errors.LedgerUnavailable`."""
        ...

    async def declared_before(self, parts: Sequence[TimeBoxPart]) -> Mapping[tuple[str, str], Json]:
        """What the code declared before the first of the changes on top of each other. Raises `errors.LedgerUnavailable`."""
        ...

    async def put_back_call(self, mutation_id: str) -> Call:
        """The call that puts all of a time-boxed change back. Raises `errors.NotFound`."""
        ...

    async def extend_time_box(
        self, mutation_id: str, until: datetime, *, caller: Caller, reason: str, at: datetime
    ) -> Sequence[TimeBoxPart]:
        """Move the end of a time-boxed change. Raises `errors.NotFound`, `errors.NotAllowed`."""
        ...

    async def end_time_box(
        self, mutation_id: str, *, caller: Caller, reason: str, at: datetime
    ) -> Sequence[TimeBoxPart]:
        """Let the end of a time-boxed change come now, and end its claims. Raises `errors.NotFound`, `errors.NotAllowed`."""
        ...

    async def leave_time_box(
        self, mutation_id: str, left: Sequence[TimeBoxPart], state: TimeBoxState, *, by: str, reason: str, at: datetime
    ) -> bool:
        """Record once that parts of a time-boxed change are not put back, and why; whether any was still to be put back."""
        ...


def keys_of(parts: Sequence[TimeBoxPart]) -> Mapping[tuple[str, str], Json]:
    """What is put back, by address and attribute."""
    return {part.key: part.base for part in parts}
