"""Chooses the sorted lists of an index in which the records of a query are: those of a resource, of the kinds that fit, of an actor."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from sqlalchemy import Connection, Select, bindparam, func, select

from gateway.core.ports import RecordQuery
from gateway.ledger.ask.merged import LAST, SortedList, merged
from gateway.ledger.ask.record_indexes import BARE, LEFT
from gateway.ledger.ask.record_kinds import record_kinds
from gateway.ledger.store.statements import Query, Session
from gateway.ledger.store.tables import RECORDS, RESOURCES
from gateway.ledger.store.timestamps import to_text

FEW: Final = 2_000
"""Up to this many records of a time are collected and then sorted by number."""
FEW_ADDRESSES: Final = 100
"""Up to this many resources whose addresses begin alike are followed one by one."""
READ_AT_ONCE: Final = 500
"""Most that are read at a time where fewer of the first ones fit than were asked for."""
LAST_CHARACTER: Final = "\U0010ffff"


class AddressRow(NamedTuple):
    """The address of a resource."""

    address: str


def pages(connection: Connection, query: RecordQuery, size: int) -> Iterator[list[int]] | None:
    """The numbers of records among which are all that fit, in the query's order, at first `size` of them; None if these are nearly all."""
    if query.mutation_id:
        return None
    in_time = _in_time(connection, query)
    if in_time is not None:
        return iter([in_time])
    lists = _lists(Session(connection), query)
    return None if lists is None else _merged(connection, lists, query, size)


def _merged(connection: Connection, lists: list[SortedList], query: RecordQuery, size: int) -> Iterator[list[int]]:
    while found := merged(connection, lists, query, size):
        yield found
        last = found[-1]
        query = replace(query, before_seq=last) if query.newest_first else replace(query, after_seq=last)
        size = min(2 * size, max(size, READ_AT_ONCE))


def asked_kind(query: RecordQuery) -> dict[str, str]:
    """The columns in which a query asks for one value, and that value."""
    asked = {
        "actor": query.actor,
        "stage": query.stage.value if query.stage else "",
        "verdict": query.verdict,
        "intent": query.intent,
        "motivation": query.motivation,
    }
    return {name: value for name, value in asked.items() if value}


def _lists(session: Session, query: RecordQuery) -> list[SortedList] | None:
    """The lists; None if the query asks for nothing that an index has a list of."""
    asked = asked_kind(query)
    kinds = [kind for kind in record_kinds(session, query.actor) if kind.fits(query)] if asked or query.refused else []
    if not kinds and (asked or query.refused):
        return []
    addresses = _addresses(session, query.resource) if query.resource else []
    if query.resource and len(addresses) <= FEW_ADDRESSES:
        return [SortedList(table="record_resources", equal={"address": each}, tested=asked) for each in addresses]
    if query.left:
        return [SortedList(table="records", condition=LEFT, tested=asked)]
    if query.no_evidence:
        return [SortedList(table="records", condition=BARE, tested=asked)]
    own = {"actor": query.actor} if query.actor else {}
    return [SortedList(table="records", equal={**own, **kind._asdict()}) for kind in kinds] or None


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
    rows = session.rows(_BEGINNING, {"first": prefix, "end": prefix + LAST_CHARACTER})
    return [row.address for row in rows]


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


_BEGINNING: Final = Query(_beginning(), AddressRow)
