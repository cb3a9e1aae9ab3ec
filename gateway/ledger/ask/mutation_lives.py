"""Reads mutations as wholes: all records of each of several, and how often each verdict was given in spans of time."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple

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
_MOST_REMEMBERED: Final = 5_000
"""Spans whose counts are kept: a day of an actor is 24."""
_OPEN_END: Final = 2**63 - 1
"""The end of the span that is not over."""


class _Span(NamedTuple):
    """A range of records: of one actor, or of all for an empty name."""

    actor: str
    first: int
    end: int
    """The first record after it."""


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


@dataclass(slots=True)
class ActivityCounts:
    """Counts decisions by spans of time, and remembers what it counted: records do not change, so that each is counted once.

    One thread at a time may ask it.
    """

    _counted: dict[_Span, tuple[int, dict[Verdict, int]]] = field(default_factory=dict)
    """Of each span up to which record it is counted, exclusive, and its counts."""

    def of(self, session: Session, starts: Sequence[datetime], actor: str = "") -> Activity:
        """How often each verdict was given from each start to the next, and from the last one until now; `starts` ascend.

        With `actor`, only to its calls. Raises `ValueError` for no start or more than `MOST_SPANS`.
        """
        if not 0 < len(starts) <= MOST_SPANS:
            message = f"1 to {MOST_SPANS} spans are counted at once"
            raise ValueError(message)
        last = int(session.scalar(_LAST, {}) or 0)
        firsts = [session.scalar(_FIRST_SINCE, {"at": to_text(start)}) or last + 1 for start in starts]
        begun = [(start, first) for start, first in zip(starts, firsts, strict=True) if first > last - MOST_COUNTED]
        if not begun:
            return Activity(counted_from=starts[-1], counts={})
        ends = [*(first for _, first in begun[1:]), _OPEN_END]
        spans = [_Span(actor, first, end) for (_, first), end in zip(begun, ends, strict=True)]
        self._count(session, spans, last)
        counts = {
            (start, verdict): count
            for (start, _), span in zip(begun, spans, strict=True)
            for verdict, count in self._counted[span][1].items()
        }
        for old in list(self._counted)[: max(0, len(self._counted) - _MOST_REMEMBERED)]:
            del self._counted[old]
        return Activity(counted_from=begun[0][0], counts=counts)

    def _count(self, session: Session, spans: Sequence[_Span], last: int) -> None:
        """Count what is not counted yet of these spans, which follow each other."""
        for span in spans:
            # What was asked for last is forgotten last.
            self._counted[span] = self._counted.pop(span, (span.first, {}))
        ends = [min(span.end, last + 1) for span in spans]
        begin = next(
            (place for place, (span, end) in enumerate(zip(spans, ends, strict=True)) if self._counted[span][0] < end),
            len(spans),
        )
        # One query counts all from there on, also what a shorter question had counted before.
        for span in spans[begin + 1 :]:
            self._counted[span] = span.first, {}
        firsts = [self._counted[span][0] for span in spans[begin:]]
        if not firsts:
            return
        for verdict, place, count in _counts_since(session, spans[0].actor, firsts, last):
            counts = self._counted[spans[begin + place]][1]
            counts[verdict] = counts.get(verdict, 0) + count
        for span, end in zip(spans[begin:], ends[begin:], strict=True):
            self._counted[span] = end, self._counted[span][1]


def _counts_since(session: Session, actor: str, firsts: Sequence[int], last: int) -> Iterator[tuple[Verdict, int, int]]:
    """Verdict, place of the span and number of decisions up to the record `last`."""
    kinds = [kind for kind in record_kinds(session) if kind.stage == Stage.DECIDED]
    for begin in range(0, len(kinds), MOST_AT_ONCE):
        for verdict, span, count in _counted(session, actor, kinds[begin : begin + MOST_AT_ONCE], firsts, last):
            yield Verdict(verdict), span, count


def _counted(
    session: Session, actor: str, kinds: Sequence[RecordKind], firsts: Sequence[int], last: int
) -> Sequence[tuple[str, int, int]]:
    """The same of some kinds, by the index that has the records of each kind, or of each of an actor, in a row."""
    values: dict[str, SqlValue] = {f"first_{place}": first for place, first in enumerate(firsts)}
    values |= {"last": last, **({"actor": actor} if actor else {})}
    later = " ".join(f"WHEN seq >= :first_{place} THEN {place:d}" for place in reversed(range(len(firsts))))
    selects = []
    postgresql = session.connection.dialect.name == "postgresql"
    for number, kind in enumerate(kinds):
        same = kind.condition(number, values, postgresql=postgresql)
        same = f"actor = :actor AND {same}" if actor else same
        counted = f"SELECT verdict, CASE {later} END AS span, count(*) FROM records"  # noqa: S608  the names are ours
        selects.append(f"{counted} WHERE {same} AND seq >= :first_0 AND seq <= :last GROUP BY verdict, span")
    statement = text(" UNION ALL ".join(selects))
    return [(row[0], row[1], row[2]) for row in session.connection.execute(statement, values)]
