"""The ledger: the ports `Ledger`, `Archive` and `Desk` on one SQL database."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Final, TypeVar

from gateway.ledger import approvals, queries
from gateway.ledger.blame import Blame, blame
from gateway.ledger.chain import verify_chain
from gateway.ledger.claims import expire
from gateway.ledger.decision import decide, write_set
from gateway.ledger.lookup import attempt_of, view_of
from gateway.ledger.outcome import Settlement, recover, settle, settlement
from gateway.ledger.queries import Hold
from gateway.ledger.rate_limit import RefusalRateLimit, refusal_body
from gateway.ledger.reader import Reader
from gateway.ledger.statements import Session
from gateway.ledger.store import Store, open_store, unavailable
from gateway.ledger.transaction import Transaction
from gateway.ledger.writer import Writer
from gateway.model.caller import Caller
from gateway.model.claim import Claim
from gateway.model.facts import Approval, Facts
from gateway.model.json import Json
from gateway.model.mutation import Mutation
from gateway.model.outcome import Sent
from gateway.model.record import Record, Stage
from gateway.model.refusal import Refusal
from gateway.model.verdict import Decision
from gateway.ports import Attempt, LedgerView, RecordQuery

T = TypeVar("T")

_EXPIRED_AT_ONCE: Final = 500


class SqlLedger:
    """The ledger on SQLite or PostgreSQL. Open it with `open`, end it with `close`.

    Every method may raise `errors.LedgerUnavailable`; then nothing of that call was stored.
    """

    def __init__(self, store: Store) -> None:
        """Takes over an opened store, and closes it in the end."""
        self._store = store
        self._writer = Writer(store)
        self._line = Reader(store, "line")
        self._desk = Reader(store, "archive")
        self._strangers = RefusalRateLimit()

    @classmethod
    async def open(cls, url: str) -> "SqlLedger":
        """Open the database at a SQLAlchemy URL, bringing its schema up to date.

        Raises `errors.SettingsInvalid`, `errors.LedgerUnavailable`.
        """
        return cls(await asyncio.to_thread(open_store, url))

    async def close(self) -> None:
        """Write what is still to be written and let go of the database."""
        if self._strangers.suppressed:
            await self._append_refusal(Refusal(at=datetime.now(UTC), code="suppressed"))
        for part in (self._writer, self._line, self._desk, self._store):
            await asyncio.to_thread(part.close)

    async def write(self, work: Callable[[Transaction], T]) -> T:
        """Run `work` in a durable transaction, for the other parts of this package."""
        return await self._writer.submit(work)

    async def read(self, question: Callable[[Session], T]) -> T:
        """Ask on the line's own connection, for the other parts of this package. Must be quick."""
        return await self._line.read(lambda connection: question(Session(connection)))

    # The line ---------------------------------------------------------------------------------------------------

    async def view(self, *, addresses: Sequence[str], actor: str, call_digest: str, now: datetime) -> LedgerView:
        """What is known about these addresses, and the actor's unused approval for this call."""
        return await self.read(
            lambda session: view_of(session, addresses=addresses, actor=actor, call_digest=call_digest, now=now)
        )

    async def attempt(self, actor: str, idempotency_key: str) -> Attempt | None:
        """The earlier attempt of this actor with this key, None where there is none."""
        return await self.read(lambda session: attempt_of(session, actor, idempotency_key))

    async def record_refusal(self, refusal: Refusal) -> None:
        """Append TURNED_AWAY. Rate-limited: the next record says how many were dropped."""
        if self._strangers.admit(code=refusal.code, peer=refusal.peer, now=refusal.at):
            await self._append_refusal(refusal)

    async def record_decision(self, mutation: Mutation, facts: Facts, decision: Decision) -> Sequence[Claim]:
        """Append DECIDED and do what it means; the claims taken.

        Raises `errors.ClaimTaken`, `errors.ApprovalSpent`, `errors.AttemptInFlight`, and `errors.PolicyInvalid` for an
        obligation that makes no sense; then nothing was stored.
        """
        write = write_set(mutation, facts, decision)
        return await self._writer.submit(lambda transaction: decide(transaction, write))

    async def record_outcome(self, mutation: Mutation, outcome: Sent, at: datetime) -> None:
        """Append SETTLED and do what it means. Raises `errors.NotFound`, `errors.NotAllowed` for one settled already."""
        given = settlement(mutation, outcome, at)
        await self._writer.submit(lambda transaction: settle(transaction, given))

    async def resolve(self, mutation_id: str, outcome: Sent, at: datetime) -> None:
        """Settle a mutation in doubt, now that the truth was read back. Raises as `settled`."""
        given = Settlement(mutation_id=mutation_id, at=at, outcome=outcome)
        await self._writer.submit(lambda transaction: settle(transaction, given))

    async def recover(self, at: datetime) -> int:
        """Put in doubt what the process before this one left in flight; how many. Only the gateway calls it, at its start."""
        return await self._writer.submit(lambda transaction: recover(transaction, at))

    # The archive ------------------------------------------------------------------------------------------------

    async def records(self, query: RecordQuery) -> Sequence[Record]:
        """The records that match; at most `archive.MAX_PAGE`."""
        return await self._desk.read(lambda connection: queries.records(connection, query))

    async def claims(self, *, address: str = "", actor: str = "", open_only: bool = True) -> Sequence[Claim]:
        """Claims, newest first; at most `archive.MAX_PAGE`."""
        now = datetime.now(UTC)
        return await self._desk.read(
            lambda connection: queries.claims(connection, address=address, actor=actor, open_only=open_only, now=now)
        )

    async def holds(self, *, state: str = "open", limit: int = 100) -> Sequence[Hold]:
        """Held mutations in a state (open, approved, rejected), newest first."""
        return await self._desk.read(lambda connection: queries.holds(connection, state=state, limit=limit))

    async def blame(self, address: str, attribute: str) -> Blame | None:
        """Who gave the attribute its value; None where nobody did through us."""
        now = datetime.now(UTC)
        return await self._desk.read(lambda connection: blame(connection, address, attribute, now))

    async def verify(self) -> int:
        """Check the whole chain; the number of records. Raises `errors.LedgerBroken` naming the first bad one."""
        return await asyncio.to_thread(self._verify)

    def _verify(self) -> int:
        # A connection of its own: it reads for seconds, and questions must not wait for it.
        with self._store.connect() as connection, unavailable():
            connection.begin()
            return verify_chain(Session(connection))

    # The desk ---------------------------------------------------------------------------------------------------

    async def approve(self, mutation_id: str, *, approver: Caller, at: datetime, lasts: timedelta) -> Approval:
        """Consent to the held call. Raises `errors.NotFound`, `errors.NotAllowed` (own call, not a human approver)."""
        return await self._writer.submit(
            lambda transaction: approvals.approve(transaction, mutation_id, approver=approver, at=at, lasts=lasts)
        )

    async def reject(self, mutation_id: str, *, approver: Caller, reason: str, at: datetime) -> None:
        """Refuse the held call for good. Raises as `approve`."""
        await self._writer.submit(
            lambda transaction: approvals.reject(transaction, mutation_id, approver=approver, reason=reason, at=at)
        )

    async def release(self, mutation_id: str, *, caller: Caller, at: datetime) -> Sequence[Claim]:
        """End the claims of a mutation before their time; those ended. Raises `errors.NotFound`, `errors.NotAllowed`."""
        return await self._writer.submit(
            lambda transaction: approvals.release(transaction, mutation_id, caller=caller, at=at)
        )

    async def record_reconciliation(self, mutation_id: str, *, at: datetime, body: Mapping[str, Json]) -> None:
        """Append RECONCILED; with `body["merged"]` true the claims end. Raises `errors.NotFound`."""
        await self._writer.submit(
            lambda transaction: approvals.record_reconciliation(transaction, mutation_id, at=at, body=body)
        )

    async def expire(self, at: datetime) -> int:
        """End the claims whose time is up, each with a record; how many."""
        total = 0
        while ended := await self._writer.submit(lambda transaction: expire(transaction, at, _EXPIRED_AT_ONCE)):
            total += ended
        return total

    async def _append_refusal(self, refusal: Refusal) -> None:
        suppressed = self._strangers.take_suppressed()
        body = refusal_body(refusal, suppressed=suppressed)
        record = Record(stage=Stage.TURNED_AWAY, at=refusal.at, actor=refusal.actor, body=body)
        try:
            await self._writer.submit(lambda transaction: transaction.append(record))
        except BaseException:
            self._strangers.suppressed += suppressed
            raise


@asynccontextmanager
async def open_ledger(url: str) -> AsyncIterator[SqlLedger]:
    """The ledger at a SQLAlchemy URL for as long as the block lasts. Raises as `SqlLedger.open`."""
    ledger = await SqlLedger.open(url)
    try:
        yield ledger
    finally:
        await ledger.close()
