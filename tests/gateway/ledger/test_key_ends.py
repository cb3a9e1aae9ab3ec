"""A standing key that ends soon is warned of once a day, until it is renewed or revoked."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs

from gateway.core.model.caller import ActorKind
from gateway.ledger.ask.gauges import ledger_gauges
from gateway.ledger.key_ends import KeyEnds
from gateway.ledger.keyring import SqlKeyRing
from tests.gateway.ledger.conftest import NOW, Scene

DAY = timedelta(days=1)


class _Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.time = NOW

    def now(self) -> datetime:
        return self.time


@pytest.fixture
def clock() -> _Clock:
    return _Clock()


@pytest.fixture
def keys(scene: Scene, clock: _Clock) -> SqlKeyRing:
    return SqlKeyRing(scene.ledger, master=b"m" * 32, clock=clock)


@pytest.fixture
def ends(scene: Scene, clock: _Clock) -> KeyEnds:
    return KeyEnds(scene.ledger, clock)


@pytest.fixture
def logged() -> Iterator[list[Any]]:
    with capture_logs() as lines:
        yield lines


async def _issue(keys: SqlKeyRing, actor: str, days: float | None, **more: Any) -> str:
    lasts = None if days is None else days * DAY
    return (await keys.issue(actor=actor, kind=ActorKind.SERVICE, lasts=lasts, **more)).id


async def test_those_that_end_within_a_fortnight_are_named_the_first_first(keys: SqlKeyRing, ends: KeyEnds) -> None:
    late, soon = await _issue(keys, "late", 13.9), await _issue(keys, "reconciler", 2)
    await _issue(keys, "later", 14.1)
    await _issue(keys, "endless", None)
    await _issue(keys, "ended", -1)
    await keys.revoke(await _issue(keys, "revoked", 2))
    await _issue(keys, "late", 1, session_of=late)
    await ends.look()
    assert [(key.id, key.actor) for key in ends.ending] == [(soon, "reconciler"), (late, "late")]


async def test_a_renewed_one_is_not_named_any_more(keys: SqlKeyRing, ends: KeyEnds, scene: Scene) -> None:
    await _issue(keys, "reconciler", 2, roles=("reconciler",))
    await _issue(keys, "reconciler", 90)
    await ends.look()
    assert len(ends.ending) == 1, "the new one has other roles"
    assert (await scene.ledger.query(lambda session: ledger_gauges(session, (), NOW))).keys_ending == 1
    await _issue(keys, "reconciler", 90, roles=("reconciler",))
    await ends.look()
    assert ends.ending == []
    assert (await scene.ledger.query(lambda session: ledger_gauges(session, (), NOW))).keys_ending == 0


async def test_the_log_names_each_once_a_day_with_its_cure(
    keys: SqlKeyRing, ends: KeyEnds, clock: _Clock, logged: list[Any]
) -> None:
    key = await _issue(keys, "reconciler", 10)
    for hours, lines in ((0, 1), (12, 1), (12, 2), (23, 2), (1, 3)):
        clock.time += timedelta(hours=hours)
        await ends.look()
        found = [line for line in logged if line["event"] == "key_ends_soon"]
        assert len(found) == lines
        assert found[-1]["cure"] == f"sentinel key renew {key}"
