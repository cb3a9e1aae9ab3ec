"""Reads mutations as wholes: all records of each of several, and how often each verdict was given in spans of time."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, func, or_, select, text

from gateway.core.model.json import canonical_text
from gateway.core.model.verdict import Verdict
from gateway.core.ports import Activity
from gateway.core.records.record import Record, Stage
from gateway.ledger.ask.record_search import MOST_AT_ONCE, RecordKind, record_kinds
from gateway.ledger.store.rows import RecordRow
from gateway.ledger.store.serialize import record_from_row
from gateway.ledger.store.statements import Among, Query, Session, SqlValue, Statement, columns
from gateway.ledger.store.tables import RECORDS
from gateway.ledger.store.timestamps import to_text

_FIRST: Final = 20
_NEWEST: Final = 80
"""Records of one mutation that are read: so many of its first, and so many of its newest."""
MOST_SPANS: Final = 100
MOST_COUNTED: Final = 100_000
"""Records back from the newest one within which decisions are counted, so that a page takes as long with many as with few."""


def _ends() -> Query[RecordRow]:
    """The numbers of the first and the newest records of some mutations, by an index that has both columns."""
    numbered = (
        select(
            RECORDS.c.seq,
            func.row_number().over(partition_by=RECORDS.c.mutation_id, order_by=RECORDS.c.seq).label("up"),
            func.row_number().over(partition_by=RECORDS.c.mutation_id, order_by=RECORDS.c.seq.desc()).label("down"),
        )
        .where(Among(RECORDS.c.mutation_id, "mutations"))
        .subquery()
    )
    ends = or_(numbered.c.up <= _FIRST, numbered.c.down <= _NEWEST)
    # Without a limit over all: a mutation whose records it cut off would be missing. Who asks names few mutations.
    chosen = select(numbered.c.seq).where(ends)
    return Query(
        select(*columns(RECORDS, RecordRow)).where(RECORDS.c.seq.in_(chosen)).order_by(RECORDS.c.seq), RecordRow
    )


_ENDS: Final = _ends()
_FIRST_SINCE: Final = Statement(
    select(RECORDS.c.seq).where(RECORDS.c.at >= bindparam("at")).order_by(RECORDS.c.at, RECORDS.c.seq).limit(1)
)
_LAST: Final = Statement(select(func.max(RECORDS.c.seq)))


def lives(session: Session, mutation_ids: Sequence[str]) -> Mapping[str, Sequence[Record]]:
    """The records of each mutation, oldest first; of one with very many the first and the newest. None for an unknown one."""
    found: dict[str, list[Record]] = {}
    for row in session.rows(_ENDS, {"mutations": canonical_text(sorted(set(mutation_ids)))}):
        found.setdefault(row.mutation_id, []).append(record_from_row(row))
    return found


def activity(session: Session, starts: Sequence[datetime]) -> Activity:
    """How often each verdict was given from each start to the next, and from the last one until now; `starts` ascend.

    Raises `ValueError` for no start or more than `MOST_SPANS`.
    """
    if not 0 < len(starts) <= MOST_SPANS:
        message = f"1 to {MOST_SPANS} spans are counted at once"
        raise ValueError(message)
    last = int(session.scalar(_LAST, {}) or 0)
    firsts = [session.scalar(_FIRST_SINCE, {"at": to_text(start)}) or last + 1 for start in starts]
    spans = [(start, first) for start, first in zip(starts, firsts, strict=True) if first > last - MOST_COUNTED]
    if not spans:
        return Activity(counted_from=starts[-1], counts={})
    kinds = [kind for kind in record_kinds(session) if kind.stage == Stage.DECIDED]
    counts: dict[tuple[datetime, Verdict], int] = {}
    for begin in range(0, len(kinds), MOST_AT_ONCE):
        for verdict, span, count in _counted(
            session, kinds[begin : begin + MOST_AT_ONCE], [first for _, first in spans]
        ):
            key = spans[span][0], Verdict(verdict)
            counts[key] = counts.get(key, 0) + count
    return Activity(counted_from=spans[0][0], counts=counts)


def _counted(session: Session, kinds: Sequence[RecordKind], firsts: Sequence[int]) -> Sequence[tuple[str, int, int]]:
    """Verdict, place of the span and number of decisions, by the index that has the records of each kind in a row."""
    values: dict[str, SqlValue] = {f"first_{place}": first for place, first in enumerate(firsts)}
    later = " ".join(f"WHEN seq >= :first_{place} THEN {place:d}" for place in reversed(range(len(firsts))))
    selects = []
    for number, kind in enumerate(kinds):
        values |= {f"{name}_{number}": value for name, value in kind._asdict().items()}
        same = " AND ".join(f"{name} = :{name}_{number}" for name in kind._fields)
        counted = f"SELECT verdict, CASE {later} END AS span, count(*) FROM records"  # noqa: S608  the names are ours
        selects.append(f"{counted} WHERE {same} AND seq >= :first_0 GROUP BY verdict, span")
    statement = text(" UNION ALL ".join(selects))
    return [(row[0], row[1], row[2]) for row in session.connection.execute(statement, values)]
