"""What is refused before a database is asked; tests/ports/test_view_query.py asks both."""

from pathlib import Path

import pytest

from gateway.errors import LedgerUnavailable, Malformed, SettingsInvalid
from gateway.ledger.view_query import LONGEST_QUERY, ask_views


@pytest.mark.parametrize("query", ["", " ; ", "SELECT 1" + " " * LONGEST_QUERY + "AS a"])
def test_nothing_and_too_much_are_refused(query: str) -> None:
    with pytest.raises(Malformed, match="one SELECT"):
        ask_views("sqlite:////nonexistent/ledger.db", query, most=1, seconds=300)


def test_an_empty_database_is_not_filled(tmp_path: Path) -> None:
    with pytest.raises(LedgerUnavailable, match="revision none"):
        ask_views(f"sqlite:///{tmp_path / 'ledger.db'}", "SELECT 1 AS a", most=1, seconds=300)


def test_another_kind_of_database_is_refused() -> None:
    with pytest.raises(SettingsInvalid):
        ask_views("mysql://x", "SELECT 1 AS a", most=1, seconds=300)
