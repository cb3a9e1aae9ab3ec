"""Queries over the views: the same answers on both databases, these views and nothing else, and an end."""

import asyncio
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway.core.errors import LedgerUnavailable, Malformed
from gateway.ledger.ask.view_query import ViewRows, ask_views
from gateway.ledger.ask.views import VIEWS
from gateway.ledger.store.database import open_store
from tests.kit.exports import write_history
from tests.kit.stores import Cluster

DOCUMENT = (Path(__file__).parent.parent.parent / "docs" / "investigators.md").read_text()
QUESTIONS = re.findall(r"```sql\n(.*?)```", DOCUMENT, re.DOTALL)

Ask = Callable[..., ViewRows]


pytestmark = pytest.mark.postgres  # both stores are filled for all tests


@pytest.fixture(scope="module")
def urls(tmp_path_factory: pytest.TempPathFactory, postgres: Cluster) -> dict[str, str]:
    """The same history on both databases."""
    found = {
        "sqlite": f"sqlite:///{tmp_path_factory.mktemp('views') / 'ledger.db'}",
        "postgresql": postgres.new_ledger(),
    }
    for url in found.values():
        asyncio.run(write_history(url))
    return found


@pytest.fixture(params=["sqlite", "postgresql"])
def ask(request: pytest.FixtureRequest, urls: dict[str, str]) -> Iterator[Ask]:
    """Asks one of them."""
    url = urls[request.param]

    def run(query: str, **given: Any) -> ViewRows:
        return ask_views(url, query, **{"most": 1000, "seconds": 300, **given})

    yield run
    assert run("SELECT count(*) AS n FROM mutations").rows[0][0] > 50, "no query changed what is there"


def _without_ids(rows: tuple[tuple[Any, ...], ...]) -> list[list[Any]]:
    """Rows with the ids that differ from ledger to ledger cut."""
    ids = re.compile(r"\b([a-z]{3}_|SNT[LS])(?:\w{20,}|[A-Z2-7]{16}\b)")
    return [[ids.sub(r"\1", str(cell)) for cell in row] for row in rows]


@pytest.mark.parametrize("question", QUESTIONS)
def test_each_question_of_the_document_has_the_same_answer_on_both(urls: dict[str, str], question: str) -> None:
    sqlite, postgresql = (ask_views(url, question, most=1000, seconds=300) for url in urls.values())
    assert sqlite.rows, "the history has an answer to each question"
    assert sqlite.columns == postgresql.columns
    # Rows that differ only in such ids come in any order.
    assert sorted(_without_ids(sqlite.rows)) == sorted(_without_ids(postgresql.rows))


def test_a_plan_whose_session_was_opened_is_no_denied_call(ask: Ask) -> None:
    found = ask("SELECT DISTINCT outcome FROM mutations WHERE operation = 'apply' AND verdict = 'allow'")
    assert found.rows == (("opened",),)


