"""One write transaction on the ledger: it knows the chain's end and puts records after it."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, insert, select

from gateway.ledger.chain import FIRST_PREVIOUS, HASHED, record_hash
from gateway.ledger.serialize import text_of
from gateway.ledger.statements import Session, Statement
from gateway.ledger.tables import RECORDS, RESOURCES
from gateway.ledger.timestamps import to_text
from gateway.model.motive import Motive
from gateway.model.record import Record

_TAIL: Final = Statement(select(RECORDS.c.seq, RECORDS.c.hash).order_by(RECORDS.c.seq.desc()).limit(1))
_INSERT: Final = Statement(insert(RECORDS))
_INSERT_RESOURCE: Final = Statement(insert(RESOURCES))


class Transaction(Session):
    """What a unit of work is given: statements, and `append`. The store's write lock is held, so the end stays the end."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self.end: tuple[int, str] | None = None
        """Seq and hash of the chain's last record, None before it was looked up. Set it back when a savepoint is rolled back."""

    def append(
        self,
        record: Record,
        *,
        motive: Motive | None = None,
        verdict: str = "",
        resources: Sequence[tuple[str, str]] = (),
    ) -> int:
        """Append a record to the chain; its seq. `things` are the (address, attribute) pairs it is about."""
        seq, previous = self._last()
        body = text_of(record.body)
        fields = {
            "version": record.version,
            "seq": seq + 1,
            "stage": record.stage.value,
            "at": to_text(record.at),
            "mutation_id": record.mutation_id,
            "actor": record.actor,
            "stack": record.stack,
            "intent": motive.intent.value if motive else "",
            "motivation": motive.motivation.value if motive else "",
            "verdict": verdict,
        }
        digest = record_hash(previous, [fields[name] for name in HASHED], body)
        self.change(_INSERT, {**fields, "body": body, "previous": previous, "hash": digest})
        if resources:
            rows = [
                {"seq": seq + 1, "address": address, "attribute": attribute}
                for address, attribute in dict.fromkeys(resources)
            ]
            self.change_each(_INSERT_RESOURCE, rows)
        self.end = (seq + 1, digest)
        return seq + 1

    def _last(self) -> tuple[int, str]:
        if self.end is None:
            row = self.row(_TAIL, {})
            self.end = (row.seq, row.hash) if row else (0, FIRST_PREVIOUS)
        return self.end
