"""Fills a ledger with everything that its tables can hold: keys, claims that end in every way, holds, approvals, values, attempts."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from gateway.core.model.approval import ApprovalRule
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.claim import SeenValue, UndoneBy
from gateway.core.model.facts import Facts
from gateway.core.model.inbound import Refusal
from gateway.core.model.json import Json
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.mutation import Call, Effect, EffectAction, Mutation
from gateway.core.model.outcome import Applied, Failed, InDoubt, Reply, Resolution, Sent, SettledBy
from gateway.core.model.signal import MotiveProof, Signal, SignalEvent, SignalScope, SignalState, references_of
from gateway.core.model.stop import StopScope
from gateway.core.model.time_box import TimeBoxState
from gateway.core.model.verdict import Verdict
from gateway.ledger.keyring import SqlKeyRing
from gateway.ledger.ledger import SqlLedger
from tests.kit import nouns
from tests.kit.bodies import written_back
from tests.kit.nouns import BOUND
from tests.kit.plan_sessions import PlanScene
from tests.kit.stores import MASTER

NOW = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
HOUR = timedelta(hours=1)
HUMAN = Caller(actor="alice", kind=ActorKind.HUMAN, key_id="SNTLHUMAN", roles=("approver",))
APPLIED = Applied(reply=Reply(status=200, headers=(("a", "é"),), body=b"<ok/>\x00\xff"), request_id="r-1")
FAILED = Failed(code="ValidationError", message="no", reply=APPLIED.reply, request_id="r-2")
DOUBT = InDoubt(reason="No answer.")
_VERDICTS = {"A": Verdict.ALLOW, "T": Verdict.ALLOW, "H": Verdict.HOLD, "D": Verdict.DENY}


class _Noon:
    def now(self) -> datetime:
        return NOW


@dataclass
class History:
    """Writes the history, and keeps the ids that a tampering test needs, by name."""

    ledger: SqlLedger
    ids: dict[str, str] = field(default_factory=dict)

    async def write(self, middle: Callable[[], Awaitable[None]] | None = None) -> None:
        """Everything; `middle` is called when about half of it is there."""
        await self._keys()
        await self._claims()
        await self._ends()
        if middle is not None:
            await middle()
        await self._approvals()
        await self._signals()
        await self._stops()
        await self._budgets()
        await self._outcomes()
        await self._plans()
        await self._changes_for_a_time()

    async def _keys(self) -> None:
        ring = SqlKeyRing(self.ledger, master=MASTER, clock=_Noon())
        motive = Motive(intent=Intent.COST, motivation=Motivation.BUDGET, text="wéniger", wanted_for=HOUR)
        alice = await ring.issue(actor="alice", kind=ActorKind.HUMAN, roles=("approver",), on_behalf_of="bob")
        agent = await ring.issue(actor="agent", kind=ActorKind.AGENT, motive=motive, motive_only=True, lasts=HOUR)
        session = await ring.issue(actor="agent", kind=ActorKind.AGENT, session_of=agent.id)
        revoked = await ring.issue(actor="rival", kind=ActorKind.AGENT)
        ended = await ring.issue(actor="rival", kind=ActorKind.AGENT, session_of=revoked.id)
        await ring.revoke(revoked.id)
        await ring.revoke(revoked.id)
        self.ids |= {"human key": alice.id, "agent key": agent.id, "session": session.id}
        self.ids |= {"revoked key": revoked.id, "ended session": ended.id}
        refusal = Refusal(at=NOW, code="not_authenticated", reason="No key.", peer="10.0.0.9")
        await self.ledger.record_refusal(refusal)

    async def _claims(self) -> None:
        first = self.mutation(effect(6), key="k-1", motive=True)
        self.ids["first"] = first.id
        self.ids["claim"] = (await self.execute(first, obligations={"claim_seconds": 3600}))[0].id
        second = self.mutation(effect({"ä": [1, 2.5, None]}), actor="rival", key="k-2")
        self.ids["superseded"] = self.ids["claim"]
        self.ids["claim"] = (await self.execute(second, supersedes=(self.ids["superseded"],)))[0].id
        self.ids["second"] = second.id
        third = self.mutation(effect(9))
        await self.execute(third, FAILED, supersedes=(self.ids["claim"],))
        again = self.mutation(effect(4, "same"), actor="rival", key="k-3")
        await self.execute(again)
        two = (
            effect(1, "tags.a"),
            effect(2, "tags.b"),
            effect(None, "x", action=EffectAction.INVOKE),
            effect(3, "i", implied=True),
        )
        later = (effect(1, "min", address="aws_lb.a"), effect(1, "later", address="aws_lb.b", implied=True))
        await self.execute(self.mutation(*later))
        await self.execute(self.mutation(*two, key="k-4"))

    async def _ends(self) -> None:
        released = self.mutation(effect(1, address="aws_lb.front"))
        await self.execute(released)
        await self.ledger.release(released.id, caller=HUMAN, at=NOW)
        expiring = self.mutation(effect(1, "ttl"))
        await self.execute(expiring, obligations={"claim_seconds": 60})
        await self.ledger.expire(NOW + HOUR)
        merged = self.mutation(effect("v", "merged"))
        await self.execute(merged)
        await self.ledger.record_reconciliation(
            merged.id, at=NOW, body=written_back({"merged": True, "commit": "c0ffee"})
        )
        [unneeded] = await self.execute(self.mutation(effect("w", "unneeded")))
        await self.ledger.end_unneeded([unneeded.id], NOW + HOUR)
        gone = self.mutation(effect(None, "*", action=EffectAction.DELETE, address="aws_sqs_queue.old"))
        [part] = await self.execute(self.mutation(effect(1, address="aws_sqs_queue.old")))
        self.ids["delete claim"] = (await self.execute(gone, supersedes=(part.id,)))[0].id

    async def _approvals(self) -> None:
        for name, acts in (("open", ""), ("approved", "a"), ("used", "au"), ("rejected", "ar"), ("renewed", "aa")):
            held = self.mutation(effect(50, name))
            await self.ledger.record_decision(held, self.facts(held), nouns.decision(Verdict.HOLD))
            self.ids[f"{name} hold"] = held.id
            for number, act in enumerate(acts):
                await self._act(act, name, held, NOW + number * 2 * HOUR)
        await self._approvals_in_other_circumstances()
        await self._approvals_by_two()
        await self._approvals_with_a_revoked_key()

    async def _approvals_by_two(self) -> None:
        """What two people must approve: by one of them, by both, in an emergency; and the same call again, which attaches."""
        two = ApprovalRule(people=2)
        for name, people in (("one of two", "a"), ("both", "ab"), ("glass", "ag")):
            held = self.mutation(effect(60, name))
            await self.ledger.record_decision(held, self.facts(held), nouns.decision(Verdict.HOLD, needs=two))
            self.ids[f"{name} hold"] = held.id
            for act in people:
                if act == "g":
                    on_call = replace(HUMAN, actor="oncall", roles=("break-glass",))
                    approval = await self.ledger.break_glass(held.id, human=on_call, reason="INC-7", at=NOW)
                else:
                    approver = replace(HUMAN, actor=f"approver-{act}")
                    approval = await self.ledger.approve(held.id, approver=approver, at=NOW, lasts=HOUR)
                self.ids[f"{name} approval"] = approval.id
        again = self.mutation(effect(60, "one of two"))
        decision = nouns.decision(Verdict.HOLD, needs=two, attached=self.ids["one of two hold"])
        await self.ledger.record_decision(again, self.facts(again), decision)

    async def _approvals_with_a_revoked_key(self) -> None:
        """A whole approval, half of one and a plan's session, which all end with the key; one that was used before stays so."""
        ring = SqlKeyRing(self.ledger, master=MASTER, clock=_Noon())
        key = await ring.issue(actor="thief", kind=ActorKind.HUMAN, roles=("approver",))
        thief = replace(HUMAN, actor="thief", key_id=key.id)
        for name, people in (("withdrawn", 1), ("withdrawn half", 2), ("used in time", 1)):
            held = self.mutation(effect(70, name))
            needs = ApprovalRule(people=people)
            await self.ledger.record_decision(held, self.facts(held), nouns.decision(Verdict.HOLD, needs=needs))
            approval = await self.ledger.approve(held.id, approver=thief, at=NOW, lasts=HOUR)
            self.ids |= {f"{name} hold": held.id, f"{name} approval": approval.id}
            if name == "used in time":
                await self._act("u", name, held, NOW)
        await ring.revoke(key.id)

    async def _approvals_in_other_circumstances(self) -> None:
        """The second approval of a call withdraws the first; a hold whose call and reasons are very many is cut."""
        for number, binding in enumerate((BOUND, replace(BOUND, motive="other"), BOUND)):
            held = self.mutation(effect(50, "circumstances"))
            await self.ledger.record_decision(held, self.facts(held), nouns.decision(Verdict.HOLD, binding=binding))
            if number < 2:
                await self.ledger.approve(held.id, approver=HUMAN, at=NOW, lasts=HOUR)
        large = self.mutation(*(effect("x" * 1_000, f"a{number}") for number in range(200)))
        reasons = tuple(f"reason {number}" for number in range(200))
        binding = replace(BOUND, reasons=reasons)
        await self.ledger.record_decision(large, self.facts(large), nouns.decision(Verdict.HOLD, binding=binding))

    async def _signals(self) -> None:
        """Two alerts prove a claim each; one closes. A file tells of a window."""
        await self.ledger.record_signals([event("open"), event("closed"), event("both")], NOW)
        proven = self.mutation(effect(1, "proven"), motive=True)
        self.ids["proven claim"] = (await self.execute(proven, proof=[signal("open")]))[0].id
        lost = self.mutation(effect(1, "lost"), motive=True)
        self.ids["downgraded claim"] = (await self.execute(lost, proof=[signal("closed")]))[0].id
        kept = self.mutation(effect(1, "kept"), motive=True)
        await self.execute(kept, proof=[signal("closed"), signal("both")])
        filed = self.mutation(effect(1, "filed"), motive=True)
        await self.execute(filed, proof=[signal("window", filed=True)])
        await self.ledger.record_signals([event("closed", SignalState.CLOSED, at=NOW + HOUR)], NOW + HOUR)
        self.ids["signal"] = event("open").id
        by = UndoneBy(actor="bób", mutation_id="mut_9")
        seen = SeenValue(claim=self.ids["proven claim"], stands=False, live={"é": [1.5, None]}, by=by)
        await self.ledger.record_seen([seen], NOW + HOUR)
        back = SeenValue(claim=self.ids["downgraded claim"], stands=False)
        await self.ledger.record_seen([back], NOW + HOUR)
        await self.ledger.record_seen([replace(back, stands=True)], NOW + HOUR)

    async def _changes_for_a_time(self) -> None:
        """One that stands, one of two on top of each other that is put back, one whose end was moved, and one that is left to a human."""
        from tests.kit.time_boxes import TimeBoxHistory  # noqa: PLC0415  it uses this module

        timed, later = TimeBoxHistory(self.ledger), NOW + 2 * HOUR
        await timed.change(6, "for a time")
        await timed.change(6, "put back")
        await timed.put_back(await timed.change(7, "put back"), at=later)
        moved = await timed.change(6, "moved")
        await timed.boxes.extend_time_box(moved.id, later, caller=HUMAN, reason="Longer.", at=NOW)
        left = await timed.change(6, "to human")
        parts = await timed.boxes.time_boxes(mutation_id=left.id)
        await timed.boxes.leave_time_box(left.id, parts, TimeBoxState.LEFT, by="", reason="No.", at=later)

    async def _plans(self) -> None:
        """A session with a call, which ended, and one that is open."""
        plans = PlanScene(self.ledger, now=NOW)
        session = await plans.session((await plans.plan(nouns.effect("aws_sqs_queue.planned", value=6)))[1])
        await plans.call(session, address="aws_sqs_queue.planned", operation="Set")
        await plans.sessions.end(session.id, by=await plans.standing(), at=NOW)
        self.ids["ended plan"] = session.id
        mutation, _ = await plans.plan(nouns.effect("aws_sqs_queue.open", value=6), digest="open")
        self.ids["open plan"] = mutation.id

    async def _stops(self) -> None:
        """One that stands for an actor that changes nothing here, and one that was ended."""
        chief = replace(HUMAN, actor="chief", roles=("operator",))
        stop = await self.ledger.stop(StopScope.ACTOR, "stranger", by=chief, reason="Runs amok.", at=NOW)
        self.ids["stop"] = stop.id
        ended = await self.ledger.stop(StopScope.ALL, "", by=chief, reason="Drill.", at=NOW)
        await self.ledger.resume(ended.id, by=chief, reason="It is over.", at=NOW + HOUR)

    async def _budgets(self) -> None:
        """A charged decision, one that is only held, and a breaker that opened, is on trial, and was reset by a person."""
        rule: dict[str, Json] = {"in_a_row": 2, "open_seconds": 60}
        bucket: dict[str, Json] = {"most": 10, "seconds": 3600, "cost": 1, "when_sent": False}
        size: dict[str, Json] = {**bucket, "most": 40, "cost": 4, "when_sent": True}
        share: dict[str, Json] = {"budgets": {"hour": bucket, "instances/day": size}, "breaker": rule}
        for actor, verdicts in (("spender", "AHD"), ("stumbler", "DD"), ("trier", "DDT"), ("pardoned", "DDD")):
            for verdict in verdicts:
                change = self.mutation(effect(1, f"{actor} {verdict}"), actor=actor)
                decision = nouns.decision(_VERDICTS[verdict], obligations=share)
                facts = replace(self.facts(change), now=NOW + HOUR if verdict == "T" else NOW)
                await self.ledger.record_decision(change, facts, decision)
                if verdict == "A":
                    await self.ledger.record_outcome(change, APPLIED, NOW)
        chief = replace(HUMAN, actor="chief", roles=("operator",))
        await self.ledger.reset_breaker("pardoned", by=chief, reason="Mended.", at=NOW)

    async def _act(self, act: str, name: str, held: Mutation, at: datetime) -> None:
        if act == "a":
            approval = await self.ledger.approve(held.id, approver=HUMAN, at=at, lasts=HOUR)
            self.ids[f"{name} approval"] = approval.id
        elif act == "r":
            await self.ledger.reject(held.id, approver=HUMAN, reason="No.", at=at)
        else:
            again = self.mutation(*held.effects)
            facts = self.facts(again)
            decision = nouns.decision(Verdict.ALLOW, approval=self.ids[f"{name} approval"])
            await self.ledger.record_decision(again, facts, decision)
            await self.ledger.record_outcome(again, APPLIED, NOW)

    async def _outcomes(self) -> None:
        doubtful = self.mutation(effect(1, "doubt"), key="k-d")
        await self.execute(doubtful, DOUBT)
        resolved = self.mutation(effect(1, "resolved"), key="k-r")
        await self.execute(resolved, DOUBT)
        found = Resolution(carried_out=True, by=SettledBy.CLOUDTRAIL, reason="Its event.", request_id="r-9")
        await self.ledger.resolve(resolved.id, found, NOW)
        wrong = self.mutation(effect(1, "wrong"), key="k-w")
        await self.execute(wrong, DOUBT)
        by_hand = {"carried_out": False, "reason": "I looked."}
        await self.ledger.settle_by_hand(wrong.id, approver=HUMAN, at=NOW, **by_hand)  # type: ignore[arg-type]  # mixed values
        left = self.mutation(effect(1, "left"), key="k-l")
        await self.execute(left, DOUBT)
        await self.ledger.leave_to_human(left.id, "Nothing shows it.", NOW)
        flying = self.mutation(effect(1, "flying"), key="k-f")
        await self.ledger.record_decision(flying, self.facts(flying), nouns.decision())
        denied = self.mutation(effect(1, "denied"))
        await self.ledger.record_decision(denied, self.facts(denied), nouns.decision(Verdict.DENY))
        self.ids |= {"in doubt": doubtful.id, "in flight": flying.id, "resolved": resolved.id}
        self.ids |= {"by hand": wrong.id, "left": left.id}

    def mutation(self, *effects: Effect, actor: str = "agent", key: str = "", motive: bool = False) -> Mutation:
        """A new mutation with these effects."""
        return nouns.mutation(
            *effects,
            caller=nouns.caller(actor, on_behalf_of="carol"),
            call=Call(service="sqs", operation="Set", parameters={"Effects": [repr(each) for each in effects]}),
            motive=Motive(intent=Intent.AVAILABILITY, motivation=Motivation.INCIDENT) if motive else None,
            idempotency_key=key,
            signature=f"signature-{key}" if key else "",
        )

    def facts(self, change: Mutation, proof: Sequence[Signal] = ()) -> Facts:
        """What was true: every attribute was 4, and these signals prove the motive."""
        proven = MotiveProof(
            checked=frozenset({Motivation.INCIDENT}),
            signals=tuple(proof),
            by_address={each.address: tuple(known.id for known in proof) for each in change.effects},
        )
        return nouns.facts(*nouns.subjects(change.effects), now=NOW, proof=proven)

    async def execute(
        self, change: Mutation, outcome: Sent = APPLIED, *, proof: Sequence[Signal] = (), **members: Any
    ) -> Any:
        """Decide and settle; the claims taken."""
        claims = await self.ledger.record_decision(change, self.facts(change, proof), nouns.decision(**members))
        await self.ledger.record_outcome(change, outcome, NOW)
        return claims


