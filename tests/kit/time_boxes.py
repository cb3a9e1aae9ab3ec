"""Changes for a time in a ledger: made, and put back, without a gateway."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from gateway.core.model.json import Json
from gateway.core.model.mutation import Call, Mutation, PutBack
from gateway.core.model.outcome import Sent
from gateway.core.model.time_box import TimeBox, TimeBoxState
from gateway.ledger.ledger import SqlLedger
from tests.kit import nouns
from tests.kit.history import APPLIED, NOW, History, effect

HOUR = timedelta(hours=1)
ADDRESS = "aws_sqs_queue.orders"
BACK = Call(service="sqs", operation="Set", parameters={"Delay": 4}, account="1", region="r")


class TimeBoxHistory:
    """Makes and puts back changes for a time on one queue."""

    def __init__(self, ledger: SqlLedger) -> None:
        self.ledger = ledger
        self.boxes = ledger
        self._history = History(ledger)

    async def change(
        self,
        value: Json = 6,
        *attributes: str,
        lasts: timedelta | None = HOUR,
        base: Json = 4,
        outcome: Sent | None = APPLIED,
        at: datetime = NOW,
        **members: Any,
    ) -> Mutation:
        """Set attributes for a time, or for good; what was there before is found as a gateway does it, in a simple way."""
        names = attributes or ("delay",)
        members.setdefault("obligations", {"claim_seconds": 3600})
        change = self._history.mutation(*(effect(value, name) for name in names), actor=members.pop("actor", "agent"))
        facts = replace(self._history.facts(change), now=at)
        if lasts is not None:
            standing = {part.key: part for part in await self.boxes.standing_time_boxes([ADDRESS])}
            keys = [(ADDRESS, name) for name in names]
            bases = {key: standing[key].base if key in standing else base for key in keys}
            roots = {key: standing[key].root for key in keys if key in standing}
            facts = replace(facts, time_box=TimeBox(until=at + lasts, bases=bases, roots=roots, call=BACK))
        every = await self.ledger.claims(address=ADDRESS, open_only=False)
        open_claims = [claim.id for claim in every if claim.ended_at is None and claim.attribute in names]
        decision = nouns.decision(supersedes=tuple(open_claims), **members)
        await self.ledger.record_decision(change, facts, decision)
        if outcome is not None:
            await self.ledger.record_outcome(change, outcome, at)
        return change

    async def put_back(
        self,
        boxed: Mutation,
        *,
        at: datetime,
        bases: Mapping[tuple[str, str], Json] | None = None,
        outcome: Sent | None = APPLIED,
    ) -> Mutation:
        """Put it back, or what `bases` names of it."""
        wanted = bases if bases is not None else {(each.address, each.attribute): 4 for each in boxed.effects}
        made = self._history.mutation(*(effect(value, name) for (_, name), value in wanted.items()), actor="reconciler")
        change = replace(made, puts_back=PutBack(mutation_id=boxed.id, bases=wanted))
        await self.ledger.record_decision(change, replace(self._history.facts(change), now=at), nouns.decision())
        if outcome is not None:
            await self.ledger.record_outcome(change, outcome, at)
        return change

    async def states(self, boxed: Mutation) -> dict[str, TimeBoxState]:
        """What became of each attribute."""
        parts = await self.boxes.time_boxes(mutation_id=boxed.id, ended=True)
        return {part.attribute: part.state for part in parts}
