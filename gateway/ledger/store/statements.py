"""SQLAlchemy Core statements that are compiled once and then run by the database driver itself.

Every mutation waits for these statements. Running them without SQLAlchemy's execution layer halves their cost.
"""

import sqlite3
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any, Final, Generic, TypeAlias, TypeVar

from sqlalchemy import BindParameter, ColumnElement, Connection, Dialect, Select, Table, bindparam, func, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import ClauseElement
from sqlalchemy.sql.functions import GenericFunction
from sqlalchemy.types import Boolean, Integer


def driver_errors() -> tuple[type[Exception], ...]:
    """The base classes of the errors of the drivers that are loaded."""
    # Psycopg takes a tenth of a second to import, which a command on SQLite does not wait for.
    postgresql = sys.modules.get("psycopg")
    return (sqlite3.Error,) if postgresql is None else (sqlite3.Error, postgresql.Error)


def integrity_errors() -> tuple[type[Exception], ...]:
    """The classes of the errors by which the drivers that are loaded refuse a row."""
    postgresql = sys.modules.get("psycopg")
    return (sqlite3.IntegrityError,) if postgresql is None else (sqlite3.IntegrityError, postgresql.IntegrityError)


SqlValue: TypeAlias = str | int | bytes | None
"""A value that both drivers store without conversion."""

Values: TypeAlias = Mapping[str, SqlValue]
"""Parameters of a statement, by name."""

_NOTHING: Final[Values] = {}

RowT = TypeVar("RowT", bound=tuple[Any, ...])


class Among(ColumnElement[bool]):
    """Whether a text column equals one of the texts in the parameter `name`, a JSON list.

    `IN` with one parameter for each text would be another SQL text, to be compiled again, for each length of the list.
    """

    inherit_cache = False
    type = Boolean()

    def __init__(self, where: ColumnElement[str], name: str) -> None:
        self.where = where
        self.texts: BindParameter[str] = bindparam(name)

    def self_group(self, against: object = None) -> "Among":  # noqa: ARG002  the base class's signature
        """The condition itself. SQLAlchemy would write `… = 1` on SQLite, which no index can answer."""
        return self


@compiles(Among, "sqlite")
def _on_sqlite(element: Among, compiler: SQLCompiler, **options: Any) -> str:
    where, texts = compiler.process(element.where, **options), compiler.process(element.texts, **options)
    return f"{where} IN (SELECT value FROM json_each({texts}))"  # noqa: S608  both are compiled SQL


@compiles(Among, "postgresql")
def _on_postgresql(element: Among, compiler: SQLCompiler, **options: Any) -> str:
    where, texts = compiler.process(element.where, **options), compiler.process(element.texts, **options)
    return f"{where} = ANY (ARRAY(SELECT jsonb_array_elements_text(CAST({texts} AS jsonb))))"


class FoundBy(ColumnElement[bool]):
    """Whether a column equals a value of another table, in a form by which rows are found only in the column's own table, by its index.

    By a plain `=`, SQLite 3.46 and PostgreSQL may read the whole table and look each row up in the other one.
    """

    inherit_cache = False
    type = Boolean()

    def __init__(self, column: ColumnElement[Any], value: ColumnElement[Any]) -> None:
        self.column = column
        self.value = value

    def self_group(self, against: object = None) -> "FoundBy":  # noqa: ARG002  the base class's signature
        """The condition itself, as of `Among`."""
        return self


@compiles(FoundBy, "sqlite")
def _found_on_sqlite(element: FoundBy, compiler: SQLCompiler, **options: Any) -> str:
    """https://www.sqlite.org/optoverview.html#disqualifying_where_clause_terms_using_unary_ ."""
    column, value = (compiler.process(each, **options) for each in (element.column, element.value))
    return f"{column} = +{value}"


@compiles(FoundBy, "postgresql")
def _found_on_postgresql(element: FoundBy, compiler: SQLCompiler, **options: Any) -> str:
    """A comparison with an array can be answered by an index, and not by a merge or hash join."""
    column, value = (compiler.process(each, **options) for each in (element.column, element.value))
    return f"{column} = ANY (ARRAY[{value}])"


class each_text(GenericFunction[str]):  # noqa: N801  SQLAlchemy finds it as `func.each_text`
    """The texts of a JSON list as a table with one column, `value`."""

    inherit_cache = True


