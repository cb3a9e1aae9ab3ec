"""The tables hold plain values only, compare text by code point, and store no secret."""

from sqlalchemy import BigInteger, Integer, LargeBinary, String
from sqlalchemy.engine import make_url

from gateway.ledger.store.tables import CLAIMS, KEYS, METADATA, WHERE, LedgerTable

COLUMNS = [column for table in METADATA.sorted_tables for column in table.columns]


def test_no_column_needs_a_conversion() -> None:
    plain = String | Integer | BigInteger | LargeBinary
    assert [str(column) for column in COLUMNS if not isinstance(column.type, plain)] == []


def test_text_compares_by_code_point_on_postgresql() -> None:
    dialect = make_url("postgresql+psycopg://").get_dialect()()
    texts = [column for column in COLUMNS if isinstance(column.type, String)]
    assert texts
    assert [str(column) for column in texts if 'COLLATE "C"' not in column.type.compile(dialect=dialect)] == []


def test_only_one_open_claim_on_an_attribute_can_exist() -> None:
    [index] = [index for index in CLAIMS.indexes if index.unique]
    assert [column.name for column in index.columns] == ["address", "attribute"]
    assert str(index.info[WHERE]) == "ended_at IS NULL"


def test_a_key_has_no_secret() -> None:
    assert {"secret", "hash", "token"}.isdisjoint(KEYS.columns.keys())


def test_no_class_is_mapped_to_a_table() -> None:
    """Statements read tuples, and to map the tables to classes takes a twentieth of a command that opens the ledger."""
    assert not list(LedgerTable._sa_registry.mappers)
