"""One write transaction on the ledger: it knows the chain's end and puts records after it."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, CursorResult, Executable, insert, select

from gateway.ledger.chain import FIRST_PREVIOUS, HASHED, record_hash
from gateway.ledger.moment import stored
from gateway.ledger.tables import RECORDS, RESOURCES
from gateway.model.json import canonical
from gateway.model.motive import Motive
from gateway.model.record import Record

_TAIL: Final = select(RECORDS.c.seq, RECORDS.c.hash).order_by(RECORDS.c.seq.desc()).limit(1)
_INSERT: Final = insert(RECORDS)
_INSERT_RESOURCE: Final = insert(RESOURCES)

Mark = tuple[tuple[int, str] | None, tuple[int, str] | None]


class Transaction:
    """What a unit of work is given: statements, and `append`. The store's write lock is held, so the end stays the end."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._tail: tuple[int, str] | None = None
        self.appended: tuple[int, str] | None = None
        """Seq and hash of the last record appended here, None before the first."""

    def execute(
        self, statement: Executable, values: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None
    ) -> CursorResult[Any]:
        """Run a statement of SQLAlchemy Core."""
        return self._connection.execute(statement, values)

    def append(
        self, record: Record, *, motive: Motive | None = None, verdict: str = "", things: Sequence[tuple[str, str]] = ()
    ) -> int:
        """Append a record to the chain; its seq. `things` are the (address, attribute) pairs it is about."""
        seq, previous = self._end()
        fields = {
            "version": record.version,
            "seq": seq + 1,
            "stage": record.stage.value,
            "at": stored(record.at),
            "mutation_id": record.mutation_id,
            "actor": record.actor,
            "stack": record.stack,
            "intent": motive.intent.value if motive else "",
            "motivation": motive.motivation.value if motive else "",
            "verdict": verdict,
            "body": canonical(record.body).decode(),
        }
        digest = record_hash(previous, [fields[name] for name in HASHED])
        self.execute(_INSERT, {**fields, "previous": previous, "hash": digest})
        if things:
            rows = [
                {"seq": seq + 1, "address": address, "attribute": attribute}
                for address, attribute in dict.fromkeys(things)
            ]
            self.execute(_INSERT_RESOURCE, rows)
        self._tail = self.appended = (seq + 1, digest)
        return seq + 1

    def mark(self) -> Mark:
        """Where the chain ends now, for `rewind`."""
        return self._tail, self.appended

    def rewind(self, mark: Mark) -> None:
        """Forget what was appended since the mark, because its savepoint was rolled back."""
        self._tail, self.appended = mark

    def _end(self) -> tuple[int, str]:
        if self._tail is None:
            row = self.execute(_TAIL).first()
            self._tail = (row.seq, row.hash) if row else (0, FIRST_PREVIOUS)
        return self._tail
