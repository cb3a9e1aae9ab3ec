"""Finds changes from outside on a schedule, records them, and carries out what was decided about each."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import structlog

from gateway.core.drift_book import DriftAction, DriftBook, DriftOutcome, ForeignDrift
from gateway.core.errors import Stopped
from gateway.core.model.ids import digest_id
from gateway.core.model.json import Json
from gateway.core.model.path import overlaps
from gateway.core.model.stop import Reach, Stop, in_the_way
from gateway.core.ports import EventLedger, StopLedger
from gateway.core.records.drift import DriftedBody, DriftLookedBody, DriftSettledBody, RecordedOrigin
from gateway.core.records.record import Record
from gateway.core.records.write_backs import WriteBackBody
from gateway.terraform.address import type_of_named
from reconciler.changes.applied_mutation import AppliedMutation, mutation_of_drift
from reconciler.changes.backlog import MOST_OF_SESSION, Backlog
from reconciler.changes.cloudtrail import Event, origins
from reconciler.changes.event_sources import EventSources
from reconciler.changes.outside_changes import OutsideChange, outside_changes, recalled
from reconciler.drift.created_outside import (
    CreatedOutside,
    creation_id,
    is_created_outside,
    known_creation,
    left_creation,
)
from reconciler.drift.foreign_drift import with_replacements
from reconciler.drift.healing import Healer
from reconciler.drift.implicit_conflicts import ImplicitConflicts
from reconciler.line.loop import Beside, Line
from reconciler.model import Wanted, is_replacement
from reconciler.publish.git import mutations_in
from reconciler.terraform.plan import TerraformPlan

log = structlog.get_logger()

_LOOK_BACK: Final = timedelta(days=1)
"""How old an event may be that explains drift, at least; with a longer schedule twice its time."""
_RECORDED_EVERY: Final = timedelta(hours=1)
"""A look is recorded at most this often, so that looking costs the ledger little."""
_NO_HEALER: Final = "Sentinel sets values back through the gateway only, and `reconcile.endpoint` names another endpoint, so nothing was sent."


@dataclass(slots=True, kw_only=True)
class DriftScan:
    """The changes from outside of one stack."""

    line: Line
    backlog: Backlog
    events: EventLedger
    stops: StopLedger
    every_seconds: float
    sources: EventSources = field(default_factory=EventSources)
    healer: Healer | None = None
    """None where terraform does not reach AWS through the gateway."""
    book: DriftBook = field(default_factory=DriftBook)
    claimed: ImplicitConflicts | None = None
    """Compares the claimed values with what is live; None: nobody is told of implicit conflicts."""
    created: CreatedOutside | None = None
    """Finds what was created outside; None: nobody is told of it."""
    seen_head: str = ""
    """The protected branch's commit up to which the state has what was codified."""

    def slot(self) -> int:
        """The number of the current time on the schedule: each is looked at once, however often the service restarts."""
        return int(time.time() // self.every_seconds)

    async def follow(self) -> tuple[ForeignDrift, ...]:
        """What was decided and is to be carried out, oldest first. What a person stopped waits, and is written into code all the same: that
        changes nothing live. Raises `errors.LedgerUnavailable`.
        """
        await self.book.read(self.line.queries)
        self.backlog.commits |= self.book.commits.get(self.line.stack, set())
        waiting = (each for each in self.book.open.values() if each.stack == self.line.stack and each.waits)
        stopped = await self._stopped()
        return tuple(each for each in waiting if not stopped or each.action is DriftAction.CODIFY)

    async def follow_merges(self) -> None:
        """Bring the state up to date with what the protected branch took in of what was codified, once for each of its commits.

        Raises `errors.GitFailed`.
        """
        await self.book.read(self.line.queries)
        codified = [each for each in self.book.open.values() if each.stack == self.line.stack and each.commit]
        if not codified or not self.line.refresh_state or (head := await self.line.protected_head()) == self.seen_head:
            return
        merged = await mutations_in(self.line.source, self.line.protected)
        commits = {each.commit for each in codified if each.id in merged}
        ready = (each for each in codified if each.commit in commits)
        if addresses := sorted({address for each in ready for address in each.written or {each.address}}):
            failed = await self.line.update_state(addresses)
            log.info("state_followed_drift", stack=self.line.stack, addresses=addresses, failed=failed)
        self.seen_head = head

    async def scan(self) -> int:
        """Plan the protected code, and record what was changed from outside and what is so no longer; the number found.

        Raises `errors.GitFailed`, `errors.TerraformFailed` and their like; the next time on the schedule tries again.
        """
        await self.backlog.read(self.line.queries)
        plan = await self.line.plan_protected()
        await self.backlog.read(self.line.queries)
        await self.book.read(self.line.queries)
        events = await self._events()
        found = await self._outside(plan, events) if plan is not None else {}
        found |= await self._created(events, plan.live_values if plan is not None else {})
        for drift_id, outside in found.items():
            await self._record_found(drift_id, outside)
        for drift in list(self.book.open.values()):
            if drift.stack == self.line.stack and drift.id not in found and not await self._stays(drift):
                reason = "Live and code agree again, or a mutation set the value since."
                await self._settle(drift, _settled(drift, DriftOutcome.GONE, reason))
        if self.claimed is not None:
            known = {(each.change.address, each.change.attribute): each.origin for each in found.values()}
            await self.claimed.look({key: origin for key, origin in known.items() if origin is not None})
        await self.sources.done()
        await self._record_look(len(found))
        return len(found)

    async def _record_look(self, found: int) -> None:
        """Record that somebody looked: that no change from outside is known says nothing unless this is."""
        now, stack = self.line.clock.now(), self.line.stack
        await self.book.read(self.line.queries)
        last = self.book.looked.get(stack)
        if last is None or now - last >= _RECORDED_EVERY:
            record = Record(
                at=now, mutation_id=digest_id("look", stack), stack=stack, body=DriftLookedBody(found=found)
            )
            await self.events.record_event(record, repeat=True)

    async def carry_out(self, drift_id: str) -> Mapping[str, Json]:
        """Do what was decided about a change from outside, and record what came of it, once.

        Raises `errors.Stopped` for what would change the stack while that is stopped; it is tried again later.
        """
        await self.follow()
        drift = self.book.open.get(drift_id)
        if drift is None or not drift.waits:
            return {}
        if drift.action is not DriftAction.CODIFY and (stops := await self._stopped()):
            raise Stopped(f"{stops[0].sentence} Nothing was set back.")
        body = await self._codify(drift) if drift.action is DriftAction.CODIFY else await self._revert(drift)
        await self._settle(drift, body)
        return body.members

    async def _stopped(self) -> tuple[Stop, ...]:
        """The stops of all changes, and of those in this stack. The gateway itself refuses what others are about."""
        return in_the_way(await self.stops.stops(), Reach(stacks=frozenset({self.line.stack})))

    async def _events(self) -> tuple[Event, ...]:
        now = self.line.clock.now()
        return await self.sources.since(now - max(_LOOK_BACK, timedelta(seconds=2 * self.every_seconds)))

    async def _created(
        self, events: Sequence[Event], live: Mapping[str, Mapping[str, Json]]
    ) -> dict[str, OutsideChange]:
        """What was created outside, by the id of the change: what was found before stays so after its events are gone."""
        stack = self.line.stack
        found = await self.created.find(events, live) if self.created is not None else ()
        return {
            creation_id(each, stack, self.book.ended[stack, each.change.address, each.change.attribute]): each
            for each in found
        }

    async def _stays(self, drift: ForeignDrift) -> bool:
        """Whether a change that was not found again may still be there."""
        if is_created_outside(drift):
            return self.created is not None and not await self.created.is_accounted(drift)
        return self._in_flight(drift)

    async def _outside(self, plan: TerraformPlan, events: Sequence[Event]) -> dict[str, OutsideChange]:
        stack = self.line.stack
        known = {(each.address, each.attribute): each.live for each in self.book.open.values() if each.stack == stack}
        found = await outside_changes(plan, origins(events, plan), self.backlog, self._recall, known)
        found = with_replacements(plan, found, events, known)
        return {
            each.id_of(stack, self.book.ended[stack, each.change.address, each.change.attribute]): each
            for each in found
        }

    def _in_flight(self, drift: ForeignDrift) -> bool:
        """Whether a mutation may be setting the value now, so that this look shows nothing of it."""
        return any(
            effect.address == drift.address and overlaps(effect.attribute, drift.attribute)
            for applied in list(self.backlog.in_flight.values())
            for effect in applied.changed
        )

    async def _record_found(self, drift_id: str, outside: OutsideChange) -> None:
        change, origin = outside.change, outside.origin
        body = DriftedBody(
            address=change.address,
            attribute=change.attribute,
            resource_type=change.resource_type or type_of_named(change.address),
            live=None if change.sensitive else change.live,
            declared=None if change.sensitive else change.other,
            sensitive=change.sensitive,
            origin=None
            if origin is None
            else RecordedOrigin(
                actor=origin.actor,
                event=origin.event,
                at=origin.at.isoformat(),
                event_id=origin.event_id,
                service=origin.actor.endswith(".amazonaws.com"),
            ),
        )
        record = Record(
            at=self.line.clock.now(),
            mutation_id=drift_id,
            actor=origin.actor if origin else "",
            stack=self.line.stack,
            body=body,
        )
        if await self.events.record_event(record, resources=[(change.address, change.attribute)]):
            log.warning(
                "drifted",
                stack=self.line.stack,
                drift=drift_id,
                address=change.address,
                attribute=change.attribute,
                by=origin.actor if origin else "unknown",
            )

    async def _codify(self, drift: ForeignDrift) -> DriftSettledBody:
        """Propose the live value for the code, with all its proofs, on the stack's branch.

        What was replaced is proposed together with the rest that was, since one may belong to the other.
        """
        replaced = self._replaced_too(drift)
        applied, beside = _as_mutation(drift, *replaced), self._of_one_actor(drift)
        proposal = await self.line.prove(applied, self.backlog, beside)
        written = await self.line.publish(applied, self.backlog, proposal, beside)
        for mutation, body in written.beside.items():
            await self._settle(self.book.open[mutation], _codified(self.book.open[mutation], body))
        body = written.body
        # A commit that an earlier run made, before it was killed, may not have what was found since: that waits for its own turn.
        for each in replaced if not body.left else ():
            if each.address in body.edited_addresses:
                await self._settle(each, _with_it(drift, each, body))
        return _codified(drift, body)

    def _of_one_actor(self, drift: ForeignDrift) -> Beside:
        """The other changes by the same actor that are to be codified, and what was created and is not."""
        others = [
            each
            for each in self.book.open.values()
            if each.stack == drift.stack and each.id != drift.id and _actor(each) == _actor(drift)
        ]
        waiting = [each for each in others if each.waits and each.action is DriftAction.CODIFY]
        changes = tuple(_as_mutation(each) for each in waiting if not _is_replaced(each))
        unwritten = (each for each in others if is_created_outside(each) and each not in waiting and not each.commit)
        return Beside(changes=changes[:MOST_OF_SESSION], unwritten=tuple(map(left_creation, unwritten)))

    def _replaced_too(self, drift: ForeignDrift) -> list[ForeignDrift]:
        """The other resources that were replaced and are to be codified too, if this one was replaced."""
        if not _is_replaced(drift):
            return []
        others = (each for each in self.book.open.values() if each.stack == drift.stack and each.id != drift.id)
        return [each for each in others if each.waits and each.action is DriftAction.CODIFY and _is_replaced(each)]

    async def _revert(self, drift: ForeignDrift) -> DriftSettledBody:
        if self.healer is None:
            return _settled(drift, DriftOutcome.FAILED, _NO_HEALER)
        return await self.healer.heal(drift)

    async def _settle(self, drift: ForeignDrift, body: DriftSettledBody) -> None:
        record = Record(at=self.line.clock.now(), mutation_id=drift.id, stack=drift.stack, body=body)
        await self.book.read(self.line.queries)
        current = self.book.open.get(drift.id)
        if current is None or (current.outcome == body.outcome and current.decision == drift.decision):
            return  # a run that was killed had recorded it
        await self.events.record_event(record, resources=[(drift.address, drift.attribute)], repeat=True)
        log.info("drift_settled", stack=drift.stack, drift=drift.id, outcome=body.outcome, reason=body.reason)

    async def _recall(self, mutation: str) -> AppliedMutation | None:
        return await recalled(self.line.queries, mutation)


def _is_replaced(drift: ForeignDrift) -> bool:
    return is_replacement(Wanted(address=drift.address, attribute=drift.attribute, value=drift.live))


def _as_mutation(drift: ForeignDrift, *beside: ForeignDrift) -> AppliedMutation:
    return mutation_of_drift(drift, *beside, known=known_creation(drift) if is_created_outside(drift) else None)


def _actor(drift: ForeignDrift) -> str:
    """Who did it; empty if that is not known."""
    return drift.origin.actor if drift.origin is not None else ""


def _codified(drift: ForeignDrift, body: WriteBackBody) -> DriftSettledBody:
    """What came of a change that was to be proposed for the code."""
    reasons = [each.reason for each in body.left]
    return _settled(
        drift,
        DriftOutcome.FAILED if reasons else DriftOutcome.CODIFIED,
        " ".join(reasons) or body.nothing_to_do or "It is proposed for the code.",
        **{name: getattr(body, name) for name in WriteBackBody.__struct_fields__},
    )


def _with_it(drift: ForeignDrift, each: ForeignDrift, body: WriteBackBody) -> DriftSettledBody:
    """What came of a change that was proposed together with another one."""
    reason = f"It is proposed for the code together with {drift.id}."
    return _settled(each, DriftOutcome.CODIFIED, reason, commit=body.commit, branch=body.branch)


def _settled(drift: ForeignDrift, outcome: DriftOutcome, reason: str, **members: Any) -> DriftSettledBody:
    return DriftSettledBody(
        outcome=outcome.value, reason=reason, address=drift.address, attribute=drift.attribute, **members
    )
