"""Finds records for people and for the reconciler. The cost of a question follows the size of its answer, not of the ledger.

Records of one kind agree in stage, verdict, intent and motivation, and in whether they have evidence or leave something to a human. There are
few kinds, however many records there are. An index holds the records of one kind one after the other: of all actors, of one actor, or of one key. On
PostgreSQL one number stands for the kind there.
A search merges the lists of the kinds that its filter allows, and reads each list only as far as needed. It then reads those records, and
tests each for the conditions that the lists do not cover.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Select,
    and_,
    bindparam,
    exists,
    func,
    literal_column,
    or_,
    select,
    text,
)

from gateway.core.model.verdict import Verdict
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Record, Stage
from gateway.ledger.store.rows import RecordRow
from gateway.ledger.store.serialize import record_from_row
from gateway.ledger.store.statements import Query, Session, SqlValue, Statement, Values, columns, unindexed
from gateway.ledger.store.tables import KIND, KIND_NUMBER, RECORDS, RESOURCES
from gateway.ledger.store.timestamps import to_text

LAST: Final = 2**63 - 1
"""The largest number of a record that can be."""
MOST_AT_ONCE: Final = 400
"""Lists in one statement. SQLite takes 500 (`SQLITE_MAX_COMPOUND_SELECT`), and there may be more kinds of records."""

_NOTHING: Final = {str: "''", int: "0"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SortedList:
    """The rows of a table that have these values in these columns: an index has them by record number."""

    table: str
    equal: Values = field(default_factory=dict)
    kind: "RecordKind | None" = None
    """Records of this kind."""
    tested: Values = field(default_factory=dict)
    """Values of columns of the record. No index is chosen by them: each row of the list is tested."""

    def select(self, number: int, values: dict[str, SqlValue], *, postgresql: bool) -> str:
        """The numbers as a SELECT. Its parameters have the number of the list in their names, and are added to `values`."""
        values |= {f"{column}_{number}": value for column, value in {**self.equal, **self.tested}.items()}
        conditions = [f"{column} = :{column}_{number}" for column in self.equal]
        conditions += ["key_id <> ''"] if "key_id" in self.equal else []  # what the index is of
        if self.kind is not None:
            conditions.append(self.kind.condition(number, values, postgresql=postgresql))
        conditions += ["seq > :after", "seq < :before", *self._test(number)]
        return f"SELECT seq FROM {self.table} WHERE {' AND '.join(conditions)}"  # noqa: S608  the names are ours

    def _test(self, number: int) -> list[str]:
        """The conditions for what is tested, of a form that no index fits."""
        tests = [
            f"coalesce(records.{column}, {_NOTHING[type(value)]}) = :{column}_{number}"
            for column, value in self.tested.items()
        ]
        if not tests or self.table == "records":
            return tests
        # PostgreSQL would read all records to answer an EXISTS, and not this.
        return [f"(SELECT {' AND '.join(tests)} FROM records WHERE records.seq = {self.table}.seq)"]  # noqa: S608  the same


def merge_lists(connection: Connection, lists: Sequence[SortedList], query: RecordQuery, most: int) -> list[int]:
    """The first numbers in the lists between those of the query, in its order and each once; none only if there are no more."""
    starts = range(0, len(lists), MOST_AT_ONCE)
    parts = [_merge_some(connection, lists[start : start + MOST_AT_ONCE], query, most) for start in starts]
    found = parts[0] if len(parts) == 1 else sorted(chain(*parts), reverse=query.newest_first)
    # Of each part the first ones are here, each as often as it was found, so the first ones of all are these.
    return list(dict.fromkeys(found[:most]))


def _merge_some(connection: Connection, lists: Sequence[SortedList], query: RecordQuery, most: int) -> list[int]:
    values: dict[str, SqlValue] = {"after": query.after_seq, "before": query.before_seq or LAST}
    order = f"ORDER BY seq {'DESC' if query.newest_first else 'ASC'} LIMIT {most:d}"
    postgresql = connection.dialect.name == "postgresql"
    selects = [each.select(number, values, postgresql=postgresql) for number, each in enumerate(lists)]
    if postgresql:
        # SQLite merges the lists row by row. PostgreSQL would read them whole, so each has a limit of its own.
        selects = [f"({select} {order})" for select in selects]
    statement = text(f"SELECT seq FROM ({' UNION ALL '.join(selects)}) AS lists {order}")  # noqa: S608  the lists' own SQL
    return list(connection.execute(statement, values).scalars())


MAX_PAGE: Final = 10_000
"""Most records, claims or holds in one answer."""
FEW: Final = 2_000
"""Up to this many records of a time are collected and then sorted by number."""
FEW_ADDRESSES: Final = 100
"""Up to this many resources whose addresses begin alike are followed one by one."""
READ_AT_ONCE: Final = 500
"""Most that are read at a time where fewer of the first ones fit than were asked for."""
LAST_CHARACTER: Final = "\U0010ffff"


def page_size(limit: int) -> int:
    """How many rows an answer has at most, if so many are asked for."""
    return max(0, min(limit, MAX_PAGE))


def records(session: Session, query: RecordQuery) -> tuple[Record, ...]:
    """The records that match, in the order of the query; `MAX_PAGE` at most."""
    connection = session.connection
    limit, asked = page_size(query.limit), _completed(connection, query)
    if asked is None or not limit:
        return ()
    found: list[Record] = []
    with closing(_rows(connection, asked, limit)) as rows:
        for row in rows:
            found.append(record_from_row(row))
            if len(found) == limit:
                break
    return tuple(found)


def _completed(connection: Connection, query: RecordQuery) -> RecordQuery | None:
    """The query with the stage that has evidence or leaves something. None if no record can fit."""
    for asked, stage in ((query.no_evidence, Stage.DECIDED), (query.left, Stage.RECONCILED)):
        if asked and query.stage not in (None, stage):
            return None
        query = replace(query, stage=stage) if asked else query
    if query.key_id and query.actor:
        # A key is one actor's, so any record of it tells whose: of another's, all of its records would be read for nothing.
        keyed = and_(RECORDS.c.key_id == query.key_id, RECORDS.c.key_id != literal_column("''"))
        owner = connection.execute(select(RECORDS.c.actor).where(keyed).limit(1)).scalar()
        return query if owner == query.actor else None
    return query


def _rows(connection: Connection, query: RecordQuery, limit: int) -> Generator[RecordRow]:
    """The rows that fit, in order."""
    order = RECORDS.c.seq.desc() if query.newest_first else RECORDS.c.seq
    statement = select(*columns(RECORDS, RecordRow)).where(*_conditions(query)).order_by(order)
    found = pages(connection, query, limit)
    if found is None:
        statement = statement.where(*_bounds(query)).limit(limit)
        yield from map(RecordRow._make, connection.execute(statement))
        return
    for page in found:
        yield from map(RecordRow._make, connection.execute(statement.where(RECORDS.c.seq.in_(page))))


def _bounds(query: RecordQuery) -> list[ColumnElement[bool]]:
    """The conditions for records that are read as they come, from one end of the ledger on or of one mutation."""
    bounds = [RECORDS.c.seq > query.after_seq] if query.after_seq else []
    bounds += [RECORDS.c.seq < query.before_seq] if query.before_seq else []
    return bounds + ([RECORDS.c.mutation_id == query.mutation_id] if query.mutation_id else [])


def _conditions(query: RecordQuery) -> list[ColumnElement[bool]]:
    """What each record is tested for. The numbers were chosen already: no index may be chosen for these, so none fits their form."""
    conditions = [unindexed(RECORDS.c[name]) == value for name, value in asked_values(query).items()]
    if query.refused:
        denied = unindexed(RECORDS.c.verdict) == Verdict.DENY.value
        conditions.append(or_(unindexed(RECORDS.c.stage) == Stage.TURNED_AWAY.value, denied))
    if query.since is not None:
        conditions.append(unindexed(RECORDS.c.at) >= to_text(query.since))
    if query.until is not None:
        conditions.append(unindexed(RECORDS.c.at) <= to_text(query.until))
    if query.resource:
        within = and_(RESOURCES.c.address >= query.resource, RESOURCES.c.address < query.resource + LAST_CHARACTER)
        # In place of an EXISTS, for which PostgreSQL would read all rows of a resource.
        about = select(RESOURCES.c.seq).where(RESOURCES.c.seq == RECORDS.c.seq, within).limit(1)
        conditions.append(about.scalar_subquery().is_not(None))
    if query.left:
        later = RECORDS.alias()
        # Of a mutation that may be about several stacks, each of them has a report of its own.
        own = and_(later.c.mutation_id == RECORDS.c.mutation_id, unindexed(later.c.stack) == RECORDS.c.stack)
        same = and_(own, later.c.seq > RECORDS.c.seq)
        conditions.append(~exists().where(same, unindexed(later.c.stage) == Stage.RECONCILED.value))
    return conditions


def asked_values(query: RecordQuery) -> dict[str, SqlValue]:
    """The columns in which a query asks for one value, and that value."""
    asked: dict[str, SqlValue] = {
        "actor": query.actor,
        "key_id": query.key_id,
        "stage": query.stage.value if query.stage else "",
        "verdict": query.verdict,
        "intent": query.intent,
        "motivation": query.motivation,
    }
    flags: dict[str, SqlValue] = {"has_evidence": 0} if query.no_evidence else {}
    flags |= {"left_over": 1} if query.left else {}
    return {name: value for name, value in asked.items() if value} | flags


# The lists ------------------------------------------------------------------------------------------------------------


def pages(connection: Connection, query: RecordQuery, size: int) -> Iterator[list[int]] | None:
    """The numbers of records among which are all that fit, in the query's order, at first `size` of them; None if these are nearly all."""
    if query.mutation_id:
        return None
    in_time = _in_time(connection, query)
    if in_time is not None:
        return iter([in_time])
    lists = lists_of(Session(connection), query)
    return None if lists is None else _pages_of(connection, lists, query, size)


