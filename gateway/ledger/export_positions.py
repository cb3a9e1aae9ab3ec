"""How far each export has come. Two processes may export to one sink at once: each step is stored only if the other did not take it.

The range of records that comes next is stored before any of it is written. A process that dies in between leaves the range, and the next one
writes the same records to the same names again: so nothing is left out, and nothing is there twice.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple, cast

from sqlalchemy import Table, bindparam, func, insert, select, update
from sqlmodel import Field

from gateway.ledger.chain import START
from gateway.ledger.rows import ChainEndRow
from gateway.ledger.statements import Query, Session, Statement, Values, columns
from gateway.ledger.tables import RECORDS, SEQ, TEXT, LedgerTable


class ExportTable(LedgerTable, table=True):
    """How far each export has come."""

    __tablename__ = "exports"

    sink: str = Field(primary_key=True, sa_type=TEXT)
    """Format and place, e.g. `ocsf s3://bucket/prefix`."""
    seq: int = Field(sa_type=SEQ)
    """The last record that is exported."""
    hash: str = Field(sa_type=TEXT)
    """Its hash, which the next record must name."""
    planned: int = Field(sa_type=SEQ)
    """The last record of the range that is being written; 0 if none is."""
    at: str = Field(sa_type=TEXT)


EXPORTS: Final = cast("Table", ExportTable.__dict__["__table__"])


class ExportPosition(NamedTuple):
    """How far one export has come."""

    sink: str
    seq: int
    hash: str
    planned: int
    at: str

    @property
    def end(self) -> ChainEndRow:
        """The last record that is exported."""
        return ChainEndRow(self.seq, self.hash)


_ALL: Final = Query(select(*columns(EXPORTS, ExportPosition)).order_by(EXPORTS.c.sink), ExportPosition)
_ONE: Final = Query(
    select(*columns(EXPORTS, ExportPosition)).where(EXPORTS.c.sink == bindparam("which")), ExportPosition
)
_BEGIN: Final = Statement(insert(EXPORTS))
_MOVE: Final = Statement(
    update(EXPORTS)
    .where(
        EXPORTS.c.sink == bindparam("which"),
        EXPORTS.c.seq == bindparam("was"),
        EXPORTS.c.planned == bindparam("was_planned"),
    )
    .values(
        seq=bindparam("new_seq"), hash=bindparam("new_hash"), planned=bindparam("new_planned"), at=bindparam("new_at")
    )
)
_SIZES: Final = Statement(
    select(RECORDS.c.seq, func.length(RECORDS.c.body))
    .where(RECORDS.c.seq > bindparam("after"))
    .order_by(RECORDS.c.seq)
    .limit(bindparam("most"))
)
_SINCE: Final = Query(
    select(RECORDS.c.seq, RECORDS.c.previous.label("hash"))
    .where(RECORDS.c.at >= bindparam("since"))
    .order_by(RECORDS.c.seq)
    .limit(1),
    ChainEndRow,
)
_UNTIL: Final = Statement(
    select(RECORDS.c.seq).where(RECORDS.c.at < bindparam("until")).order_by(RECORDS.c.seq.desc()).limit(1)
)
_LAST: Final = Query(select(*columns(RECORDS, ChainEndRow)).order_by(RECORDS.c.seq.desc()).limit(1), ChainEndRow)
_FIRST_KEYED: Final = Statement(select(RECORDS.c.seq).where(RECORDS.c.version > 1).order_by(RECORDS.c.seq).limit(1))


def positions(session: Session) -> Sequence[ExportPosition]:
    """How far every export has come, by sink."""
    return session.rows(_ALL, {})


def position_of(session: Session, sink: str) -> ExportPosition | None:
    """How far one has come; None if it never began."""
    return session.row(_ONE, {"which": sink})


def begin_export(session: Session, sink: str, start: ChainEndRow, at: str) -> None:
    """Store where an export begins: after this record. Does nothing if it began already. Call it under the store's write lock."""
    if position_of(session, sink) is None:
        session.change(_BEGIN, {"sink": sink, "seq": start.seq, "hash": start.hash, "planned": 0, "at": at})


def move_export(session: Session, was: ExportPosition, to: ExportPosition) -> bool:
    """Store the next step of an export; False, and nothing is stored, if another process took it meanwhile."""
    moved: Values = {"new_seq": to.seq, "new_hash": to.hash, "new_planned": to.planned, "new_at": to.at}
    return session.change(_MOVE, {"which": was.sink, "was": was.seq, "was_planned": was.planned, **moved}) == 1


def range_end(session: Session, after: int, *, most: int, most_characters: int) -> int:
    """The last record of the next range: at most so many records, with so much in them; `after` if there is none."""
    end, size = after, 0
    for seq, length in session.fetch(_SIZES, {"after": after, "most": most}):
        size += int(length)
        if end > after and size > most_characters:
            break
        end = int(seq)
    return end


def start_since(session: Session, since: str) -> ChainEndRow:
    """The record before the first one of this time or later; the last one if there is none so late. `since` empty: before the first."""
    if not since:
        return START
    found = session.row(_SINCE, {"since": since})
    return ChainEndRow(found.seq - 1, found.hash) if found is not None else last_record(session)


def end_until(session: Session, until: str) -> int:
    """The number of the last record from before this time, 0 if there is none; with an empty `until` of the last of all."""
    return int(session.scalar(_UNTIL, {"until": until}) or 0) if until else last_record(session).seq


def last_record(session: Session) -> ChainEndRow:
    """The last record of the ledger."""
    return session.row(_LAST, {}) or START


def first_keyed(session: Session) -> int:
    """The first record whose hash needs the ledger's key; 0 if there is none. No later one may be without."""
    return int(session.scalar(_FIRST_KEYED, {}) or 0)