def test_there_are_ten_questions() -> None:
    assert len(QUESTIONS) == 10


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_has_the_columns_that_the_document_lists_and_the_same_rows(urls: dict[str, str], view: str) -> None:
    listed = ", ".join(re.findall(rf"^\| `{view}` \| (`.*) \|$", DOCUMENT, re.MULTILINE))
    order = "ORDER BY since, claim" if view == "claims" else "ORDER BY seq"
    query = f"SELECT * FROM {view} {order}"  # noqa: S608  names of ours
    found = [ask_views(url, query, most=1000, seconds=300) for url in urls.values()]
    documented = re.sub(r"\([^)]*\)", "", listed)
    assert set(found[0].columns) == set(re.findall(r"`(\w+)`", documented))
    assert found[0].columns == found[1].columns
    assert sorted(_without_ids(found[0].rows)) == sorted(_without_ids(found[1].rows))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM keys",
        "SELECT count(*) FROM keys",
        "SELECT * FROM records",
        "SELECT * FROM main.claims",
        "SELECT * FROM public.claims",
        "SELECT * FROM public.approvals",
        "WITH mutations AS (SELECT * FROM keys) SELECT * FROM mutations",
        "WITH x AS (SELECT id FROM keys) SELECT * FROM x",
        "SELECT (SELECT count(*) FROM keys) AS n FROM mutations",
        "SELECT * FROM mutations WHERE EXISTS (SELECT 1 FROM keys)",
        "SELECT m.mutation FROM mutations m JOIN keys k ON k.actor = m.actor",
        "SELECT mutation FROM mutations UNION SELECT id FROM keys",
        "SELECT * FROM sqlite_master",
        "SELECT count(*) FROM sqlite_temp_master",
        "SELECT * FROM pragma_table_info('keys')",
        "SELECT * FROM pg_catalog.pg_authid",
        "SELECT * FROM pg_shadow",
        "SELECT * FROM pg_stat_activity",
        "SELECT query_to_xml('select * from keys', true, true, '') AS x",
        "SELECT table_to_xml('keys', true, true, '') AS x",
        "SELECT pg_read_file('/etc/passwd') AS x",
        "SELECT pg_sleep_for('1 second')::text AS x",
        "SELECT set_config('transaction_read_only', 'off', true) AS x",
        "SELECT current_setting('data_directory') AS x",
        "SELECT lo_import('/etc/passwd') AS x",
        "SELECT load_extension('x') AS x",
        "SELECT 1; DROP TABLE claims",
        "SELECT 1 AS a; SELECT 2 AS b",
        "DELETE FROM claims",
        "UPDATE claims SET holder = 'x'",
        "INSERT INTO exports VALUES ('a', 1, '', 0, '')",
        "WITH gone AS (DELETE FROM public.claims RETURNING *) SELECT * FROM gone",
        "PRAGMA query_only",
        "ATTACH '/tmp/other.db' AS x",
        "COPY keys TO '/tmp/keys'",
        "CREATE TEMP TABLE x AS SELECT 1",
        "TABLE keys",
        "SELECT nonsense",
        "",
        ";",
    ],
)
def test_anything_else_is_refused(ask: Ask, query: str) -> None:
    with pytest.raises(Malformed) as caught:
        ask(query)
    assert str(caught.value).endswith((".", ";")), caught.value


@pytest.mark.parametrize(
    "query",
    [
        "WITH x AS (SELECT * FROM claims) SELECT count(*) AS n FROM x",
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 9) SELECT count(*) AS n FROM n",
        "SELECT count(*) AS n FROM (SELECT DISTINCT actor FROM mutations) AS actors",
        "SELECT upper(actor) AS n, round(avg(seq)) AS m FROM mutations GROUP BY actor -- a comment",
        "SELECT m.actor, f.rule FROM mutations m JOIN findings f ON f.mutation = m.mutation LIMIT 3;",
        "SELECT coalesce(why, '') AS why FROM mutations WHERE actor LIKE 'ag%' ORDER BY at DESC",
    ],
)
def test_one_select_of_any_kind_is_answered(ask: Ask, query: str) -> None:
    assert ask(query).rows


def test_more_rows_than_asked_for_are_told(ask: Ask) -> None:
    some = ask("SELECT seq FROM mutations ORDER BY seq", most=3)
    assert (len(some.rows), some.more) == (3, True)
    assert ask("SELECT seq FROM mutations ORDER BY seq LIMIT 3", most=3).more is False


def test_a_query_without_an_end_is_ended(ask: Ask) -> None:
    with pytest.raises(Malformed, match=r"did not end within 0\.2 s"):
        ask("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) AS n FROM n", seconds=0.2)


def test_a_ledger_of_another_version_is_not_migrated(store_url: str) -> None:
    from sqlalchemy import text  # noqa: PLC0415  only here

    store = open_store(store_url)
    with store.connect(writes=True) as connection:
        store.lock(connection)
        connection.execute(text("UPDATE alembic_version SET version_num = 'v0000'"))
        connection.commit()
    store.close()
    with pytest.raises(LedgerUnavailable, match="revision v0000"):
        ask_views(store_url, "SELECT 1 AS a", most=1, seconds=300)