def _pages_of(connection: Connection, lists: list[SortedList], query: RecordQuery, size: int) -> Iterator[list[int]]:
    while found := merge_lists(connection, lists, query, size):
        yield found
        last = found[-1]
        query = replace(query, before_seq=last) if query.newest_first else replace(query, after_seq=last)
        size = min(2 * size, max(size, READ_AT_ONCE))


def lists_of(session: Session, query: RecordQuery) -> list[SortedList] | None:
    """The sorted lists of an index in which the query's records are; None if it asks for nothing that an index has a list of."""
    asked = asked_values(query)
    restricted = bool(asked) or query.refused
    own = "key_id" if query.key_id else "actor" if query.actor else ""
    kinds = [kind for kind in record_kinds(session, own, asked.get(own)) if kind.fits(query)] if restricted else []
    if restricted and not kinds:
        return []
    addresses = _addresses(session, query.resource) if query.resource else []
    if query.resource and len(addresses) <= FEW_ADDRESSES:
        return [SortedList(table="record_resources", equal={"address": each}, tested=asked) for each in addresses]
    owner = {own: asked[own]} if own else {}
    return [SortedList(table="records", equal=owner, kind=kind) for kind in kinds] or None


def _in_time(connection: Connection, query: RecordQuery) -> list[int] | None:
    """The records of the query's time, if there are few."""
    if query.since is None and query.until is None:
        return None
    statement = select(RECORDS.c.seq).where(
        RECORDS.c.at >= (to_text(query.since) if query.since else ""),
        RECORDS.c.at <= (to_text(query.until) if query.until else LAST_CHARACTER),
    )
    found = connection.execute(statement.order_by(RECORDS.c.at).limit(FEW)).scalars().all()
    if len(found) == FEW:
        return None
    between = (seq for seq in found if query.after_seq < seq < (query.before_seq or LAST))
    return sorted(between, reverse=query.newest_first)


