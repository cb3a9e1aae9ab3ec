"""Runs a person's SELECT over the views of the ledger: it reads these views and nothing else, changes nothing, and ends in time."""

from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from typing import Any, Final

from sqlalchemy.engine import make_url

from gateway.errors import LedgerUnavailable, Malformed
from gateway.ledger.migrate import HEAD, schema_version
from gateway.ledger.store import connect_unprepared, sqlite_file
from gateway.ledger.view_query_postgresql import ask_postgresql
from gateway.ledger.view_query_sqlite import ask_sqlite
from gateway.ledger.views import VIEWS

LONGEST_QUERY: Final = 100_000
"""Characters of a query."""
_LARGEST_WHOLE: Final = 10**300
"""Numbers beyond are floats: Python does not write whole numbers of thousands of digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewRows:
    """What a query found."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool
    """Whether there are more rows than were asked for."""


def ask_views(url: str, query: str, *, most: int, seconds: float) -> ViewRows:
    """The first `most` rows of one SELECT.

    Raises `errors.Malformed` for what is not one SELECT over the views, or is too slow; `errors.LedgerUnavailable`; `errors.SettingsInvalid`.
    """
    query = query.strip().rstrip(";").rstrip()
    if not query or len(query) > LONGEST_QUERY:
        raise Malformed(
            f"A query is one SELECT over the views {', '.join(VIEWS)}, of at most {LONGEST_QUERY:,} characters."
        )
    _check_schema(url)
    file = sqlite_file(url)
    if file is not None:
        columns, rows = ask_sqlite(file, query, most=most + 1, seconds=seconds)
    else:
        plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
        columns, rows = ask_postgresql(plain, query, most=most + 1, seconds=seconds)
    plain_rows = tuple(tuple(map(plain_cell, row)) for row in rows[:most])
    return ViewRows(columns=tuple(columns), rows=plain_rows, more=len(rows) > most)


def plain_cell(value: Any) -> Any:
    """A value as both databases give it: sums are whole numbers or floats, bytes and times are text."""
    if isinstance(value, Decimal | float):
        return _number(value)
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _number(value: Decimal | float) -> int | float | str:
    if not isfinite(value):
        return str(value)  # JSON has no number for it
    whole = value == value.to_integral_value() if isinstance(value, Decimal) else value.is_integer()
    return int(value) if whole and -_LARGEST_WHOLE < value < _LARGEST_WHOLE else float(value)


def _check_schema(url: str) -> None:
    """Raise `errors.LedgerUnavailable` if the schema is not this version's: a query migrates nothing."""
    with connect_unprepared(url) as connection:
        found = schema_version(connection)
    if found != HEAD:
        raise LedgerUnavailable(
            f"The ledger's schema has revision {found or 'none'}, and these views read {HEAD}. Nothing was changed: use the `sentinel` of the "
            "gateway that runs on it, or start this version's gateway once, which migrates it."
        )
