"""The rows that a table must hold as far as the records say, and their comparison with the rows that it holds."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import cache
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
from sqlalchemy import Table, func, select

from gateway.core.errors import LedgerBroken
from gateway.core.model.json import canonical_text
from gateway.ledger.store.statements import READ_AS, Among, Session, Statement


class DecodedRecord(NamedTuple):
    """One record."""

    seq: int
    at: str
    mutation_id: str
    actor: str
    stack: str
    text: str
    """Its body as JSON text."""
    body: Any
    """Its body, by its stage; the values of the effects are `msgspec.Raw`."""


Handlers: TypeAlias = Mapping[str, Callable[[DecodedRecord], None]]
"""What a table does about a record, by the record's stage."""

SUM_BYTES: Final = 32
SUM_MODULUS: Final = 2 ** (8 * SUM_BYTES)
_MAC_KEY: Final = hashlib.blake2b.MAX_KEY_SIZE
_row_bytes: Final = msgspec.msgpack.Encoder().encode
_sorted: Final = msgspec.json.Encoder(order="sorted").encode


def raw_text(member: msgspec.Raw) -> str:
    """The JSON text of a member, as it stands in the record. Bodies are canonical, so it is canonical too."""
    return bytes(member).decode()


def sorted_text(part: object) -> str:
    """The canonical text of a part of a body that holds only texts and whole numbers: quicker than `canonical_text`, which also takes others."""
    return _sorted(part).decode()


RowKey: TypeAlias = tuple[str, ...]
"""The values of a row's primary key."""

Digests: TypeAlias = Mapping[str, tuple[tuple[str, ...], Callable[..., object]]]
"""Columns to compare by a digest: its name, the columns it covers, and the function of their values."""

_BATCH: Final = 200
_PAGE: Final = 2_000


class StrangeRow(LedgerBroken):
    """A table holds more rows than the records made; which ones is found by following the records again."""


class OneOf(frozenset[object]):
    """An expected value that the records do not decide between: any of these."""


class _Statements(NamedTuple):
    """What is asked of one table."""

    read: Statement
    keys: Statement
    number: Statement
    every: Statement


@cache
def _statements(table: Table) -> _Statements:
    """The same for every comparison: SQLAlchemy takes as long to make those of all tables as a small ledger takes to be compared."""
    names = [column.name for column in table.primary_key.columns]
    read = [column.info.get(READ_AS, column) for column in table.columns]
    return _Statements(
        read=Statement(select(*read).where(Among(table.c[names[0]], "keys"))),
        keys=Statement(select(*(table.c[name] for name in names))),
        number=Statement(select(func.count()).select_from(table)),
        every=Statement(select(*read)),
    )


