"""Which mutations still wait to be written back, according to the ledger, and which one explains a change in a plan."""

import threading
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from gateway.core.model.json import Json
from gateway.core.model.path import WHOLE, AttributePath, overlaps
from gateway.core.ports import LedgerQueries, RecordQuery
from gateway.core.records.approvals import ApprovedBody
from gateway.core.records.decided import DecidedBody
from gateway.core.records.record import Record
from gateway.core.records.settled import SettledBody
from gateway.core.records.write_backs import ReconciledBody
from reconciler.changes.applied_mutation import AppliedMutation, applied_mutation, changes_attributes
from reconciler.changes.last_changes import LastChanges
from reconciler.changes.ledger_events import answered
from reconciler.changes.replacements import creates_resource, deleted_addresses
from reconciler.model import Wanted
from reconciler.terraform.plan import ResourceChange

_PAGE = 1_000
MOST_OF_SESSION: Final = 16
"""Mutations that are looked at together with another one of their session: each may cost a read of AWS."""
FLIGHT_LASTS: Final = timedelta(seconds=60)
"""How long a call is waited for whose outcome is not known: one in doubt may stay so for much longer."""
SESSION_LASTS: Final = timedelta(hours=1)
"""How far apart mutations of one key may be that are one change: keys may be used for years."""


