"""The verified records for an export, and the position of each export.

Two processes may export to one sink at once: a step is stored only if the other process did not take it.

The range of records that comes next is stored before any of it is written. A process that dies in between leaves the range, and the next one
writes the same records to the same names again: so nothing is left out, and nothing is there twice.
"""

from collections import defaultdict
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, NamedTuple

import msgspec
from sqlalchemy import bindparam, func, insert, select, update

from gateway.core.model.json import canonical_text
from gateway.core.records.record import Stage
from gateway.ledger.chain.archived import archives
from gateway.ledger.chain.hashes import START, ChainRow, verified_records
from gateway.ledger.store.rows import ChainEndRow
from gateway.ledger.store.statements import Among, Query, Session, Statement, Values, unindexed
from gateway.ledger.store.tables import BODY, EXPORTS, PREVIOUS, RECORDS, RESOURCES


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


_ALL: Final = Query.of(EXPORTS, ExportPosition, order_by=(EXPORTS.c.sink,))
_ONE: Final = Query.of(EXPORTS, ExportPosition, EXPORTS.c.sink == bindparam("which"))
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
    select(RECORDS.c.seq, func.length(BODY))
    .where(RECORDS.c.seq > bindparam("after"))
    .order_by(RECORDS.c.seq)
    .limit(bindparam("most"))
)
_SINCE: Final = Query(
    select(RECORDS.c.seq, PREVIOUS.label("hash"))
    .where(RECORDS.c.at >= bindparam("since"))
    .order_by(RECORDS.c.seq)
    .limit(1),
    ChainEndRow,
)
_UNTIL: Final = Statement(
    select(RECORDS.c.seq).where(RECORDS.c.at < bindparam("until")).order_by(RECORDS.c.seq.desc()).limit(1)
)
_LAST: Final = Query.of(RECORDS, ChainEndRow, order_by=(RECORDS.c.seq.desc(),), limit=1)


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
    """The record before the first one of this time or later; the last one if there is none so late. `since` empty: before the first.

    Archived records are not there any more, so it is the last of these at least.
    """
    known = archives(session)
    archived = known[-1].end if known else START
    if not since:
        return archived
    found = session.row(_SINCE, {"since": since})
    return max(archived, ChainEndRow(found.seq - 1, found.hash) if found is not None else last_record(session))


def end_until(session: Session, until: str) -> int:
    """The number of the last record from before this time, 0 if there is none; with an empty `until` of the last of all."""
    return int(session.scalar(_UNTIL, {"until": until}) or 0) if until else last_record(session).seq


def last_record(session: Session) -> ChainEndRow:
    """The last record of the ledger."""
    return session.row(_LAST, {}) or START


_PAGE: Final = 500
_DECIDED_BODIES: Final = Statement(
    select(RECORDS.c.mutation_id, BODY).where(
        Among(RECORDS.c.mutation_id, "ids"), unindexed(RECORDS.c.stage) == Stage.DECIDED.value
    )
)
_RESOURCES: Final = Statement(
    select(RESOURCES.c.seq, RESOURCES.c.address, RESOURCES.c.attribute)
    .where(RESOURCES.c.seq >= bindparam("first"), RESOURCES.c.seq <= bindparam("last"))
    .order_by(RESOURCES.c.seq, RESOURCES.c.address, RESOURCES.c.attribute)
)
_decode: Final = msgspec.json.Decoder().decode


@dataclass(frozen=True, slots=True)
class ExportedRecord:
    """A verified record as formats read it."""

    row: ChainRow
    body: Mapping[str, Any]
    resources: Sequence[tuple[str, str]] = ()
    """The (address, attribute) pairs it is about."""
    decided: Mapping[str, Any] = field(default_factory=dict)
    """The body of its mutation's decision, its own if it is the decision; empty for a record that is about no mutation."""


def exported_records(session: Session, key: bytes, after: ChainEndRow, last: int) -> Generator[ExportedRecord]:
    """The records after `after` up to the number `last`, in order, with a page of them in memory at a time.

    Raises `errors.LedgerBroken` at the first that does not follow from the one before it. Close it before its connection.
    """
    with closing(verified_records(session, key, after)) as verified:
        rows = (ChainRow._make(row) for row in islice(verified, max(0, last - after.seq)))
        while page := list(islice(rows, _PAGE)):
            yield from _with_context(session, page)


def _with_context(session: Session, page: Sequence[ChainRow]) -> Iterator[ExportedRecord]:
    bodies = {row.seq: _decode(row.body) for row in page}
    decided = {row.mutation_id: bodies[row.seq] for row in page if row.stage == Stage.DECIDED}
    others = {row.mutation_id for row in page if row.mutation_id.startswith("mut_")} - set(decided)
    if others:
        found = session.fetch(_DECIDED_BODIES, {"ids": canonical_text(sorted(others))})
        decided |= {mutation: _decode(body) for mutation, body in found}
    resources = defaultdict(list)
    for seq, address, attribute in session.fetch(_RESOURCES, {"first": page[0].seq, "last": page[-1].seq}):
        resources[seq].append((address, attribute))
    for row in page:
        yield ExportedRecord(row, bodies[row.seq], resources[row.seq], decided.get(row.mutation_id, {}))
