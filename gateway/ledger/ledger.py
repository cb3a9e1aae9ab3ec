"""The ledger's ports on one SQL database: each method hands its work to the writer or to a reader."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from gateway.context.ports import AppliedValue, HistoryQuery, KnownResource, SentChange
from gateway.core.model.approval import Answered, Hold, HoldState
from gateway.core.model.budget import Used
from gateway.core.model.caller import Caller
from gateway.core.model.claim import Claim, SeenValue
from gateway.core.model.data_plane import PassedCalls
from gateway.core.model.facts import Approval, Facts
from gateway.core.model.ids import new_id
from gateway.core.model.inbound import Refusal
from gateway.core.model.json import Json
from gateway.core.model.mutation import Call, Mutation
from gateway.core.model.outcome import Resolution, Sent
from gateway.core.model.signal import Signal, SignalEvent
from gateway.core.model.stop import Stop, StopScope
from gateway.core.model.time_box import TimeBoxPart, TimeBoxState
from gateway.core.model.verdict import Decision
from gateway.core.off_loop import mutation_size, off_loop
from gateway.core.ports import Attempt, Doubt, DueChange, LedgerView, RecordQuery, SignalQuery
from gateway.core.records.record import Record
from gateway.core.records.write_backs import ReconciledBody
from gateway.ledger.ask import queries, record_search, time_box_queries
from gateway.ledger.ask.answers import answered
from gateway.ledger.ask.blame import Blame, blame
from gateway.ledger.ask.change_history import changes_of
from gateway.ledger.ask.context_ledger import every_applied, known_about
from gateway.ledger.ask.queries import list_signals, signals_version
from gateway.ledger.chain.anchor import Anchor
from gateway.ledger.chain.checkpoint import CheckpointFile
from gateway.ledger.chain.ledger_keys import LedgerKeys
from gateway.ledger.chain.verification import verify_ledger
from gateway.ledger.decide import approvals as consents
from gateway.ledger.decide import budgets, commands, doubts, stops, time_boxes
from gateway.ledger.decide.claims import end_unneeded, expire
from gateway.ledger.decide.decision import decide
from gateway.ledger.decide.events import append_event, record_passed
from gateway.ledger.decide.implicit_conflicts import record_seen
from gateway.ledger.decide.lookup import applied_with, attempt_of, view_of
from gateway.ledger.decide.outcome import settle, settlement
from gateway.ledger.decide.refusals import RefusalRateLimit, refusal_body
from gateway.ledger.decide.signals import record_signals
from gateway.ledger.decide.write_set import write_set
from gateway.ledger.store import leases
from gateway.ledger.store.database import Store, open_store
from gateway.ledger.store.opening import prepare
from gateway.ledger.store.reader import Probe, Reader
from gateway.ledger.store.rows import ChainEndRow
from gateway.ledger.store.statements import Session
from gateway.ledger.store.transaction import Transaction
from gateway.ledger.store.writer import Writer

T = TypeVar("T")

_EXPIRED_AT_ONCE: Final = 500
"""Most claims ended in one transaction, so that mutations do not wait long behind it."""


class SqlLedger:
    """The ledger on SQLite or PostgreSQL. `open` opens it, `close` closes it.

    Every method may raise `errors.LedgerUnavailable`; nothing of that call was then stored.
    """

    def __init__(self, store: Store, keys: LedgerKeys, checkpoint: CheckpointFile | None, *, end: ChainEndRow) -> None:
        """Takes ownership of a store that `prepare` has checked, and which ends so: `close` closes it."""
        self._store = store
        self._keys = keys
        self._checkpoint = checkpoint
        self._anchor = Anchor(store, keys.chain, checkpoint, end=end) if checkpoint is not None else None
        self._writer = Writer(store, keys.chain, self._anchor, seen=end)
        self._hot_reader = Reader(store, "hot-reader")
        self._query_reader = Reader(store, "query-reader")
        self._probe = Probe(self._hot_reader)
        self._refusal_limit = RefusalRateLimit()
        self._owner = new_id("gtw")

    @classmethod
    async def open(cls, url: str, keys: LedgerKeys, checkpoint: Path | None = None) -> "SqlLedger":
        """Open the database at a SQLAlchemy URL, bringing its schema up to date. Without the path of a checkpoint, none is signed.

        Raises `errors.SettingsInvalid`, `errors.LedgerUnavailable`, and `errors.LedgerBroken` if the ledger does not hold what the
        last checkpoint says, or ends with a record that these keys did not write.
        """
        file = CheckpointFile(checkpoint, keys.signing) if checkpoint is not None else None
        return await asyncio.to_thread(cls._open, url, keys, file)

    @classmethod
    def _open(cls, url: str, keys: LedgerKeys, file: CheckpointFile | None) -> "SqlLedger":
        store = open_store(url)
        try:
            end = prepare(store, keys.chain, file)
            return cls(store, keys, file, end=end)
        except BaseException:
            store.close()
            raise

    @property
    def problem(self) -> str:
        """Why the ledger's last checkpoint could not be signed, as a sentence; empty if it was."""
        return self._anchor.problem if self._anchor is not None else ""

    async def unreadable(self) -> str:
        """Why the ledger cannot be read now, as a sentence; empty if it can. Cheap: asked at most once a second."""
        return await self._probe.problem()

    async def close(self) -> None:
        """Finish what is waiting, record how many refusals were dropped, and close the database."""
        if self._refusal_limit.suppressed:
            await self._append_refusal(Refusal(at=datetime.now(UTC), code="suppressed"))
        # The anchor comes after the writer, so that the last checkpoint is signed over everything written here.
        anchor = (self._anchor,) if self._anchor is not None else ()
        for part in (self._writer, *anchor, self._hot_reader, self._query_reader, self._store):
            await asyncio.to_thread(part.close)

    async def write(self, work: Callable[[Transaction], T]) -> T:
        """Run `work` in a durable transaction. For the ledger's own modules and the keyring."""
        return await self._writer.submit(work)

    async def read(self, query: Callable[[Session], T]) -> T:
        """Run a query on the connection that every mutation waits for, so it must be fast. For the ledger's own modules and the keyring."""
        return await self._hot_reader.read(lambda connection: query(Session(connection)))

    async def query(self, query: Callable[[Session], T]) -> T:
        """Run a query on the connection that no mutation waits for. For the ledger's own modules."""
        return await self._query_reader.read(lambda connection: query(Session(connection)))

    # The port `Ledger`: what a mutation waits for ---------------------------------------------------------------

    async def view(
        self, *, addresses: Sequence[str], actor: str, call_digest: str, now: datetime, flip_window: timedelta
    ) -> LedgerView:
        """What is known about these addresses, and the actor's unused approval for this call. Flips are counted over the
        `flip_window` before `now`.
        """
        return await self._hot_reader.read(
            lambda connection: view_of(
                Session(connection),
                addresses=addresses,
                actor=actor,
                call_digest=call_digest,
                now=now,
                flip_window=flip_window,
            )
        )

    async def applied_with(self, attribute: str, values: Sequence[str]) -> Mapping[str, Mapping[str, Json]]:
        """Address → attribute → last applied value, of every resource whose `attribute` was applied with one of these texts."""
        return await self.read(lambda session: applied_with(session, attribute, values))

    async def attempt(self, actor: str, idempotency_key: str) -> Attempt | None:
        """The earlier attempt of this actor with this idempotency key, or None."""
        return await self._hot_reader.read(lambda connection: attempt_of(Session(connection), actor, idempotency_key))

    async def answered(self, actor: str, call_digest: str) -> Answered:
        """What people said, or still have to say, about this actor's same call."""
        return await self.read(lambda session: answered(session, actor, call_digest))

    async def record_refusal(self, refusal: Refusal) -> None:
        """Append TURNED_AWAY. Rate-limited: the next record says how many were dropped."""
        if self._refusal_limit.admit(refusal):
            await self._append_refusal(refusal)

    async def record_decision(self, mutation: Mutation, facts: Facts, decision: Decision) -> Sequence[Claim]:
        """Append DECIDED and store what it means for claims, approval, attempt and hold; the claims taken.

        Raises `errors.ClaimTaken`, `errors.ApprovalSpent`, `errors.AttemptInFlight`, and `errors.PolicyInvalid` for an
        invalid obligation; nothing was then stored.
        """
        size = mutation_size(mutation)
        write = await off_loop(size, lambda: write_set(mutation, facts, decision, owner=self._owner))
        return await self._writer.submit(lambda transaction: decide(transaction, write))

    async def record_outcome(self, mutation: Mutation, outcome: Sent, at: datetime) -> None:
        """Append SETTLED and store what it means for claims, applied values and the attempt.

        Raises `errors.NotFound` if the mutation was not carried out, `errors.NotAllowed` if its outcome is recorded already.
        """
        given = settlement(mutation, outcome, at)
        await self._writer.submit(lambda transaction: settle(transaction, given))

    async def record_passed(self, passed: Sequence[PassedCalls], at: datetime) -> None:
        """Append PASSED for each of them, in one transaction."""
        await self._writer.submit(lambda transaction: record_passed(transaction, passed, at))

    async def renew_lease(self, at: datetime, lasts: timedelta) -> None:
        """Show that this process lives: until `at + lasts` nobody marks its attempts as in doubt. Only a gateway calls it."""
        await self._writer.submit(lambda transaction: leases.renew(transaction, self._owner, at + lasts))

    async def end_lease(self) -> None:
        """End the lease, so that what this process may have left in flight is in doubt at once."""
        await self._writer.submit(lambda transaction: leases.end(transaction, self._owner))

    async def recover(self, at: datetime) -> int:
        """Mark mutations in flight whose gateway's lease has run out as in doubt; the number of them."""
        return await self._writer.submit(lambda transaction: leases.recover(transaction, at))

    # The port `DoubtLedger` -------------------------------------------------------------------------------------

    async def in_doubt(self) -> Sequence[Doubt]:
        """The mutations in doubt, oldest first; at most `record_search.MAX_PAGE`."""
        return await self._query_reader.read(
            lambda connection: doubts.in_doubt(Session(connection), record_search.MAX_PAGE)
        )

    async def resolve(self, mutation_id: str, resolution: Resolution, at: datetime) -> None:
        """Settle a mutation in doubt, after the truth was found out. Raises `errors.NotFound`, `errors.NotAllowed` (not in doubt)."""
        await self._writer.submit(lambda transaction: doubts.resolve(transaction, mutation_id, resolution, at))

    async def leave_to_human(self, mutation_id: str, reason: str, at: datetime) -> bool:
        """Record once that a human must settle a mutation in doubt; whether this was the first time. Raises as `resolve`."""
        return await self._writer.submit(
            lambda transaction: doubts.leave_to_human(transaction, mutation_id, reason, at)
        )

    # The port `LedgerQueries` -----------------------------------------------------------------------------------

    async def records(self, query: RecordQuery) -> Sequence[Record]:
        """The records that match; at most `record_search.MAX_PAGE`."""
        return await self._query_reader.read(lambda connection: record_search.records(connection, query))

    async def changed_since(self, seq: int) -> tuple[int, Sequence[str]]:
        """The number of the last record looked at, and the mutations of those after `seq`; for -1 only the number of the last record."""
        return await self._query_reader.read(lambda connection: queries.changed_since(connection, seq))

    async def claims(
        self,
        *,
        address: str = "",
        actor: str = "",
        mutation_id: str = "",
        open_only: bool = True,
        before: str = "",
        limit: int = record_search.MAX_PAGE,
    ) -> Sequence[Claim]:
        """Claims, newest first; at most `record_search.MAX_PAGE`."""
        equal = {"address": address, "actor": actor, "mutation_id": mutation_id}
        ask = partial(queries.claims, equal=equal, open_only=open_only, before=before, limit=limit)
        return await self._query_reader.read(ask)

    async def holds(
        self,
        *,
        state: HoldState | None = HoldState.OPEN,
        actor: str = "",
        stack: str = "",
        mutation_id: str = "",
        before: str = "",
        limit: int = 100,
    ) -> Sequence[Hold]:
        """Held mutations, newest first; at most `record_search.MAX_PAGE`. `state` None means every state."""
        equal = {"state": state or "", "actor": actor, "stack": stack, "mutation_id": mutation_id}
        return await self._query_reader.read(
            lambda connection: queries.holds(connection, equal, before=before, limit=limit)
        )

    async def blame(self, address: str, attribute: str) -> Blame | None:
        """Who set the attribute last; None if nobody did through Sentinel."""
        now = datetime.now(UTC)
        return await self._query_reader.read(lambda connection: blame(connection, address, attribute, now))

    async def verify(self) -> int:
        """Check chain, checkpoint and tables; the number of records. Raises `errors.LedgerBroken`, which names the first bad record or row."""
        done = await asyncio.to_thread(verify_ledger, self._store, self._keys.chain, self._checkpoint)
        return done.records

    # The port `LedgerCommands` ----------------------------------------------------------------------------------

    async def approve(
        self, mutation_id: str, *, approver: Caller, at: datetime, lasts: timedelta, reason: str = "", door: str = ""
    ) -> Approval:
        """Approve the held call; the approval. Raises `errors.NotFound`, `errors.NotAllowed` (own call, or not a human approver)."""
        return await self._writer.submit(
            lambda transaction: consents.approve(
                transaction, mutation_id, approver=approver, at=at, lasts=lasts, reason=reason, door=door
            )
        )

    async def break_glass(
        self, mutation_id: str, *, human: Caller, reason: str, at: datetime, door: str = ""
    ) -> Approval:
        """Pass a held call at once; the approval. Raises `errors.NotFound`, `errors.NotAllowed` (not a human with the role, or not held)."""
        return await self._writer.submit(
            partial(consents.break_glass, mutation_id=mutation_id, human=human, reason=reason, at=at, door=door)
        )

    async def reject(self, mutation_id: str, *, approver: Caller, reason: str, at: datetime, door: str = "") -> None:
        """Reject the held call for good. Raises as `approve`."""
        await self._writer.submit(
            partial(commands.reject, mutation_id=mutation_id, approver=approver, reason=reason, at=at, door=door)
        )

    async def release(self, mutation_id: str, *, caller: Caller, at: datetime) -> Sequence[Claim]:
        """End the claims of a mutation early; the claims ended. Raises `errors.NotFound`, `errors.NotAllowed`."""
        return await self._writer.submit(
            lambda transaction: commands.release(transaction, mutation_id, caller=caller, at=at)
        )

    async def settle_by_hand(
        self, mutation_id: str, *, approver: Caller, carried_out: bool, reason: str, at: datetime
    ) -> None:
        """Settle a mutation in doubt on an approver's word. Raises as `resolve`, and `errors.Malformed` without a reason."""
        await self._writer.submit(
            lambda transaction: doubts.settle_by_hand(
                transaction, mutation_id, approver=approver, carried_out=carried_out, reason=reason, at=at
            )
        )

    async def record_reconciliation(self, mutation_id: str, *, at: datetime, body: ReconciledBody) -> None:
        """Append RECONCILED. If it is merged, the mutation's claims end. Raises `errors.NotFound`."""
        await self._writer.submit(
            lambda transaction: commands.record_reconciliation(transaction, mutation_id, at=at, body=body)
        )

    async def record_event(
        self, record: Record, *, resources: Sequence[tuple[str, str]] = (), repeat: bool = False
    ) -> bool:
        """Append a record of an event; without `repeat` only the first of its id and stage. Whether it was appended."""
        return await self._writer.submit(
            lambda transaction: append_event(transaction, record, resources=resources, repeat=repeat)
        )

    # The port `SignalLedger` ------------------------------------------------------------------------------------

    async def record_signals(self, events: Sequence[SignalEvent], at: datetime) -> int:
        """Record what is news, and downgrade the claims whose last proof closes; the number of signals that changed."""
        return await self._writer.submit(lambda transaction: record_signals(transaction, events, at))

    async def record_seen(self, seen: Sequence[SeenValue], at: datetime) -> Sequence[str]:
        """Record which claimed values are live no more, and which are again; the ids of the claims of which that is news."""
        return await self._writer.submit(lambda transaction: record_seen(transaction, seen, at))

    async def signals_version(self) -> int:
        """The number of the latest record about a signal."""
        return await self._query_reader.read(signals_version)

    async def signals(self, query: SignalQuery) -> Sequence[Signal]:
        """Signals, the latest first; at most `record_search.MAX_PAGE`."""
        return await self._query_reader.read(lambda connection: list_signals(connection, query))

    # The port `BudgetLedger` ------------------------------------------------------------------------------------

    async def used(self, at: datetime) -> Mapping[str, Used]:
        """What each actor has used of its share."""
        return await self._query_reader.read(lambda connection: budgets.used_by_all(Session(connection), at))

    async def reset_breaker(self, actor: str, *, by: Caller, reason: str, at: datetime) -> None:
        """Close an actor's circuit breaker. Raises `errors.NotFound`, `errors.NotAllowed`."""
        await self.write(lambda transaction: budgets.reset_breaker(transaction, actor, by=by, reason=reason, at=at))

    # The port `StopLedger` --------------------------------------------------------------------------------------

    async def stop(self, scope: StopScope, name: str, *, by: Caller, reason: str, at: datetime) -> Stop:
        """Stop it; the stop. Raises `errors.NotAllowed` unless a person with the role asks, `errors.Overloaded` for too many."""
        return await self.write(lambda transaction: stops.stop(transaction, scope, name, by=by, reason=reason, at=at))

    async def resume(self, stop_id: str, *, by: Caller, reason: str, at: datetime) -> Stop:
        """End a stop; it, as it ended. Raises `errors.NotFound`, `errors.NotAllowed`."""
        return await self.write(lambda transaction: stops.resume(transaction, stop_id, by=by, reason=reason, at=at))

    async def stops(self, *, every: bool = False) -> Sequence[Stop]:
        """The standing stops, oldest first; with `every` also those that ended."""
        return await self.read(lambda session: stops.listed_stops(session, every=every))

    # The port `TimeBoxLedger` -------------------------------------------------------------------------------------

    async def standing_time_boxes(self, addresses: Sequence[str]) -> Sequence[TimeBoxPart]:
        """The parts whose values the attributes of these resources have now, as far as Sentinel knows, oldest first."""
        return await self.read(lambda session: time_box_queries.standing(session, addresses))

    async def time_boxes(
        self, *, mutation_id: str = "", ended: bool = False, actor: str = "", left: bool = False
    ) -> Sequence[TimeBoxPart]:
        """The parts that are still to be put back or left to a human, soonest end first; with `ended` all of a mutation.

        With `actor` those of this actor, with `left` those that are left to a human.
        """
        return await self.read(
            lambda session: time_box_queries.listed(session, mutation_id, ended=ended, actor=actor, left=left)
        )

    async def due_mutations(self, now: datetime, *, stack: str = "") -> Sequence[str]:
        """The time-boxed changes whose end has come, the earliest first, and those that wait for an outcome last."""
        return await self.read(lambda session: time_box_queries.due_mutations(session, now, stack=stack))

    async def due_change(self, now: datetime, mutation_id: str) -> DueChange | None:
        """What is to become of a time-boxed change; None if its end has not come, or it is over."""
        return await self.read(lambda session: time_box_queries.due(session, now, mutation_id=mutation_id))

    async def declared_before(self, parts: Sequence[TimeBoxPart]) -> Mapping[tuple[str, str], Json]:
        """What the code declared before the first of the changes on top of each other, by address and attribute; absent if that is not known."""
        return await self.read(lambda session: time_box_queries.declared_before(session, parts))

    async def put_back_call(self, mutation_id: str) -> Call:
        """The call that puts all of a time-boxed change back. Raises `errors.NotFound`."""
        return await self.read(lambda session: time_box_queries.put_back_call(session, mutation_id))

    async def extend_time_box(
        self, mutation_id: str, until: datetime, *, caller: Caller, reason: str, at: datetime
    ) -> Sequence[TimeBoxPart]:
        """Move the end of a time-boxed change; its parts. Raises `errors.NotFound`, `errors.NotAllowed`."""
        return await self.write(
            lambda transaction: time_boxes.extend(transaction, mutation_id, until, caller=caller, reason=reason, at=at)
        )

    async def end_time_box(
        self, mutation_id: str, *, caller: Caller, reason: str, at: datetime
    ) -> Sequence[TimeBoxPart]:
        """Let the end of a time-boxed change come now; its parts. Raises `errors.NotFound`, `errors.NotAllowed`."""
        return await self.write(
            lambda transaction: time_boxes.end(transaction, mutation_id, caller=caller, reason=reason, at=at)
        )

    async def leave_time_box(
        self, mutation_id: str, left: Sequence[TimeBoxPart], state: TimeBoxState, *, by: str, reason: str, at: datetime
    ) -> bool:
        """Record once that parts of a time-boxed change are not put back, and why; False if none of them stands any more."""
        return await self.write(
            lambda transaction: time_boxes.leave(transaction, mutation_id, left, state, by=by, reason=reason, at=at)
        )

    # The port `ContextLedger` -------------------------------------------------------------------------------------

    async def known(
        self, *, addresses: Sequence[str], others: Sequence[str], now: datetime, flips_from: datetime
    ) -> KnownResource:
        """What is known about the resource, by all its names, and the claims on the `others`."""
        return await self.query(lambda session: known_about(session, addresses, others, now, flips_from))

    async def history(self, query: HistoryQuery) -> Sequence[SentChange]:
        """The changes of a resource that AWS did not refuse, newest first."""
        return await self.query(lambda session: changes_of(session, query))

    async def applied(self, *, after: tuple[str, str], limit: int) -> Sequence[AppliedValue]:
        """Applied values that the code does not declare yet, by address and attribute, those after `after`."""
        return await self.query(lambda session: every_applied(session, after, limit))

    # What time and the code end --------------------------------------------------------------------------------------

    async def expire(self, at: datetime) -> int:
        """End the expired claims, each with a record; the number ended."""
        total = 0
        while ended := await self._writer.submit(lambda transaction: expire(transaction, at, _EXPIRED_AT_ONCE)):
            total += ended
        return total

    async def end_unneeded(self, claims: Sequence[str], at: datetime) -> int:
        """End those of these claims whose value the code came to declare after they were taken, each with a record; the number ended."""
        return await self._writer.submit(lambda transaction: end_unneeded(transaction, claims, at))

    async def _append_refusal(self, refusal: Refusal) -> None:
        suppressed = self._refusal_limit.take_suppressed()
        body = refusal_body(refusal, suppressed=suppressed)
        record = Record(at=refusal.at, actor=refusal.actor, body=body)
        try:
            await self._writer.submit(lambda transaction: transaction.append(record))
        except BaseException:
            self._refusal_limit.suppressed += suppressed
            raise


@asynccontextmanager
async def open_ledger(url: str, keys: LedgerKeys, checkpoint: Path | None = None) -> AsyncIterator[SqlLedger]:
    """The ledger at a SQLAlchemy URL for as long as the block lasts. Arguments and errors are those of `SqlLedger.open`."""
    ledger = await SqlLedger.open(url, keys, checkpoint)
    try:
        yield ledger
    finally:
        await ledger.close()
