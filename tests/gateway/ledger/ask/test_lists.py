"""Claims and held mutations are listed by what people ask for, and a list is read from its end."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, event

from gateway.core.model.signal import SignalScope, SignalState
from gateway.core.ports import SignalQuery
from gateway.ledger.ask import lists
from gateway.ledger.store.database import Store
from gateway.ledger.store.statements import Session
from tests.kit.history import NOW
from tests.kit.history import event as history_event

EVERY = {"open_only": False}
LISTS: dict[str, tuple[Callable[..., Any], dict[str, Any], str]] = {
    "claims": (lists.claims, {}, "claims_open_by_time"),
    "open claims of an actor": (lists.claims, {"actor": "a"}, "claims_open_by_actor (actor=?"),
    "claims that ended too": (lists.claims, EVERY, "claims_by_time"),
    "of an actor, that ended too": (lists.claims, {**EVERY, "actor": "a"}, "claims_by_actor (actor=?"),
    "of a mutation": (lists.claims, {"mutation_id": "m"}, "claims_by_mutation (mutation_id=?"),
    "of a resource": (lists.claims, {**EVERY, "address": "a"}, "claims_by_key (address=?"),
    "resources that are held": (lists.claimed_addresses, {}, "claims_open_by_time"),
    "resources that were claimed": (lists.claimed_addresses, {**EVERY, "since": NOW}, "claims_by_time"),
    "held": (lists.holds, {"state": None}, "holds_by_time"),
    "that wait": (lists.holds, {}, "holds_by_state (state=?"),
    "an actor's": (lists.holds, {"state": None, "actor": "a"}, "holds_by_actor (actor=?"),
    "an actor's that wait": (lists.holds, {"actor": "a"}, "holds_by_actor (actor=?"),
}


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
        [step, *rest] = plan(connection, lambda: query(Session(connection), limit=51, **asked))
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


@pytest.mark.parametrize(
    ("query", "keys"),
    [
        (SignalQuery(), ["c", "b", "a", "d"]),
        (SignalQuery(state=SignalState.OPEN), ["b", "a", "d"]),
        (SignalQuery(stack="shop"), ["c", "a", "d"]),
        (SignalQuery(stack="other"), ["b", "d"]),
        (SignalQuery(service="billing"), ["b"]),
        (SignalQuery(source="pager"), ["d"]),
        (SignalQuery(limit=1), ["c"]),
    ],
)
async def test_they_are_filtered(scene: Any, query: SignalQuery, keys: list[str]) -> None:
    def at(minutes: int) -> Any:
        return NOW + timedelta(minutes=minutes)

    told = [
        history_event("a", at=at(1)),
        replace(history_event("b", at=at(2)), service="billing", scopes=(SignalScope(stack="other"),)),
        history_event("c", SignalState.CLOSED, at=at(3)),
        replace(history_event("d", at=at(0), source="pager"), scopes=(SignalScope(stack="*"),)),
    ]
    await scene.ledger.record_signals(told, NOW)
    assert [each.key for each in await scene.ledger.signals(query)] == keys


async def test_one_is_read_as_it_was_told(scene: Any) -> None:
    told = history_event("a")
    await scene.ledger.record_signals([told], NOW)
    [found] = await scene.ledger.signals(SignalQuery())
    assert (found.id, found.labels, found.scopes, found.at, found.heard_at) == (
        told.id,
        told.labels,
        told.scopes,
        NOW,
        NOW,
    )
    assert "https://alerts.example/1" in found.references
    assert not found.filed


async def test_the_version_grows_with_each_change(scene: Any) -> None:
    assert await scene.ledger.signals_version() == 0
    await scene.ledger.record_signals([history_event("a")], NOW)
    first = await scene.ledger.signals_version()
    await scene.ledger.record_signals([history_event("a")], NOW)
    assert await scene.ledger.signals_version() == first > 0
    await scene.ledger.record_signals([history_event("a", SignalState.CLOSED)], NOW)
    assert await scene.ledger.signals_version() > first