def effect(value: Json, attribute: str = "delay", *, address: str = "aws_sqs_queue.orders", **members: Any) -> Effect:
    """A SET on a queue, unless `members` say otherwise."""
    given = {"action": EffectAction.SET, "resource_type": "aws_sqs_queue", **members}
    return Effect(address=address, attribute=attribute, value=value, **given)


def event(
    key: str, state: SignalState = SignalState.OPEN, *, at: datetime = NOW, source: str = "alerts"
) -> SignalEvent:
    """An alert of the stack `shop`."""
    return SignalEvent(
        source=source,
        key=key,
        name=f"Lag {key}",
        state=state,
        at=at,
        service="orders",
        labels={"severity": "page"},
        references=("https://alerts.example/1",),
        scopes=(SignalScope(stack="shop", addresses=("aws_sqs_queue.*",)),),
    )


def signal(key: str, *, filed: bool = False) -> Signal:
    """The same alert, open, as the facts of a decision have it."""
    told = event(key)
    return Signal(
        id=told.id,
        source=told.source,
        key=key,
        name=told.name,
        state=SignalState.OPEN,
        at=NOW,
        since=NOW,
        heard_at=NOW,
        service=told.service,
        labels=told.labels,
        references=references_of(told),
        scopes=told.scopes,
        filed=filed,
    )