@compiles(each_text, "sqlite")
def _each_on_sqlite(element: each_text, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_each({compiler.process(element.clauses, **options)})"


@compiles(each_text, "postgresql")
def _each_on_postgresql(element: each_text, compiler: SQLCompiler, **options: Any) -> str:
    return f"jsonb_array_elements_text(CAST({compiler.process(element.clauses, **options)} AS jsonb))"


class Statement:
    """One Core statement with named parameters."""

    def __init__(self, core: ClauseElement) -> None:
        self._core = core
        self.compiled: dict[str, tuple[str, Values]] = {}
        """What `on` has said, by the name of the dialect."""

    def on(self, dialect: Dialect) -> tuple[str, Values]:
        """The SQL text for a dialect, and the values of the parameters that never change."""
        found = self.compiled.get(dialect.name)
        if found is None:
            found = self.compiled[dialect.name] = self._compile(dialect)
        return found

    def _compile(self, dialect: Dialect) -> tuple[str, Values]:
        compiled = self._core.compile(dialect=dialect)
        if not isinstance(compiled, SQLCompiler):
            message = "only statements that read or change rows can be prepared"
            raise TypeError(message)
        return str(compiled), {name: bound.value for name, bound in compiled.binds.items() if not bound.required}


class Query(Statement, Generic[RowT]):
    """A SELECT whose rows are of one NamedTuple. Its columns must be text, integers or bytes, which need no conversion."""

    def __init__(self, core: Select[Any], row: type[RowT]) -> None:
        """Raises `TypeError` if the selected columns are not the fields of `row`, in order."""
        super().__init__(core)
        if (fields := fields_of(row)) != tuple(core.selected_columns.keys()):
            message = f"the columns of the statement are not those of {row.__name__}: {', '.join(fields)}"
            raise TypeError(message)
        # `_make` would count the members of each row again.
        self.make_row: Callable[[Iterable[Any]], RowT] = partial(tuple.__new__, row)

    @classmethod
    def of(
        cls,
        table: Table,
        row: type[RowT],
        *conditions: ColumnElement[bool],
        order_by: Sequence[ColumnElement[Any]] = (),
        limit: int | ColumnElement[int] | None = None,
    ) -> "Query[RowT]":
        """The rows of a table for which the conditions hold, with the columns that the row class names."""
        return cls(select(*columns(table, row)).where(*conditions).order_by(*order_by).limit(limit), row)


def fields_of(row: type[tuple[Any, ...]]) -> tuple[str, ...]:
    """The field names of a NamedTuple class."""
    fields: tuple[str, ...] = row._fields  # type: ignore[attr-defined]  # of every NamedTuple
    return fields


READ_AS: Final = "read_as"
"""In the `info` of a column that is stored in another form than it is read in: the element that reads it."""


def columns(table: Table, row: type[tuple[Any, ...]]) -> list[ColumnElement[Any]]:
    """The columns of a table that a row class names, in its order, as they are read."""
    return [table.c[name].info.get(READ_AS, table.c[name]) for name in fields_of(row)]


def unindexed(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """The column in a form that no index fits, where rows were chosen by another one: SQLite might take the longer list for the shorter."""
    return func.coalesce(column, 0 if isinstance(column.type, Integer) else "")


class Session:
    """The driver's connection under a SQLAlchemy connection, inside the transaction that was begun on the latter."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        """For statements that a query puts together; prepared ones run on the driver's connection."""
        self._driver: Any = connection.connection.dbapi_connection
        self._dialect = connection.dialect
        self._on = connection.dialect.name
        self._streams = count()

    def rows(self, query: Query[RowT], values: Values) -> list[RowT]:
        """Every row."""
        make_row = query.make_row
        return [make_row(found) for found in self.fetch(query, values)]

    def row(self, query: Query[RowT], values: Values) -> RowT | None:
        """The first row, or None."""
        rows = self.fetch(query, values)
        return query.make_row(rows[0]) if rows else None

    def scalar(self, statement: Statement, values: Values) -> Any:
        """The first column of the first row, or None."""
        rows = self.fetch(statement, values)
        return rows[0][0] if rows else None

    def column(self, statement: Statement, values: Values) -> list[Any]:
        """The first column of every row."""
        return [row[0] for row in self.fetch(statement, values)]

    def stream(self, statement: Statement, page: int, values: Values = _NOTHING) -> Generator[tuple[Any, ...]]:
        """Every row as a plain tuple, with `page` rows in memory at a time. Several streams can be read side by side."""
        text, fixed = statement.compiled.get(self._on) or statement.on(self._dialect)
        # Only a named cursor leaves the rows at the PostgreSQL server.
        name = {} if self._on == "sqlite" else {"name": f"stream_{next(self._streams)}"}
        cursor = self._driver.cursor(**name)
        try:
            cursor.execute(text, {**fixed, **values})
            while rows := cursor.fetchmany(page):
                yield from rows
        finally:
            try:
                cursor.close()
            finally:
                # A server that has gone fails the first call, which leaves the cursor open; the second asks it nothing.
                cursor.close()

    def change(self, statement: Statement, values: Values) -> int:
        """Run the statement; the number of rows it changed."""
        text, fixed = statement.compiled.get(self._on) or statement.on(self._dialect)
        return int(self._driver.execute(text, {**fixed, **values} if fixed else values).rowcount)

    def change_each(self, statement: Statement, values: Sequence[Values]) -> None:
        """Run the statement once for each of the values."""
        if len(values) == 1:
            self.change(statement, values[0])
        elif values:
            text, fixed = statement.compiled.get(self._on) or statement.on(self._dialect)
            cursor = self._driver.cursor()
            cursor.executemany(text, [{**fixed, **each} for each in values])
            cursor.close()

    def command(self, text: str) -> None:
        """Run a command without parameters, such as SAVEPOINT."""
        self._driver.execute(text)

    def fetch(self, statement: Statement, values: Values) -> list[tuple[Any, ...]]:
        """Every row as a plain tuple."""
        text, fixed = statement.compiled.get(self._on) or statement.on(self._dialect)
        found: list[tuple[Any, ...]] = self._driver.execute(text, {**fixed, **values} if fixed else values).fetchall()
        return found
