"""The texts of the views, in both spellings; tests/ports/test_view_query.py runs them."""

import pytest

from gateway.ledger.ask.views import VIEWS, SqlDialect, views

SQLITE, POSTGRESQL = SqlDialect(postgresql=False, schema="main"), SqlDialect(postgresql=True, schema="public")


@pytest.mark.parametrize("on", [SQLITE, POSTGRESQL])
def test_every_view_reads_tables_of_the_ledger_s_own_schema(on: SqlDialect) -> None:
    made = views(on)
    assert tuple(made) == VIEWS
    for select in made.values():
        assert f" FROM {on.schema}." in select


def test_values_of_json_are_found_by_their_path() -> None:
    assert SQLITE.text("b", "call", "service") == "json_extract(b, '$.call.service')"
    assert POSTGRESQL.text("b", "call", "service") == "(b #>> '{call,service}')"
    assert SQLITE.json("b", "x") == "(b -> '$.x')"
    assert POSTGRESQL.number("b", "x") == "CAST((b #>> '{x}') AS numeric)"
    assert POSTGRESQL.flag("b", "x") == "(CASE WHEN (b #>> '{x}') = 'true' THEN 1 ELSE 0 END)"


def test_a_null_character_is_shown_where_postgresql_has_none() -> None:
    assert POSTGRESQL.parsed("r.body") == r"CAST(replace(r.body, '\u0000', '\u2400') AS json)"
    assert SQLITE.parsed("r.body") == "r.body"


def test_a_list_is_joined_by_its_elements() -> None:
    assert SQLITE.each("b", "effects") == "JOIN json_each(b, '$.effects') AS item"
    assert "WITH ORDINALITY" in POSTGRESQL.each("b", "effects")
    assert POSTGRESQL.table("claims") == "public.claims"
