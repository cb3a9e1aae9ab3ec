"""Claims and held mutations are listed by what people ask for, and a list is read from its end."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, event

from gateway.ledger import queries
from gateway.ledger.store import Store, open_store

EVERY = {"equal": {}, "open_only": False}
OPEN = {"equal": {}, "open_only": True}
NONE = {"state": "", "actor": "", "stack": ""}
LISTS: dict[str, tuple[Callable[..., Any], dict[str, Any], str]] = {
    "claims": (queries.claims, OPEN, "claims_open_by_time"),
    "open claims of an actor": (queries.claims, {**OPEN, "equal": {"actor": "a"}}, "claims_open_by_actor (actor=?"),
    "claims that ended too": (queries.claims, EVERY, "claims_by_time"),
    "of an actor, that ended too": (queries.claims, {**EVERY, "equal": {"actor": "a"}}, "claims_by_actor (actor=?"),
    "of a mutation": (queries.claims, {**OPEN, "equal": {"mutation_id": "m"}}, "claims_by_mutation (mutation_id=?"),
    "of a resource": (queries.claims, {**EVERY, "equal": {"address": "a"}}, "claims_by_key (address=?"),
    "held": (queries.holds, {"equal": NONE, "before": ""}, "holds_by_time"),
    "that wait": (queries.holds, {"equal": {**NONE, "state": "open"}, "before": ""}, "holds_by_state (state=?"),
    "an actor's": (queries.holds, {"equal": {**NONE, "actor": "a"}, "before": ""}, "holds_by_actor (actor=?"),
    "an actor's that wait": (
        queries.holds,
        {"equal": {**NONE, "actor": "a", "state": "open"}, "before": ""},
        "holds_by_actor (actor=?",
    ),
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite:///{tmp_path / 'ledger.db'}")
    yield opened
    opened.close()


def plan(connection: Connection, ask: Callable[[], object]) -> list[str]:
    """The steps of the last query that is asked."""
    asked: list[tuple[str, Any]] = []

    def keep(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        asked.append((statement, parameters))

    event.listen(connection, "before_cursor_execute", keep)
    ask()
    event.remove(connection, "before_cursor_execute", keep)
    statement, parameters = asked[-1]
    return [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)]


@pytest.mark.parametrize(("query", "asked", "index"), LISTS.values(), ids=LISTS)
def test_a_list_is_found_in_its_index(
    store: Store, query: Callable[..., Any], asked: dict[str, Any], index: str
) -> None:
    with store.connect() as connection:
        connection.begin()
        [step, *rest] = plan(connection, lambda: query(connection, limit=51, **asked))
    assert index in step, step
    # A resource and a mutation have few claims, and an actor few open ones: they may be sorted.
    few = "claims_open_by_actor" in step or "claims_by_key" in step or "claims_by_mutation" in step
    assert few or not [each for each in rest if "TEMP B-TREE FOR ORDER BY" in each], rest


async def test_the_next_page_of_claims_begins_where_the_last_one_ended(scene: Any) -> None:
    taken = []
    for number in range(6):
        (one,) = await scene.execute(scene.mutation(attribute=f"a{number}", actor="x"))
        taken.append(one.id)
    first = await scene.ledger.claims(limit=4)
    rest = await scene.ledger.claims(before=first[-1].id, limit=4)
    # All are taken at the same moment, so that their ids decide.
    assert [claim.id for claim in (*first, *rest)] == sorted(taken, reverse=True)
    assert await scene.ledger.claims(before="clm_unknown") == ()


async def test_claims_are_listed_by_resource_and_actor(scene: Any) -> None:
    one, *_ = await scene.execute(scene.mutation(attribute="a", actor="x"))
    two, *_ = await scene.execute(scene.mutation(attribute="b", actor="y"))
    assert {claim.id for claim in await scene.ledger.claims(address="aws_sqs_queue.orders")} == {one.id, two.id}
    assert [claim.id for claim in await scene.ledger.claims(actor="y")] == [two.id]
    assert [claim.id for claim in await scene.ledger.claims(mutation_id=one.mutation_id)] == [one.id]
    assert await scene.ledger.claims(address="aws_lb.other") == ()