def _addresses(session: Session, prefix: str) -> list[str]:
    """The addresses that begin so, one more than few at most: from each to the next one by a step in the index."""
    return session.column(_BEGINNING, {"first": prefix, "end": prefix + LAST_CHARACTER})


def _beginning() -> Select[tuple[str]]:
    first, later = RESOURCES.alias(), RESOURCES.alias()
    least = select(func.min(first.c.address)).where(
        first.c.address >= bindparam("first"), first.c.address < bindparam("end")
    )
    found = select(least.scalar_subquery().label("address")).cte("addresses", recursive=True)
    following = select(func.min(later.c.address)).where(
        later.c.address > found.c.address, later.c.address < bindparam("end")
    )
    every = found.union_all(select(following.scalar_subquery()).where(found.c.address.is_not(None)))
    return select(every.c.address).where(every.c.address.is_not(None)).limit(FEW_ADDRESSES + 1)


_BEGINNING: Final = Statement(_beginning())


# The kinds ------------------------------------------------------------------------------------------------------------


class RecordKind(NamedTuple):
    """What the records of one kind have in common: a value of each column in `tables.KIND`."""

    stage: str
    verdict: str = ""
    intent: str = ""
    motivation: str = ""
    has_evidence: int = 0
    left_over: int = 0

    def fits(self, query: RecordQuery) -> bool:
        """Whether the query asks for records of this kind, of any actor."""
        if query.refused and self.stage != Stage.TURNED_AWAY and self.verdict != Verdict.DENY:
            return False
        own: dict[str, SqlValue] = self._asdict()
        return all(own.get(name, value) == value for name, value in asked_values(query).items())

    def condition(self, number: int, values: dict[str, SqlValue], *, postgresql: bool) -> str:
        """The condition for records of this kind. Its parameters have `number` in their names, and are added to `values`."""
        if not postgresql:
            values |= {f"{name}_{number}": value for name, value in self._asdict().items()}
            return " AND ".join(f"{name} = :{name}_{number}" for name in self._fields)
        values[f"kind_{number}"] = " ".join(map(str, self))
        return f"{KIND_NUMBER} = hashtextextended(CAST(:kind_{number} AS text), 0)"


