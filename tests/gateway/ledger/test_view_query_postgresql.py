"""Which functions a query on PostgreSQL may call; tests/ports/test_view_query.py runs queries."""

import pytest

from gateway.errors import LedgerUnavailable
from gateway.ledger.view_query_postgresql import _is_harmless, ask_postgresql


@pytest.mark.parametrize(
    ("name", "volatile", "schema", "harmless"),
    [
        ("upper", "i", "pg_catalog", True),
        ("date_trunc", "s", "pg_catalog", True),
        ("to_char", "s", "pg_catalog", True),
        ("table_to_xml", "s", "pg_catalog", False),
        ("pg_read_file", "v", "pg_catalog", False),
        ("current_setting", "s", "pg_catalog", False),
        ("now", "v", "pg_catalog", False),
        ("upper", "i", "public", False),
    ],
)
def test_only_what_reads_nothing_is_harmless(name: str, volatile: str, schema: str, harmless: bool) -> None:
    assert _is_harmless(name, volatile, schema) is harmless


def test_a_server_that_is_not_there_is_a_sentence() -> None:
    with pytest.raises(LedgerUnavailable, match="cannot be read"):
        ask_postgresql("postgresql://sentinel@/none?host=/nonexistent", "SELECT 1", most=1, seconds=300)
