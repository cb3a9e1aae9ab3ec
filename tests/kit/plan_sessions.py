"""Sessions of plans in a ledger, without a gateway: opened for a change of one queue, with calls that are a part of it."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.claim import Claim
from gateway.core.model.motive import Motive
from gateway.core.model.mutation import Call, Effect, EffectAction, Mutation
from gateway.core.model.outcome import Sent
from gateway.core.model.path import WHOLE
from gateway.core.model.plan import PlannedAction
from gateway.core.model.plan_session import PlannedPart, PlanSession, PlanUse, SessionChange
from gateway.core.model.verdict import Verdict
from gateway.core.ports import Key
from gateway.ledger.keyring import SqlKeyRing
from gateway.ledger.ledger import SqlLedger
from gateway.ledger.plan_sessions import SqlPlanSessions
from tests.kit import nouns
from tests.kit.stores import MASTER

PIPELINE = "deployer"


@dataclass
class _Clock:
    at: datetime

    def now(self) -> datetime:
        """The given time."""
        return self.at


@dataclass
class PlanScene:
    """A pipeline with a standing key, which opens sessions."""

    ledger: SqlLedger
    now: datetime = nouns.NOW
    caller: Caller | None = None
    keys: SqlKeyRing = field(init=False)
    sessions: SqlPlanSessions = field(init=False)

    def __post_init__(self) -> None:
        self.keys = SqlKeyRing(self.ledger, master=MASTER, clock=_Clock(self.now))
        self.sessions = SqlPlanSessions(self.ledger, self.keys)

    async def standing(self) -> Caller:
        """The pipeline."""
        if self.caller is None:
            key = await self.keys.issue(actor=PIPELINE, kind=ActorKind.PIPELINE)
            self.caller = Caller(actor=PIPELINE, kind=ActorKind.PIPELINE, key_id=key.id)
        return self.caller

    async def plan(
        self, *effects: Effect, digest: str = "d", motive: Motive | None = None, **decided: Any
    ) -> tuple[Mutation, Key | None]:
        """The mutation of a plan with these effects, and the key of its session if it passes."""
        given = effects or (nouns.effect(value=6),)
        call = Call(service="terraform", operation="apply", parameters={"plan": digest})
        mutation = nouns.mutation(*given, caller=await self.standing(), call=call, motive=motive)
        facts = nouns.facts(*nouns.subjects(given), now=self.now)
        decision = nouns.decision(decided.pop("verdict", Verdict.ALLOW), **decided)
        changes = tuple(
            SessionChange(address=address, resource_type="aws_sqs_queue", action=_action(given, address))
            for address in dict.fromkeys(each.address for each in given)
        )
        lasts = timedelta(hours=1)
        return mutation, await self.sessions.record_plan(mutation, facts, decision, changes, lasts)

    async def session(self, key: Key | None) -> PlanSession:
        """The session of a key."""
        assert key is not None
        found = await self.sessions.session(key.id)
        assert found is not None
        return found

    async def call(
        self,
        session: PlanSession,
        *,
        address: str = nouns.QUEUE,
        action: EffectAction = EffectAction.SET,
        operation: str = "SetQueueAttributes",
        most: int = 1,
        outcome: Sent | None = nouns.APPLIED,
        at: datetime | None = None,
    ) -> Mutation:
        """A call that is a part of a session, decided and settled."""
        attribute = "delay_seconds" if action is EffectAction.SET else WHOLE
        effect = nouns.effect(address, attribute, 6 if action is EffectAction.SET else None, action=action)
        use = PlanUse(address=address, action=action.value, most=most)
        caller = replace(await self.standing(), key_id=session.key_id, plan=session.id)
        change = nouns.mutation(
            effect,
            caller=caller,
            call=Call(service="sqs", operation=operation),
            part=PlannedPart(session=session, uses=(use,), row="hand"),
        )
        facts = nouns.facts(*nouns.subjects(change.effects), now=at or self.now)
        await self.ledger.record_decision(change, facts, nouns.decision())
        if outcome is not None:
            await self.ledger.record_outcome(change, outcome, at or self.now)
        return change

    async def claims(self) -> dict[str, Claim]:
        """Every claim by its id."""
        return {claim.id: claim for claim in await self.ledger.claims(open_only=False)}


def _action(effects: tuple[Effect, ...], address: str) -> PlannedAction:
    whole = {each.action for each in effects if each.address == address and each.attribute == WHOLE}
    if EffectAction.DELETE in whole:
        return PlannedAction.DELETE
    return PlannedAction.CREATE if EffectAction.CREATE in whole else PlannedAction.UPDATE