def record_kinds(session: Session, own: str = "", value: SqlValue = "") -> Sequence[RecordKind]:
    """The kinds that there are, each found by a few steps in an index; with `own` those of the records with this `value` in that column."""
    values: Values = {"who": value} if own else {}
    if session.connection.dialect.name == "postgresql":
        return [RecordKind._make(row) for row in session.fetch(KINDS_BY_NUMBER[own], values)]
    return session.rows(KINDS_BY[own], values)


def _kinds_by_number(own: str) -> Statement:
    """From the number of each kind to the next one, on PostgreSQL."""
    owned = {"": "true", "key_id": "key_id = :who AND key_id <> ''"}.get(own, f"{own} = :who")
    read = f"SELECT {KIND_NUMBER} AS number, {', '.join(KIND)} FROM records WHERE {owned}"  # noqa: S608  the names are ours
    following = f"{read} AND {KIND_NUMBER} > kinds.number ORDER BY 1 LIMIT 1"
    found = f"({read} ORDER BY 1 LIMIT 1) UNION ALL SELECT later.* FROM kinds CROSS JOIN LATERAL ({following}) AS later"  # noqa: S608  the same
    return Statement(text(f"WITH RECURSIVE kinds AS ({found}) SELECT {', '.join(KIND)} FROM kinds"))  # noqa: S608  the same


KINDS_BY_NUMBER: Final = {own: _kinds_by_number(own) for own in ("", "actor", "key_id")}
"""`KINDS_BY` on PostgreSQL."""


def _kinds(own: str) -> Select[Any]:
    """A loose index scan: from each kind to the next one that differs from it in the last column possible."""
    one, then = RECORDS.alias(), RECORDS.alias()
    first = _first(RECORDS.alias(), [], KIND, own)
    kinds = select(*(one.c[name] for name in KIND)).where(one.c.seq == first).cte("kinds", recursive=True)
    steps = (_following(kinds, number, own) for number in reversed(range(len(KIND))))
    following = kinds.join(then, then.c.seq == func.coalesce(*steps))
    return select(kinds.union_all(select(*(then.c[name] for name in KIND)).select_from(following)))


def _following(kinds: FromClause, number: int, own: str) -> ColumnElement[int]:
    """The first record whose kind has the same first columns and a later one after them."""
    later = RECORDS.alias()
    conditions = [later.c[name] == kinds.c[name] for name in KIND[:number]]
    conditions.append(later.c[KIND[number]] > kinds.c[KIND[number]])
    return _first(later, conditions, KIND[number:], own)


def _first(
    table: FromClause, conditions: list[ColumnElement[bool]], order: Sequence[str], own: str
) -> ColumnElement[int]:
    owned = [table.c[own] == bindparam("who")] if own else []
    by = (table.c[name] for name in (*order, "seq"))
    return select(table.c.seq).where(*owned, *conditions).order_by(*by).limit(1).scalar_subquery()


KINDS_BY: Final = {own: Query(_kinds(own), RecordKind) for own in ("", "actor", "key_id")}
"""The query for the kinds of all records, of an actor's and of a key's, by the column."""
