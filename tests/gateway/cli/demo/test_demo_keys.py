"""The demo keys."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from gateway.cli.demo.demo_keys import demo_keys
from gateway.cli.keys import open_keyring
from gateway.core.model.caller import ActorKind
from gateway.core.settings import Settings
from gateway.ledger.keyring import SqlKeyRing


@pytest.fixture
async def ring(tmp_path: Path) -> AsyncIterator[SqlKeyRing]:
    async with open_keyring(Settings(data=tmp_path / "data")) as ring:
        yield ring


async def test_every_actor_has_a_key_that_is_reused(ring: SqlKeyRing) -> None:
    first = await demo_keys(ring)
    assert {name: key.kind for name, key in first.items()} == {
        "agent": ActorKind.AGENT,
        "human": ActorKind.HUMAN,
        "pipeline": ActorKind.PIPELINE,
        "optimizer": ActorKind.AGENT,
        "reconciler": ActorKind.SERVICE,
    }
    assert "approver" in first["human"].roles
    assert first["pipeline"].motive is not None
    assert await demo_keys(ring) == first


async def test_what_is_revoked_or_about_to_end_is_replaced(ring: SqlKeyRing) -> None:
    first = await demo_keys(ring)
    await ring.revoke(first["agent"].id)
    second = await demo_keys(ring)
    assert second["agent"].id != first["agent"].id
    assert second["human"] == first["human"]


async def test_a_session_key_or_one_with_fewer_roles_is_not_reused(ring: SqlKeyRing) -> None:
    motive_less = await ring.issue(actor="terraform", kind=ActorKind.PIPELINE, lasts=timedelta(days=300))
    ending = await ring.issue(actor="agent-scaler", kind=ActorKind.AGENT, lasts=timedelta(hours=1))
    session = await ring.issue(
        actor="agent-scaler", kind=ActorKind.AGENT, session_of=ending.id, lasts=timedelta(days=9)
    )
    made = {key.id for key in (await demo_keys(ring)).values()}
    assert made.isdisjoint({motive_less.id, ending.id, session.id})
