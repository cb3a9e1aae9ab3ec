"""The port `TimeBoxLedger` on the ledger's database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from gateway.core.model.caller import Caller
from gateway.core.model.json import Json
from gateway.core.model.mutation import Call
from gateway.core.model.time_box import TimeBoxPart, TimeBoxState
from gateway.core.ports import DueChange
from gateway.ledger.ask import time_box_queries
from gateway.ledger.decide import time_boxes
from gateway.ledger.ledger import SqlLedger


@dataclass(frozen=True, slots=True)
class SqlTimeBoxes:
    """The time-boxed changes of one ledger. Every method may raise `errors.LedgerUnavailable`; nothing of that call was then stored."""

    ledger: SqlLedger

    async def standing_time_boxes(self, addresses: Sequence[str]) -> Sequence[TimeBoxPart]:
        """The parts whose values the attributes of these resources have now, as far as Sentinel knows, oldest first."""
        return await self.ledger.read(lambda session: time_box_queries.standing(session, addresses))

    async def time_boxes(
        self, *, mutation_id: str = "", ended: bool = False, actor: str = "", left: bool = False
    ) -> Sequence[TimeBoxPart]:
        """The parts that are still to be put back or left to a human, soonest end first; with `ended` all of a mutation.

        With `actor` those of this actor, with `left` those that are left to a human.
        """
        return await self.ledger.read(
            lambda session: time_box_queries.listed(session, mutation_id, ended=ended, actor=actor, left=left)
        )

    async def due_mutations(self, now: datetime, *, stack: str = "") -> Sequence[str]:
        """The time-boxed changes whose end has come, the earliest first, and those that wait for an outcome last."""
        return await self.ledger.read(lambda session: time_box_queries.due_mutations(session, now, stack=stack))

    async def due_change(self, now: datetime, mutation_id: str) -> DueChange | None:
        """What is to become of a time-boxed change; None if its end has not come, or it is over."""
        return await self.ledger.read(lambda session: time_box_queries.due(session, now, mutation_id=mutation_id))

    async def declared_before(self, parts: Sequence[TimeBoxPart]) -> Mapping[tuple[str, str], Json]:
        """What the code declared before the first of the changes on top of each other, by address and attribute; absent if that is not known."""
        return await self.ledger.read(lambda session: time_box_queries.declared_before(session, parts))

    async def put_back_call(self, mutation_id: str) -> Call:
        """The call that puts all of a time-boxed change back. Raises `errors.NotFound`."""
        return await self.ledger.read(lambda session: time_box_queries.put_back_call(session, mutation_id))

    async def extend_time_box(
        self, mutation_id: str, until: datetime, *, caller: Caller, reason: str, at: datetime
    ) -> Sequence[TimeBoxPart]:
        """Move the end of a time-boxed change; its parts. Raises `errors.NotFound`, `errors.NotAllowed`."""
        return await self.ledger.write(
            lambda transaction: time_boxes.extend(transaction, mutation_id, until, caller=caller, reason=reason, at=at)
        )

    async def end_time_box(
        self, mutation_id: str, *, caller: Caller, reason: str, at: datetime
    ) -> Sequence[TimeBoxPart]:
        """Let the end of a time-boxed change come now; its parts. Raises `errors.NotFound`, `errors.NotAllowed`."""
        return await self.ledger.write(
            lambda transaction: time_boxes.end(transaction, mutation_id, caller=caller, reason=reason, at=at)
        )

    async def leave_time_box(
        self, mutation_id: str, left: Sequence[TimeBoxPart], state: TimeBoxState, *, by: str, reason: str, at: datetime
    ) -> bool:
        """Record once that parts of a time-boxed change are not put back, and why; False if none of them stands any more."""
        return await self.ledger.write(
            lambda transaction: time_boxes.leave(transaction, mutation_id, left, state, by=by, reason=reason, at=at)
        )
