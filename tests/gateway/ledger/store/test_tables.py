"""The tables hold plain values only, compare text by code point, and store no secret."""

import pytest
from sqlalchemy import BigInteger, Integer, LargeBinary, String
from sqlalchemy.engine import make_url

from gateway.ledger.store.tables import CLAIMS, KEYS, METADATA

COLUMNS = [column for table in METADATA.sorted_tables for column in table.columns]


@pytest.mark.parametrize("column", COLUMNS, ids=str)
def test_a_column_needs_no_conversion(column: object) -> None:
    kind = getattr(column, "type", None)
    assert isinstance(kind, String | Integer | BigInteger | LargeBinary)


@pytest.mark.parametrize("column", [each for each in COLUMNS if isinstance(each.type, String)], ids=str)
def test_text_compares_by_code_point_on_postgresql(column: object) -> None:
    kind = getattr(column, "type", None)
    assert isinstance(kind, String)
    assert 'COLLATE "C"' in kind.compile(dialect=make_url("postgresql+psycopg://").get_dialect()())


def test_only_one_open_claim_on_an_attribute_can_exist() -> None:
    [index] = [index for index in CLAIMS.indexes if index.unique]
    assert [column.name for column in index.columns] == ["address", "attribute"]
    for dialect in ("sqlite", "postgresql"):
        assert str(index.dialect_options[dialect]["where"]) == "ended_at IS NULL"


def test_a_key_has_no_secret() -> None:
    assert {"secret", "hash", "token"}.isdisjoint(KEYS.columns.keys())