class ExpectedTable:
    """The rows of one table. A row that no later record can change is compared and forgotten, so memory does not grow with the ledger.

    Every method that compares raises `errors.LedgerBroken`, which names the row.
    """

    def __init__(self, session: Session, table: Table, digests: Digests | None = None) -> None:
        self._session = session
        self.name = table.name
        self._digests = digests or {}
        self._key_names = [column.name for column in table.primary_key.columns]
        self._names = [column.name for column in table.columns]
        covered = {name for names, _ in self._digests.values() for name in names}
        self._compared = [name for name in self._names if name not in covered] + list(self._digests)
        self._values_of: Callable[[Mapping[str, Any]], tuple[Any, ...]] = itemgetter(*self._compared)
        positions = [self._names.index(name) for name in self._key_names]
        self._key_of: Callable[[Sequence[Any]], RowKey] = (
            itemgetter(*positions) if len(positions) > 1 else lambda row: (row[positions[0]],)
        )
        self._statements = _statements(table)
        self.rows: dict[RowKey, dict[str, Any]] = {}
        """The rows that later records may still change, with the seq of the last record about each under `""`."""
        self._final: list[tuple[RowKey, dict[str, Any]]] = []
        self.compared = 0
        self.seen: set[RowKey] | None = None
        """Every key, if set before the first row: to name a row that no record made."""
        self._sum_key: bytes | None = None
        self._before = 0
        self.sum = 0
        """The sum of the keyed digests of the compared rows, if `sum_rows` was called: who lacks the key can make no other rows with this sum."""

    def sum_rows(self, key: bytes) -> None:
        """Sum what is compared from now on, so that it can be checked without the records that it follows from."""
        self._sum_key = hashlib.blake2b(f"sentinel/rows of {self.name}".encode(), key=key[:_MAC_KEY]).digest()

    def go_on_from(self, compared: int, total: int) -> None:
        """Rows were compared before, by records that are not at hand: so many, with this sum."""
        self.compared, self._before, self.sum = compared, compared, total

    def insert(self, key: RowKey, seq: int, values: dict[str, Any]) -> None:
        """A record made this row."""
        values[""] = seq
        self.rows[key] = values
        if self.seen is not None:
            self.seen.add(key)

    def change(self, key: RowKey, seq: int, **values: Any) -> dict[str, Any] | None:
        """A record changed this row; the row. None if no row that can change has this key."""
        row = self.rows.get(key)
        if row is not None:
            row.update(values)
            row[""] = seq
        return row

    def remove(self, key: RowKey) -> None:
        """A record removed this row, if there was one."""
        self.rows.pop(key, None)
        if self.seen is not None:
            self.seen.discard(key)

    def finish(self, key: RowKey) -> None:
        """No later record can change this row: compare it, together with others."""
        row = self.rows.pop(key, None)
        if row is not None:
            self._final.append((key, row))
            if len(self._final) >= _BATCH:
                self._compare()

    def compare_all(self) -> int:
        """Compare the rows that are left; the number of rows of the table, all of which a record made."""
        for key in list(self.rows):
            self.finish(key)
        self._compare()
        count = int(self._session.scalar(self._statements.number, {}))
        if count != self.compared:
            raise LedgerBroken(self._of_before() if self._before else self._inserted())
        if self._before and self._sum_of_all() != self.sum:
            raise LedgerBroken(self._of_before())
        return count

    def compare_final(self) -> None:
        """Compare the rows that are final and were not compared yet."""
        self._compare()

    def _sum_of_all(self) -> int:
        with closing(self._session.stream(self._statements.every, _PAGE)) as rows:
            return sum(map(self._digest, rows)) % SUM_MODULUS

    def _digest(self, row: Sequence[Any]) -> int:
        text = _row_bytes([bytes(value) if isinstance(value, memoryview) else value for value in row])
        return int.from_bytes(hashlib.blake2b(text, digest_size=SUM_BYTES, key=self._sum_key or b"").digest(), "big")

    def _of_before(self) -> str:
        return (
            f"A row of {self.name} that follows from archived records was changed, removed or written past Sentinel. "
            "`sentinel verify --archive` with the files of every archive names it. Compare with a backup."
        )

    def _compare(self) -> None:
        expected, self._final = self._final, []
        if not expected:
            return
        firsts = canonical_text(sorted({key[0] for key, _ in expected}))
        found = {self._key_of(row): row for row in self._session.fetch(self._statements.read, {"keys": firsts})}
        for key, row in expected:
            actual = found.get(key)
            if actual is None:
                raise LedgerBroken(
                    f"The row {_shown(key)} of {self.name} is missing, though record {row['']} says that it is there. Compare with a backup."
                )
            values = self._shaped(actual) if self._digests else actual
            if self._values_of(row) != values:
                self._compare_row(key, row, values)
            if self._sum_key is not None:
                self.sum = (self.sum + self._digest(actual)) % SUM_MODULUS
        self.compared += len(expected)

    def _shaped(self, actual: Sequence[Any]) -> tuple[Any, ...]:
        """The values to compare: digests in the place of the columns that they cover."""
        values = dict(zip(self._names, actual, strict=True))
        for name, (covered, digest) in self._digests.items():
            values[name] = digest(*(values[each] for each in covered))
        return self._values_of(values)

    def _compare_row(self, key: RowKey, expected: dict[str, Any], values: Sequence[Any]) -> None:
        for name, got in zip(self._compared, values, strict=True):
            want = expected[name]
            if want == got or (isinstance(want, OneOf) and got in want):
                continue
            raise LedgerBroken(
                f"The row {_shown(key)} of {self.name} was changed past Sentinel: its `{name}` is not what record {expected['']} says. "
                "Compare with a backup."
            )

    def _inserted(self) -> str:
        """The sentence about the first row that no record made. Raises `StrangeRow` if the keys were not remembered."""
        strange: list[tuple[Any, ...]] = []
        if self.seen is not None:
            with closing(self._session.stream(self._statements.keys, _PAGE)) as keys:
                strange = [key for key in keys if key not in self.seen]
        for key in sorted(strange):
            return f"The row {_shown(key)} of {self.name} was written past Sentinel: no record made it. Compare with a backup."
        raise StrangeRow(f"A row of {self.name} was written past Sentinel: no record made it. Compare with a backup.")


def text_digest(text: object) -> bytes:
    """A digest of a long text, to be kept in its place."""
    return hashlib.sha256(str(text).encode()).digest()


def _shown(key: Sequence[str]) -> str:
    """A key in a sentence: the attacker may have chosen it."""
    return " ".join(repr(str(part)[:80])[1:-1] for part in key)
