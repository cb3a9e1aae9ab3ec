"""One write transaction on the ledger, which appends records to the hash chain."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Final, NamedTuple

from sqlalchemy import Connection, func, insert, select

from gateway.core.errors import LedgerBroken, LedgerUnavailable
from gateway.core.model.motive import Motive
from gateway.core.records.approvals import ConsentBody
from gateway.core.records.codec import encode
from gateway.core.records.decided import DecidedBody
from gateway.core.records.keys import KeyIssuedBody
from gateway.core.records.plans import PlanCheckedBody
from gateway.core.records.record import Body, Record
from gateway.core.records.requests import PassedBody, TurnedAwayBody
from gateway.core.records.write_backs import ReconciledBody
from gateway.ledger.chain.hashes import HASHED, START, VERSION, keyed_hash, verified_records
from gateway.ledger.store.rows import ChainEndRow, LastRecordRow
from gateway.ledger.store.shortener import Shortener
from gateway.ledger.store.statements import Query, Session, SqlValue, Statement
from gateway.ledger.store.tables import RECORDS, RESOURCES
from gateway.ledger.store.timestamps import to_text

LAST_RECORD: Final = Query.of(RECORDS, LastRecordRow, order_by=(RECORDS.c.seq.desc(),), limit=1)
END: Final = RECORDS.alias("chain_end")
IS_END: Final = END.c.seq == select(func.max(RECORDS.c.seq)).scalar_subquery()
"""Whether a row of `END` is the chain's last record, for a statement that reads it on its way; see `Transaction.found_end`."""
_CHAIN_END: Final = Query.of(RECORDS, ChainEndRow, order_by=(RECORDS.c.seq.desc(),), limit=1)
_INSERT: Final = Statement(insert(RECORDS))
_INSERT_RESOURCE: Final = Statement(insert(RESOURCES))


def queried(body: Body) -> dict[str, str | int]:
    """The facts of a body that records are found by, as columns. They are hashed like the body, so that none can be changed unseen."""
    match body:
        case DecidedBody() | PassedBody() | PlanCheckedBody():
            key_id = body.caller.key_id
        case TurnedAwayBody():
            key_id = body.key_id
        case ConsentBody():
            key_id = body.keys[-1] if body.keys else ""
        case _:
            key_id = ""
    motive = body.motive if isinstance(body, DecidedBody | KeyIssuedBody | PlanCheckedBody) else None
    return {
        "key_id": key_id,
        "has_evidence": int(motive is not None and bool(motive.evidence)),
        "left_over": int(isinstance(body, ReconciledBody) and bool(body.left)),
    }


class BodyTexts(NamedTuple):
    """A body as it is hashed, and as it is stored."""

    text: str
    stored: str


def written(body: Body, shortener: Shortener | None) -> BodyTexts:
    """The body written. Raises TypeError or ValueError as `codec.encode`."""
    text = encode(body)
    return BodyTexts(text, text if shortener is None else shortener.short(str(body.stage), text))


class Transaction(Session):
    """The session of one unit of work. The store's write lock is held, so nobody else appends to the chain meanwhile."""

    def __init__(
        self,
        connection: Connection,
        key: bytes,
        *,
        seen: ChainEndRow = START,
        shortener: Shortener | None = None,
        bodies: Mapping[int, BodyTexts] | None = None,
    ) -> None:
        """`key` keys the hashes. `seen` is the last record that this process knows to be in the ledger. `shortener` shortens what is stored.

        `bodies` are those that were written before the lock was taken, by identity; others are written when they are appended.
        """
        super().__init__(connection)
        self._bodies = bodies or {}
        self._key = key
        self._seen = seen
        self._shortener = shortener
        self.end: ChainEndRow | None = None
        """The chain's last record; None until it is read. Code that rolls back to a savepoint must restore it."""

    def append(
        self,
        record: Record,
        *,
        motive: Motive | None = None,
        verdict: str = "",
        resources: Sequence[tuple[str, str]] = (),
    ) -> int:
        """Append a record to the chain; its seq. `resources` are the (address, attribute) pairs it is about.

        Raises `errors.LedgerUnavailable` if the end of the chain is not there any more.
        """
        seq, previous = self._end()
        body = self._bodies.get(id(record.body)) or written(record.body, self._shortener)
        pairs = sorted(set(resources))
        fields: dict[str, str | int] = {
            "version": VERSION,
            "seq": seq + 1,
            "stage": str(record.stage),
            "at": to_text(record.at),
            "mutation_id": record.mutation_id,
            "actor": record.actor,
            "stack": record.stack,
            "intent": str(motive.intent) if motive else "",
            "motivation": str(motive.motivation) if motive else "",
            "verdict": verdict,
            **queried(record.body),
        }
        digest = keyed_hash(self._key, previous, [fields[name] for name in HASHED], pairs, body.text)
        named = "" if self._shortener is not None and self._shortener.leaves_out else previous
        self.change(_INSERT, {**fields, "body": body.stored, "previous": named, "hash": digest})
        if pairs:
            rows: list[dict[str, SqlValue]] = [
                {"seq": seq + 1, "address": address, "attribute": attribute} for address, attribute in pairs
            ]
            self.change_each(_INSERT_RESOURCE, rows)
        self.end = ChainEndRow(seq + 1, digest)
        return seq + 1

    @property
    def forgets_owners(self) -> bool:
        """Whether an attempt that has ended is stored without who sent it: the record of its decision says so."""
        return self._shortener is not None and self._shortener.leaves_out

    def stored_reply(self, headers: str, body: bytes) -> tuple[str, bytes | None]:
        """What is stored of an attempt's reply in the columns of its headers, which are JSON text, and of its body."""
        return (headers, body) if self._shortener is None else self._shortener.short_reply(headers, body)

    def found_end(self, end: ChainEndRow) -> None:
        """Take note of the chain's last record, which another statement read on its way.

        Raises `errors.LedgerUnavailable` if records that this process wrote are not there any more.
        """
        if self.end is not None:
            return
        if end.seq < self._seen.seq or (end.seq == self._seen.seq and end != self._seen):
            message = (
                f"The ledger was changed past Sentinel: record {self._seen.seq}, which was written here, is not its end any more. "
                "Nothing was stored. Run `sentinel verify`."
            )
            raise LedgerUnavailable(message)
        if self._seen == START != end:
            self._require_same_key()
        self.end = end

    def _end(self) -> ChainEndRow:
        if self.end is None:
            self.found_end(self.row(_CHAIN_END, {}) or START)
        return self.end or START

    def _require_same_key(self) -> None:
        """The ledger was empty when this process opened it: who wrote its first records meanwhile must have had the same master key."""
        last = self.row(LAST_RECORD, {})
        if last is None:
            return
        try:
            with closing(verified_records(self, self._key, ChainEndRow(last.seq - 1, last.previous))) as rows:
                next(rows)
        except LedgerBroken as error:
            message = (
                "Another process wrote to this new ledger with another master key. All of them need the same one: set SENTINEL_MASTER_KEY, "
                "or give each the same file master.key. Nothing was stored."
            )
            raise LedgerBroken(message) from error
