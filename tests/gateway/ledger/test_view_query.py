"""What is refused before a database is asked; tests/ports/test_view_query.py asks both."""

import json
from decimal import Decimal
from pathlib import Path

import pytest

from gateway.errors import LedgerUnavailable, Malformed, SettingsInvalid
from gateway.ledger.view_query import LONGEST_QUERY, ask_views, plain_cell


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


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (Decimal(3), "3"), (3.0, "3"), (Decimal("0.5"), "0.5"), (Decimal("Infinity"), "Infinity"), (float("-inf"), "-inf"), (Decimal("NaN"), "NaN"),
        (Decimal("1E+9000"), "1E+9000"), (Decimal("1E+40"), "1" + "0" * 40), (10.0**301, "1e+301"), (b"x", "b'x'"), (None, "None"),
    ],
)  # fmt: skip
def test_every_number_can_be_shown(given: object, shown: str) -> None:
    """Both as text, which Python refuses for whole numbers of thousands of digits, and as JSON."""
    assert str(plain_cell(given)) == shown
    assert json.dumps(plain_cell(given), allow_nan=False)
