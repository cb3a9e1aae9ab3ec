"""Statements of SQLAlchemy Core, compiled once and then run by the driver itself: the line waits for them, and this halves their cost."""

import sqlite3
from collections import namedtuple
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import psycopg
from sqlalchemy import BindParameter, ColumnElement, Connection, Dialect, bindparam
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import ClauseElement
from sqlalchemy.sql.functions import GenericFunction
from sqlalchemy.types import Boolean

DRIVER_ERRORS: Final = (sqlite3.Error, psycopg.Error)
INTEGRITY_ERRORS: Final = (sqlite3.IntegrityError, psycopg.errors.IntegrityError)

Values = Mapping[str, Any]


class Among(ColumnElement[bool]):
    """Whether a text column is one of the texts in the parameter `name`, which is given as a JSON list: one text of SQL,
    however many there are.
    """

    inherit_cache = False
    type = Boolean()

    def __init__(self, where: ColumnElement[str], name: str) -> None:
        self.where = where
        self.texts: BindParameter[str] = bindparam(name)

    def self_group(self, against: object = None) -> "Among":  # noqa: ARG002  the base class's signature
        """Itself: SQLAlchemy would write `… = 1` on SQLite, and no index answers that."""
        return self


@compiles(Among, "sqlite")
def _on_sqlite(element: Among, compiler: SQLCompiler, **options: Any) -> str:
    where, texts = compiler.process(element.where, **options), compiler.process(element.texts, **options)
    return f"{where} IN (SELECT value FROM json_each({texts}))"  # noqa: S608  both are compiled SQL


@compiles(Among, "postgresql")
def _on_postgresql(element: Among, compiler: SQLCompiler, **options: Any) -> str:
    where, texts = compiler.process(element.where, **options), compiler.process(element.texts, **options)
    return f"{where} = ANY (ARRAY(SELECT jsonb_array_elements_text(CAST({texts} AS jsonb))))"


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
    """One Core statement with named parameters. Its columns must be text, whole numbers or bytes, which need no conversion."""

    def __init__(self, core: ClauseElement) -> None:
        self._core = core
        self._compiled: dict[str, tuple[str, Values, Any]] = {}

    def on(self, dialect: Dialect) -> tuple[str, Values, Any]:
        """Its text, the parameters that are fixed, and the class of its rows (None where it gives none)."""
        found = self._compiled.get(dialect.name)
        if found is None:
            found = self._compiled[dialect.name] = self._compile(dialect)
        return found

    def _compile(self, dialect: Dialect) -> tuple[str, Values, Any]:
        compiled = self._core.compile(dialect=dialect)
        if not isinstance(compiled, SQLCompiler):
            message = "only statements that read or change rows can be prepared"
            raise TypeError(message)
        fixed = {name: bound.value for name, bound in compiled.binds.items() if not bound.required}
        columns = getattr(self._core, "selected_columns", None)
        row = namedtuple("Row", columns.keys(), rename=True) if columns is not None else None  # noqa: PYI024  the columns are known only here
        return str(compiled), fixed, row


class Session:
    """The driver's connection under a SQLAlchemy one, within the transaction that was begun there."""

    def __init__(self, connection: Connection) -> None:
        self._driver: Any = connection.connection.dbapi_connection
        self._dialect = connection.dialect

    def rows(self, statement: Statement, values: Values) -> list[Any]:
        """Every row, with the columns as attributes."""
        text, fixed, row = statement.on(self._dialect)
        cursor = self._driver.cursor()
        cursor.execute(text, {**fixed, **values})
        found = [row._make(given) for given in cursor.fetchall()]
        cursor.close()
        return found

    def row(self, statement: Statement, values: Values) -> Any:
        """The first row, None where there is none."""
        rows = self.rows(statement, values)
        return rows[0] if rows else None

    def stream(self, statement: Statement, page: int) -> Iterator[tuple[Any, ...]]:
        """Every row as a plain tuple, `page` of them in memory at a time."""
        text, fixed, _ = statement.on(self._dialect)
        # Only a named cursor leaves the rows at the PostgreSQL server.
        cursor = self._driver.cursor() if self._dialect.name == "sqlite" else self._driver.cursor(name="stream")
        try:
            cursor.execute(text, fixed)
            while rows := cursor.fetchmany(page):
                yield from rows
        finally:
            cursor.close()

    def change(self, statement: Statement, values: Values) -> int:
        """Run it; how many rows it changed."""
        text, fixed, _ = statement.on(self._dialect)
        cursor = self._driver.cursor()
        cursor.execute(text, {**fixed, **values})
        count = int(cursor.rowcount)
        cursor.close()
        return count

    def change_each(self, statement: Statement, values: Sequence[Values]) -> None:
        """Run it once for each of the values."""
        if len(values) == 1:
            self.change(statement, values[0])
        elif values:
            text, fixed, _ = statement.on(self._dialect)
            cursor = self._driver.cursor()
            cursor.executemany(text, [{**fixed, **each} for each in values])
            cursor.close()

    def command(self, text: str) -> None:
        """Run a command without parameters, such as SAVEPOINT."""
        cursor = self._driver.cursor()
        cursor.execute(text)
        cursor.close()
