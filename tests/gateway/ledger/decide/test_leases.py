"""A gateway's attempts are left to it while its lease lasts, and to nobody afterwards."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.core.errors import AttemptInFlight
from gateway.core.model.outcome import Failed
from gateway.core.ports import RecordQuery
from gateway.core.records.record import Stage
from gateway.ledger.ledger import SqlLedger, open_ledger
from gateway.ledger.store.states import AttemptState
from tests.kit.stores import KEYS

LEASE = timedelta(seconds=15)


@pytest.fixture
async def other(scene: Any, tmp_path: Path) -> AsyncIterator[SqlLedger]:
    """A second gateway on the ledger of the scene, with a lease of its own."""
    async with open_ledger(f"sqlite:///{tmp_path / 'scene.db'}", KEYS) as ledger:
        await ledger.renew_lease(scene.now, LEASE)
        yield ledger


async def _send(scene: Any, **members: Any) -> Any:
    change = scene.mutation(**members)
    await scene.ledger.record_decision(change, scene.facts(change), scene.decision())
    return change


async def test_a_second_gateway_leaves_the_live_calls_of_the_first_alone(scene: Any, other: SqlLedger) -> None:
    await scene.ledger.renew_lease(scene.now, LEASE)
    change = await _send(scene)
    assert await other.recover(scene.now) == 0
    assert await other.in_doubt() == ()
    await scene.ledger.record_outcome(change, scene.applied, scene.now)
    assert [record.body.members.get("outcome") for record in await other.records(RecordQuery(stage=Stage.SETTLED))] == [
        "applied"
    ]


async def test_a_renewed_lease_lasts_from_then_on(scene: Any, other: SqlLedger) -> None:
    await scene.ledger.renew_lease(scene.now, LEASE)
    await _send(scene)
    for minute in range(1, 60):
        now = scene.now + timedelta(seconds=10 * minute)
        await scene.ledger.renew_lease(now, LEASE)
        assert await other.recover(now) == 0


async def test_an_expired_lease_is_swept_whenever_that_is_noticed_and_only_once(scene: Any, other: SqlLedger) -> None:
    await scene.ledger.renew_lease(scene.now, LEASE)
    change = await _send(scene)
    later = scene.now + LEASE
    assert await other.recover(later - timedelta(microseconds=1)) == 0
    assert await other.recover(later) == 1
    assert await other.recover(later) == 0
    [doubt] = await other.in_doubt()
    assert (doubt.mutation_id, doubt.stack, doubt.decided_at, doubt.left_to_human) == (
        change.id,
        "shop",
        scene.now,
        False,
    )


async def test_a_gateway_that_was_only_paused_still_records_what_it_saw(scene: Any, other: SqlLedger) -> None:
    await scene.ledger.renew_lease(scene.now, LEASE)
    change = await _send(scene)
    await other.recover(scene.now + LEASE)
    await scene.ledger.record_outcome(change, Failed(code="No", message=""), scene.now + LEASE)
    assert await other.in_doubt() == ()
    assert await other.claims() == ()


async def test_an_attempt_without_a_lease_is_nobodys(scene: Any, other: SqlLedger) -> None:
    """As those of a release that knew no leases."""
    await _send(scene)
    assert await other.recover(scene.now) == 1


async def test_an_ended_lease_needs_no_waiting(scene: Any, other: SqlLedger) -> None:
    await scene.ledger.renew_lease(scene.now, LEASE)
    await _send(scene)
    await scene.ledger.end_lease()
    assert await other.recover(scene.now) == 1


async def test_while_it_is_in_flight_the_same_key_sends_nothing(scene: Any, other: SqlLedger) -> None:
    await scene.ledger.renew_lease(scene.now, LEASE)
    await _send(scene, key="k")
    again = scene.mutation(attribute="other", key="k")
    with pytest.raises(AttemptInFlight):
        await other.record_decision(again, scene.facts(again), scene.decision())
    attempt = await other.attempt("agent", "k")
    assert attempt is not None
    assert attempt.outcome is None
    assert AttemptState.IN_FLIGHT.value == "in_flight"
