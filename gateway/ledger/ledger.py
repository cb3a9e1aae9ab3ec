"""The ledger's ports on one SQL database. A method runs one function of `decide` or `ask`, on the writer's thread or on a reader's."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from gateway.core.model.claim import Claim
from gateway.core.model.facts import Facts
from gateway.core.model.ids import new_id
from gateway.core.model.inbound import Refusal
from gateway.core.model.mutation import Mutation
from gateway.core.model.outcome import Sent
from gateway.core.model.verdict import Decision
from gateway.core.off_loop import mutation_size, off_loop
from gateway.core.ports import Activity
from gateway.core.records.record import Record
from gateway.ledger.ask import context_ledger, lists, mutation_lives, record_search, time_box_queries
from gateway.ledger.ask.actor_keys import keys_of
from gateway.ledger.ask.blame import blame
from gateway.ledger.ask.change_history import changes_of
from gateway.ledger.ask.rules_spoken import rules_spoken
from gateway.ledger.chain.checkpoint import CheckpointFile
from gateway.ledger.chain.verification import verify_ledger
from gateway.ledger.decide import approvals, budgets, commands, leases, ledger_view, plan_sessions, stops
from gateway.ledger.decide import claims as claim_commands
from gateway.ledger.decide import time_boxes as time_box_commands
from gateway.ledger.decide.claims import record_seen
from gateway.ledger.decide.decision import decide
from gateway.ledger.decide.events import append_event, record_passed
from gateway.ledger.decide.ledger_view import answered
from gateway.ledger.decide.refusals import RefusalRateLimit, refusal_body
from gateway.ledger.decide.settlement import settle, settlement
from gateway.ledger.decide.signals import record_signals
from gateway.ledger.decide.write_set import write_set
from gateway.ledger.ledger_keys import LedgerKeys
from gateway.ledger.running_ledger import RunningLedger, opened
from gateway.ledger.store.database import Store
from gateway.ledger.store.rows import ChainEndRow
from gateway.ledger.store.shortener import Shortener
from gateway.ledger.store.statements import Session
from gateway.ledger.store.transaction import Transaction

T = TypeVar("T")
P = ParamSpec("P")

_EXPIRED_AT_ONCE: Final = 500
"""Most claims ended in one transaction, so that mutations do not wait long behind it."""


def _command(
    work: Callable[Concatenate[Transaction, P], T],
) -> Callable[Concatenate["SqlLedger", P], Coroutine[Any, Any, T]]:
    """The method that runs this function in a durable transaction."""

    @wraps(work)
    async def method(ledger: "SqlLedger", /, *args: P.args, **named: P.kwargs) -> T:
        return await ledger.write(lambda transaction: work(transaction, *args, **named))

    return method


def _fact(work: Callable[Concatenate[Session, P], T]) -> Callable[Concatenate["SqlLedger", P], Coroutine[Any, Any, T]]:
    """The method that runs this query on the connection that every mutation waits for, so it must be fast."""

    @wraps(work)
    async def method(ledger: "SqlLedger", /, *args: P.args, **named: P.kwargs) -> T:
        return await ledger.read(lambda session: work(session, *args, **named))

    return method


def _query(work: Callable[Concatenate[Session, P], T]) -> Callable[Concatenate["SqlLedger", P], Coroutine[Any, Any, T]]:
    """The method that runs this query on the connection that no mutation waits for."""

    @wraps(work)
    async def method(ledger: "SqlLedger", /, *args: P.args, **named: P.kwargs) -> T:
        return await ledger.query(lambda session: work(session, *args, **named))

    return method


class SqlLedger(RunningLedger):
    """The opened ledger with its ports.

    Every method may raise `errors.LedgerUnavailable`; nothing of that call was then stored. What else it returns and raises stands with
    its function, and with its port in `core/ports.py`.
    """

    def __init__(
        self,
        store: Store,
        keys: LedgerKeys,
        checkpoint: CheckpointFile | None,
        *,
        end: ChainEndRow,
        shortener: Shortener | None = None,
    ) -> None:
        super().__init__(store, keys, checkpoint, end=end, shortener=shortener)
        self._activity = mutation_lives.ActivityCounts()
        self._refusal_limit = RefusalRateLimit()
        self._owner = leases.owner_of(new_id("gtw"), keys.chain)

    async def close(self) -> None:
        """Finish what is waiting, record how many refusals were dropped, and close the database."""
        if self._refusal_limit.suppressed:
            await self._append_refusal(Refusal(at=datetime.now(UTC), code="suppressed"))
        await super().close()

    # The port `Ledger`: what a mutation waits for ---------------------------------------------------------------

    view = _fact(ledger_view.view_of)
    applied_with = _fact(ledger_view.applied_with)
    attempt = _fact(ledger_view.attempt_of)
    answered = _fact(answered)
    record_passed = _command(record_passed)

    async def record_refusal(self, refusal: Refusal) -> None:
        """Append TURNED_AWAY. Rate-limited: the next record says how many were dropped."""
        if self._refusal_limit.admit(refusal):
            await self._append_refusal(refusal)

    async def record_decision(self, mutation: Mutation, facts: Facts, decision: Decision) -> Sequence[Claim]:
        """Append DECIDED and store what it means for claims, approval, attempt and hold; the claims taken.

        Raises what `decide` raises, and `errors.PolicyInvalid` for an invalid obligation; nothing was then stored.
        """
        size = mutation_size(mutation)
        write = await off_loop(
            size, lambda: write_set(mutation, facts, decision, owner=self._owner, asked_version=self.asked_version)
        )
        return await self.write(lambda transaction: decide(transaction, write), write.body)

    async def record_outcome(self, mutation: Mutation, outcome: Sent, at: datetime) -> None:
        """Append SETTLED and store what it means for claims, applied values and the attempt. Raises what `settle` raises."""
        given = settlement(mutation, outcome, at)
        await self.write(lambda transaction: settle(transaction, given))

    # A gateway's lease ------------------------------------------------------------------------------------------

    async def renew_lease(self, at: datetime, lasts: timedelta) -> None:
        """Show that this process lives: until `at + lasts` nobody marks its attempts as in doubt. Only a gateway calls it."""
        await self.write(lambda transaction: leases.renew(transaction, self._owner, at, at + lasts))

    async def end_lease(self) -> None:
        """End the lease, so that what this process may have left in flight is in doubt at once."""
        await self.write(lambda transaction: leases.end(transaction, self._owner))

    recover = _command(leases.recover)

    # The ports `LedgerQueries` and `LedgerCommands` -------------------------------------------------------------

    records = _query(record_search.records)
    lives = _query(mutation_lives.lives)
    rules_spoken = _query(rules_spoken)
    changed_since = _query(lists.changed_since)
    claims = _query(lists.claims)
    keys_of = _query(keys_of)
    claimed_addresses = _query(lists.claimed_addresses)
    proofs = _query(lists.proofs)
    holds = _query(lists.holds)
    blame = _query(blame)
    archived = _query(lists.archived)

    async def activity(self, starts: Sequence[datetime], actor: str = "") -> Activity:
        """See `ActivityCounts.of`."""
        return await self.query(lambda session: self._activity.of(session, starts, actor))

    async def verify(self) -> int:
        """Check chain, checkpoint and tables; the number of records. Raises `errors.LedgerBroken`, which names the first bad record or row."""
        verified = await asyncio.to_thread(verify_ledger, self._store, self._keys.chain, self._checkpoint)
        return verified.records

    approve = _command(approvals.approve)
    break_glass = _command(approvals.break_glass)
    reject = _command(commands.reject)
    release = _command(commands.release)
    settle_by_hand = _command(commands.settle_by_hand)
    record_reconciliation = _command(commands.record_reconciliation)

    async def expire(self, at: datetime) -> int:
        """End the expired claims, each with a record; the number ended."""
        total = 0
        while ended := await self.write(lambda transaction: claim_commands.expire(transaction, at, _EXPIRED_AT_ONCE)):
            total += ended
        return total

    end_unneeded = _command(claim_commands.end_unneeded)

    end_plan = _command(plan_sessions.end_plan)
    end_expired_plans = _command(plan_sessions.end_expired_sessions)

    # The ports of one topic each --------------------------------------------------------------------------------

    record_event = _command(append_event)

    in_doubt = _query(commands.in_doubt)
    resolve = _command(commands.resolve)
    leave_to_human = _command(commands.leave_to_human)

    record_signals = _command(record_signals)
    record_seen = _command(record_seen)
    signals_version = _query(lists.signals_version)
    signals = _query(lists.list_signals)

    used = _query(budgets.used_by_all)
    reset_breaker = _command(budgets.reset_breaker)

    stop = _command(stops.stop)
    resume = _command(stops.resume)
    stops = _fact(stops.listed_stops)

    standing_time_boxes = _fact(time_box_queries.standing)
    time_boxes = _query(time_box_queries.listed)
    due_mutations = _fact(time_box_queries.due_mutations)
    due_change = _fact(time_box_queries.due)
    declared_before = _fact(time_box_queries.declared_before)
    put_back_call = _fact(time_box_queries.put_back_call)
    extend_time_box = _command(time_box_commands.extend)
    end_time_box = _command(time_box_commands.end)
    leave_time_box = _command(time_box_commands.leave)

    known = _query(context_ledger.known_about)
    history = _query(changes_of)
    applied = _query(context_ledger.every_applied)

    async def _append_refusal(self, refusal: Refusal) -> None:
        suppressed = self._refusal_limit.take_suppressed()
        body = refusal_body(refusal, suppressed=suppressed)
        record = Record(at=refusal.at, actor=refusal.actor, body=body)
        try:
            await self.write(lambda transaction: transaction.append(record))
        except BaseException:
            self._refusal_limit.suppressed += suppressed
            raise


def open_ledger(url: str, keys: LedgerKeys, checkpoint: Path | None = None) -> AbstractAsyncContextManager[SqlLedger]:
    """The ledger at a SQLAlchemy URL for as long as the block lasts. Arguments and errors are those of `RunningLedger.open`."""
    return opened(SqlLedger, url, keys, checkpoint)
