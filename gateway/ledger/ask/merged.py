"""Merges sorted lists of record numbers inside the database, which reads of each list only as far as it is asked."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from sqlalchemy import Connection, text

from gateway.core.ports import RecordQuery
from gateway.ledger.store.statements import SqlValue, Values

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
    tested: Values = field(default_factory=dict)
    """Values of columns of the record. No index is chosen by them: each row of the list is tested."""

    def select(self, number: int, values: dict[str, SqlValue]) -> str:
        """The numbers as a SELECT. Its parameters have the number of the list in their names, and are added to `values`."""
        values |= {f"{column}_{number}": value for column, value in {**self.equal, **self.tested}.items()}
        conditions = [f"{column} = :{column}_{number}" for column in self.equal]
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
        same = f"records.seq = {self.table}.seq"
        return [f"EXISTS (SELECT 1 FROM records WHERE {' AND '.join([same, *tests])})"]  # noqa: S608  the same


def merged(connection: Connection, lists: Sequence[SortedList], query: RecordQuery, most: int) -> list[int]:
    """The first numbers in the lists between those of the query, in its order and each once; none only if there are no more."""
    starts = range(0, len(lists), MOST_AT_ONCE)
    parts = [_merged(connection, lists[start : start + MOST_AT_ONCE], query, most) for start in starts]
    found = parts[0] if len(parts) == 1 else sorted(chain(*parts), reverse=query.newest_first)
    # Of each part the first ones are here, each as often as it was found, so the first ones of all are these.
    return list(dict.fromkeys(found[:most]))


def _merged(connection: Connection, lists: Sequence[SortedList], query: RecordQuery, most: int) -> list[int]:
    values: dict[str, SqlValue] = {"after": query.after_seq, "before": query.before_seq or LAST}
    order = f"ORDER BY seq {'DESC' if query.newest_first else 'ASC'} LIMIT {most:d}"
    selects = [each.select(number, values) for number, each in enumerate(lists)]
    if connection.dialect.name != "sqlite":
        # SQLite merges the lists row by row. PostgreSQL would read them whole, so each has a limit of its own.
        selects = [f"({select} {order})" for select in selects]
    statement = text(f"SELECT seq FROM ({' UNION ALL '.join(selects)}) AS lists {order}")  # noqa: S608  the lists' own SQL
    return list(connection.execute(statement, values).scalars())