@dataclass(slots=True)
class Backlog:
    """The mutations of one stack that are not in its code. Reads every record once, in the order of the ledger.

    Calls that change no attribute, such as traffic of the data plane, are forgotten as they are read.
    """

    stack: str
    decided: dict[str, AppliedMutation] = field(default_factory=dict)
    """Allowed mutations that concern the code and neither failed nor are written into it, by id, in the order of their records. Of
    those that are written in part, only the effects that were left."""
    settled: dict[str, Record] = field(default_factory=dict)
    """SETTLED records, outcome applied, of mutations that are not reconciled yet."""
    left: dict[str, Record] = field(default_factory=dict)
    """The last RECONCILED record of the mutations in `decided` that left something to a human."""
    in_flight: dict[str, AppliedMutation] = field(default_factory=dict)
    """Allowed mutations that may change an attribute and whose outcome is not known."""
    last_changes: LastChanges = field(default_factory=LastChanges)
    """Of all applied mutations, whether they are written into code or not."""
    deletions: dict[str, str] = field(default_factory=dict)
    """The last mutation that deleted a declared resource, by its address, until that is in the protected branch."""
    creations: dict[str, AppliedMutation] = field(default_factory=dict)
    """The mutations that created a resource, by id, until that is in the protected branch."""
    committed: dict[str, str] = field(default_factory=dict)
    """The commits of mutations on the stack's branch that were not yet seen in the protected branch, by `trailer_key`."""
    commits: set[str] = field(default_factory=set)
    """The commits of this stack that RECONCILED records name: our own."""
    approvers: dict[str, str] = field(default_factory=dict)
    """Who gave an approval, by the approval's id."""
    seq: int = 0
    """The last record read."""
    _reading: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)
    """DBOS runs the steps of a workflow in another thread, which reads on after its plan."""

    async def read(self, ledger: LedgerQueries) -> None:
        """Read the records that were appended since the last call. Raises `errors.LedgerUnavailable`."""
        while records := await ledger.records(RecordQuery(after_seq=self.seq, limit=_PAGE, newest_first=False)):
            with self._reading:
                for record in records:
                    if record.seq > self.seq:
                        self._add(record)
                        self.seq = record.seq

    def pending(self) -> tuple[AppliedMutation, ...]:
        """Mutations that were applied and are not reconciled, oldest first."""
        return tuple(applied for applied in list(self.decided.values()) if applied.id in self.settled)

    def left_over(self) -> Iterator[AppliedMutation]:
        """Mutations of which something was left to a human, oldest first, as corrections of the records that say so."""
        for mutation, record in list(self.left.items()):
            if mutation in self.decided:
                yield replace(self.decided[mutation], corrects=record.seq)

    def of_session(self, applied: AppliedMutation) -> tuple[AppliedMutation, ...]:
        """The other mutations of the same session that wait or were left to a human, oldest first: those that may be one change with it.

        At most `MOST_OF_SESSION`, the nearest in time, and none that is more than `SESSION_LASTS` away.
        """
        there = {each.id: each for each in (*self.pending(), *self.left_over())}
        near = [each for each in there.values() if each.id != applied.id and _is_of_session(each, applied)]
        near.sort(key=lambda each: abs(each.settled_at - applied.settled_at))
        return tuple(sorted(near[:MOST_OF_SESSION], key=lambda each: each.seq))

    def rests(self, applied: AppliedMutation, now: datetime, quiet: timedelta) -> bool:
        """Whether nothing more is to be expected that is one change with a mutation: nobody of its session created or deleted anything, or
        the session has been quiet for so long, and has no call under way.
        """
        session = (applied, *self.of_session(applied))
        if not any(each.call is not None or creates_resource(each) or deleted_addresses(each) for each in session):
            return True
        under_way = (each for each in list(self.in_flight.values()) if _is_of_session(each, applied))
        if any(now - each.at < FLIGHT_LASTS for each in under_way):
            return False
        return now - max(each.settled_at for each in session) >= quiet

    def superseded(self, applied: AppliedMutation) -> Mapping[tuple[str, str], str]:
        """By (address, attribute) of its effects: the id of the last applied mutation after this one that set the same attribute."""
        found = {
            (effect.address, effect.attribute): self.last_changes.superseding(
                effect.address, effect.attribute, applied.seq
            )
            for effect in applied.effects
        }
        return {key: change.mutation for key, change in found.items() if change is not None}

    def changed_since(self, want: Wanted, applied: AppliedMutation) -> str:
        """Which other mutation changed a value since, or may be changing it, as half a sentence; empty if there is none."""
        for other in reversed(list(self.in_flight.values())):
            if other.seq > applied.seq and _changes(other, want.address, want.attribute):
                return f"{other.id} asked for another value, and its outcome is not known yet"
        last = self.last_changes.since(want.address, want.attribute, applied.seq)
        if last is None:
            return ""
        return f"{last.mutation} {'set it' if last.asked else 'changed it, as a consequence of its call,'} since"

    def circumstances(self, applied: AppliedMutation) -> dict[str, Json]:
        """What the ledger says about why something may be left to a human: while it is the same, so is the end."""
        elsewhere: dict[str, Json] = {"elsewhere": applied.elsewhere} if applied.elsewhere else {}
        return {"others": self.others(applied), **elsewhere}

    def others(self, applied: AppliedMutation) -> list[Json]:
        """The ids of later mutations that change what this one set, in their order. While they stay the same, so does what they explain."""
        found: dict[str, int] = {}
        for effect in applied.effects:
            last = self.last_changes.since(effect.address, effect.attribute, applied.seq)
            if last is not None:
                found[last.mutation] = last.seq
            for other in list(self.in_flight.values()):
                if other.seq > applied.seq and _changes(other, effect.address, effect.attribute):
                    found[other.id] = other.seq
        return [mutation for mutation, _ in sorted(found.items(), key=lambda item: item[1])]

    def explain(self, change: ResourceChange, without: Collection[str]) -> str:
        """The mutation other than those `without` that caused a change in a plan, as half a sentence; empty if there is none."""
        for other in list(self.decided.values()):
            if other.id not in without and any(
                _touches(effect.address, effect.attribute, change) for effect in other.effects
            ):
                return f"belongs to {other.id}, which is not in the code"
        return ""

    def _add(self, record: Record) -> None:
        if isinstance(record.body, ApprovedBody):
            self.approvers[record.body.approval] = record.actor
        elif record.stack and record.stack != self.stack:
            self._add_elsewhere(record)
            return
        match record.body:
            case DecidedBody() as body:
                self._add_decided(record, body)
            case SettledBody() as body:
                self._add_settled(record, body)
            case ReconciledBody() as body:
                self._add_reconciled(record, body)

    def _add_elsewhere(self, record: Record) -> None:
        """Note that another stack's code has a mutation that might as well have been about this one."""
        applied, body = self.decided.get(record.mutation_id), record.body
        if applied is not None and isinstance(body, ReconciledBody) and (body.commit or body.merged):
            self.decided[applied.id] = replace(applied, elsewhere=record.stack)

    def _may_be_about_this(self, record: Record, body: DecidedBody[Any]) -> bool:
        """Whether the mutation is about this stack, or nobody knows that it is not."""
        possible = body.facts.possible_stacks
        return record.stack == self.stack or (not record.stack and (not possible or self.stack in possible))

    def _add_decided(self, record: Record, body: DecidedBody[Any]) -> None:
        carried_out = body.decision.carried_out and changes_attributes(record)
        if not carried_out or not self._may_be_about_this(record, body):
            return
        applied = replace(
            applied_mutation(record, self.approvers), stack=self.stack, is_shared=record.stack != self.stack
        )
        self.in_flight[applied.id] = applied
        if applied.concerns_code:
            self.decided[applied.id] = applied

    def _add_settled(self, record: Record, body: SettledBody) -> None:
        if body.outcome not in ("failed", "applied"):
            return
        flown = self.in_flight.pop(record.mutation_id, None)
        if body.outcome == "failed":
            self.decided.pop(record.mutation_id, None)
            return
        if flown is not None:
            self.last_changes.add(flown)
        if record.mutation_id in self.decided:
            self.settled[record.mutation_id] = record
            applied = self.decided[record.mutation_id]
            call = answered(applied.call, body.made) if applied.call is not None else None
            applied = replace(applied, settled_at=record.at, made=body.made, call=call)
            self.decided[applied.id] = applied
            self.deletions |= dict.fromkeys(deleted_addresses(applied), applied.id)
            if creates_resource(applied):
                self.creations[applied.id] = applied

    def _add_reconciled(self, record: Record, body: ReconciledBody) -> None:
        mutation = record.mutation_id
        self.settled.pop(mutation, None)
        key = trailer_key(mutation, body.corrects)
        if body.merged:
            self.committed.pop(key, None)
            self.creations.pop(mutation, None)
            self.deletions = {address: each for address, each in self.deletions.items() if each != mutation}
        elif body.commit:
            self.committed[key] = body.commit
        if body.commit:
            self.commits.add(body.commit)
        if body.merged and not body.nothing_to_do:
            return  # it only says that an earlier commit was merged
        self._keep_what_was_left(record, body)

    def _keep_what_was_left(self, record: Record, body: ReconciledBody) -> None:
        """Of a mutation that is written, keep the effects that its record left to a human; one that is not written stays whole."""
        mutation = record.mutation_id
        self.left.pop(mutation, None)
        applied = self.decided.get(mutation)
        if body.nothing_to_do:
            self.creations.pop(mutation, None)
        if applied is None:
            return
        if body.commit or body.nothing_to_do:
            left = {(each.address, each.attribute) for each in body.left}
            effects = tuple(effect for effect in applied.effects if (effect.address, effect.attribute) in left)
            applied = replace(applied, effects=effects, call=applied.call if body.left else None)
        if applied.effects or applied.call is not None or (applied.unread is not None and body.left):
            self.decided[mutation] = applied
            self.left[mutation] = record
        else:
            del self.decided[mutation]


def _is_of_session(other: AppliedMutation, applied: AppliedMutation) -> bool:
    same = (other.actor, other.on_behalf_of, other.session) == (applied.actor, applied.on_behalf_of, applied.session)
    return same and other.unread is None and abs(other.settled_at - applied.settled_at) <= SESSION_LASTS


def trailer_key(mutation: str, corrects: int) -> str:
    """What names one write-back of a mutation: its id, and for a correction the number of the record that it corrects."""
    return f"{mutation}@{corrects}" if corrects else mutation


def _changes(applied: AppliedMutation, address: str, attribute: str) -> bool:
    return any(effect.address == address and overlaps(attribute, effect.attribute) for effect in applied.changed)


def _touches(address: str, attribute: str, change: ResourceChange) -> bool:
    if address != change.address:
        return False
    return WHOLE in (attribute, change.attribute) or AttributePath(attribute).top == change.top
